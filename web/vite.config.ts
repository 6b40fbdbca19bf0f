import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { colorSchemeScript } from "./build/color-scheme-script.ts";
import { icons } from "./build/icons.ts";
import { precompress } from "./build/precompress.ts";

/** Where `npm run dev -w web` finds a running back office. */
const BACK_OFFICE = process.env["BACK_OFFICE_URL"] ?? "http://localhost:8081";
/** The development server can sign in with a token of the back office. The page itself never has one. */
const token = process.env["OPERATOR_TOKEN"];
const proxied = {
  target: BACK_OFFICE,
  ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
};

/** From so many pages on, a part of the console is loaded with the first of them. */
const SHARED_BY_MIN = 20;

/** What the addresses of pages load before their code: the tree of routes needs them all at the start. */
const OF_ROUTES = /web\/src\/(?:pages\/.*\/(?:queries|routes)\.ts|routes\.tsx|paths\.ts|routing\/)/;

/** Loaded when the first dialog opens, or a page has a form. */
const OF_DIALOGS =
  /@mantine\/form|react-remove-scroll|components\/Modal|ui\/(?:form\/(?!confirm-action)|shown-once)/;

/** Parts so small that the fields of a response of their own would be larger: they come with what many pages share. */
const OF_SMALL_PARTS =
  /web\/src\/(?:api|ui\/(?!form|list|scan|shown-once)|stored\.ts|text\/[a-z0-9]+\.ts)|icon:|@mantine\/hooks/;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), icons(), colorSchemeScript(), precompress()],
  build: {
    target: "es2022",
    // The content security policy allows no data: addresses of scripts and fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    // Browsers that read the page preload with its headers; a polyfill would be an inline script.
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        // What many pages use is one file: a hundred small ones compress worse, and each has a response of its own.
        codeSplitting: {
          groups: [
            { name: "routes", test: OF_ROUTES },
            { name: "shared", test: OF_SMALL_PARTS, minShareCount: 3 },
            { name: "shared", test: (id) => !OF_DIALOGS.test(id), minShareCount: SHARED_BY_MIN },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": proxied, "/auth": { target: BACK_OFFICE } } },
});
