import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Smaller files fit in one packet as they are. */
const BYTES_MIN = 1_400;

/** Writes a compressed copy beside each file of text, so that a server compresses nothing while it serves. */
export async function compressFiles(folder: string): Promise<void> {
  for await (const name of glob("**/*.{html,js,css,json,svg,md,txt}", { cwd: folder })) {
    const content = await readFile(join(folder, name));
    if (content.length < BYTES_MIN) continue;
    await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
  }
}
