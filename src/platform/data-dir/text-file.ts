import { readFile } from "node:fs/promises";
import { StartError } from "../environment/start-error.ts";

/** The text of a file of `DATA_DIR`. Null if there is none. @throws StartError if it cannot be read, with its name */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // Node throws errors of the file system.
    if (code === "ENOENT") return null;
    if (code === "EISDIR") throw new StartError(`${file} must be a file, and is a folder.`);
    throw new StartError(`${file} cannot be read (${code}).`);
  }
}
