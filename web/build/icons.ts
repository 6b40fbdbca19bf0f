import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { ROOT } from "./sources.ts";

const NAME = /^icon:(.+)$/;
const COMPONENT = join(ROOT, "web/src/ui/icon.tsx");
const SET = "@iconify-json/tabler/icons.json";
/** `ui/icon.tsx` gives these to all icons at once. */
const SHARED = / (?:fill="none"|stroke="currentColor"|stroke-(?:linecap|linejoin)="round"|stroke-width="2")/g;

/**
 * `import IconPlus from "icon:plus"`: an icon of Tabler as a component. One file has the whole set; the package of components for
 * React has 25 000 (docs/design/dependencies.md, "What an installation weighs").
 */
export function icons(): Plugin {
  let set: Promise<Record<string, { body: string }>> | undefined;
  const readSet = async () =>
    JSON.parse(await readFile(fileURLToPath(import.meta.resolve(SET)), "utf8")).icons;
  return {
    name: "icons",
    resolveId: { filter: { id: NAME }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0icon:/ },
      async handler(id) {
        set ??= readSet();
        const name = id.slice("\0icon:".length);
        const icon = (await set)[name];
        if (icon === undefined) this.error(`Tabler has no icon "${name}".`);
        const drawing = JSON.stringify(icon.body.replaceAll(SHARED, ""));
        return `import { icon } from ${JSON.stringify(COMPONENT)};\nexport default /* @__PURE__ */ icon(${drawing});\n`;
      },
    },
  };
}
