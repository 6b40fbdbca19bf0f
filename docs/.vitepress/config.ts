import { readFileSync } from "node:fs";
import { type DefaultTheme, defineConfig } from "vitepress";
import { anchorOf } from "./anchors.ts";
import { COLORS_FILE, codeColors, withoutInline, writeCodeColors } from "./without-inline.ts";

/** Where the site is served: in the back office, unless it is built for another host. */
const base = process.env["DOCS_BASE"] ?? "/docs/";

/** `scripts/docs/main.ts` writes the pages and their navigation there. */
const STAGED = "../dist/docs-source";

const sidebar: DefaultTheme.SidebarMulti = JSON.parse(
  readFileSync(`${import.meta.dirname}/../${STAGED}/sidebar.json`, "utf8"),
);

// The samples are files, and no pages.
process.env["VITE_EXTRA_EXTENSIONS"] = "py,php,java,go,ts";

export default defineConfig({
  srcDir: STAGED,
  outDir: "../dist/docs",
  cacheDir: "../node_modules/.cache/vitepress",
  base,
  lang: "en",
  title: "Partner Orders",
  titleTemplate: ":title | Partner Orders",
  head: [
    ["link", { rel: "icon", href: `${base}icon.svg`, type: "image/svg+xml" }],
    ["link", { rel: "stylesheet", href: `${base}${COLORS_FILE}` }],
  ],
  // Files that are no pages; a test checks all links of the built site.
  ignoreDeadLinks: [/\/examples\//],
  metaChunk: true,
  // Its transition needs a style element that is made at run time.
  appearance: { disableTransition: false },
  markdown: {
    codeTransformers: [codeColors],
    anchor: { slugify: anchorOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: { build: { assetsInlineLimit: 0 } },
  transformHtml: (html, _file, { siteConfig }) => withoutInline(html, { outDir: siteConfig.outDir, base }),
  buildEnd: ({ outDir }) => writeCodeColors(outDir),
  themeConfig: {
    search: { provider: "local" },
    // The site for partners has no pages of the others.
    nav: [
      { text: "Guides", link: "/partners/quickstart", activeMatch: "^/partners/" },
      { text: "API", link: "/api/orders", activeMatch: "^/api/" },
      { text: "Errors", link: "/errors/index", activeMatch: "^/errors/" },
      {
        text: "Back office",
        link: "/merchants/guide",
        activeMatch: "^/(merchants|warehouse|operators)/",
      },
    ].filter(({ link }) => `/${link.split("/")[1]}/` in sidebar || link.startsWith("/partners/")),
    sidebar,
    outline: { level: [2, 3], label: "On this page" },
    externalLinkIcon: true,
    notFound: {
      title: "There is no such page",
      quote: "Search for it, or start on the home page.",
      linkLabel: "Go to the home page",
      linkText: "Go to the home page",
    },
  },
});
