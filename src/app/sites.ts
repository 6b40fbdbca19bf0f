import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sites } from "../api/back-office/app.ts";

/** `npm run docs` writes it. An image and a package contain it; a checkout has it after its first build. */
const DOCS = fileURLToPath(new URL("../../dist/docs", import.meta.url));
/** `npm ci` writes it. */
const CONSOLE = fileURLToPath(new URL("../../web/dist", import.meta.url));

const isBuilt = (folder: string): boolean => existsSync(`${folder}/index.html`);

/** The sites that are built. */
export const builtSites = (): Sites => ({
  ...(isBuilt(DOCS) && { docs: DOCS }),
  ...(isBuilt(CONSOLE) && { console: CONSOLE }),
});
