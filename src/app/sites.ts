import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sites } from "../api/back-office/app.ts";

/** `npm run docs` writes it. An image and a package contain it; a checkout has it after its first build. */
const DOCS = fileURLToPath(new URL("../../dist/docs", import.meta.url));

/** The sites that are built. */
export const builtSites = (): Sites => (existsSync(`${DOCS}/index.html`) ? { docs: DOCS } : {});
