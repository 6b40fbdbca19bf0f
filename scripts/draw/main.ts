import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { instance } from "@viz-js/viz";
import { architecture } from "./architecture.ts";
import { orderStates } from "./order-states.ts";

/** The pictures of the documentation, each with its description in the language of Graphviz. */
const PICTURES: Readonly<Record<string, () => string | Promise<string>>> = {
  "docs/architecture.svg": architecture,
  "docs/order-states.svg": orderStates,
};

/** Every picture as the code draws it now, and as it is in the folder. */
export async function drawPictures(): Promise<{ path: string; drawn: string; stored: string }[]> {
  const viz = await instance();
  return Promise.all(
    Object.entries(PICTURES).map(async ([path, describe]) => ({
      path,
      drawn: viz.renderString(await describe(), { format: "svg" }),
      stored: await readFile(path, "utf8").catch(() => ""),
    })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { path, drawn } of await drawPictures()) await writeFile(path, drawn);
