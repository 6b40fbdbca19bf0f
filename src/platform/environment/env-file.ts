import { loadEnvFile } from "node:process";

/** Thrown when the file exists and cannot be read. */
export class EnvFileError extends Error {}

/**
 * Adds the variables of a file to the environment, if the file exists. A variable that the environment has already
 * keeps its value.
 */
export function readEnvFile(path = ".env"): void {
  try {
    loadEnvFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ""; // Node throws errors of the file system.
    if (code !== "ENOENT") throw new EnvFileError(`The file ${path} cannot be read (${code}).`);
  }
}
