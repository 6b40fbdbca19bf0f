import { globSync } from "node:fs";
import { dirname } from "node:path";

/** The folders that have a lock file: of the service, and of tools that only one command needs. The first is that of the service. */
export const packageFolders = (): string[] => [
  ".",
  ...globSync("{scripts,test}/**/package-lock.json", { exclude: ["**/node_modules"] })
    .map((path) => dirname(path))
    .sort(),
];
