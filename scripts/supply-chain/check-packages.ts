import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageErrors } from "./package-errors.ts";
import { packageFolders } from "./package-folders.ts";

/** Part of `npm run check`: reads lock files alone, so it needs no network (docs/design/dependencies.md, "Supply chain"). */
for (const folder of packageFolders()) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const { allowScripts = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const error of packageErrors(packages, { allowScripts, areTools: folder !== "." })) {
    process.stderr.write(`${join(folder, error)}\n`);
    process.exitCode = 1;
  }
}
