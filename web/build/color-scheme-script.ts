import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

const SOURCE = new URL("../src/shell/color-scheme.js", import.meta.url);
const DEV_PATH = "/src/shell/color-scheme.js";

/**
 * Adds a script to the page that runs before anything is drawn, so that a dark page does not flash white. It is a file of
 * its own with a hashed name: the content security policy allows no inline script, and Vite bundles only modules.
 */
export function colorSchemeScript(): Plugin {
  let isBuild = false;
  let file: string | undefined;
  const tag = (src: string) => [{ tag: "script", attrs: { src }, injectTo: "head-prepend" as const }];
  return {
    name: "color-scheme-script",
    configResolved: (config) => {
      isBuild = config.command === "build";
    },
    async buildStart() {
      if (!isBuild) return;
      file = this.emitFile({
        type: "asset",
        name: "color-scheme.js",
        source: await readFile(SOURCE, "utf8"),
      });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) => {
        if (bundle === undefined || file === undefined) return tag(DEV_PATH);
        const [name = ""] = Object.keys(bundle).filter((path) => /color-scheme.*\.js$/.test(path));
        return tag(`/${name}`);
      },
    },
  };
}
