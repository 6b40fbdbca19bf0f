import { readFileSync } from "node:fs";
import { packageErrors } from "./package-errors.ts";

/** Part of `npm run check`: reads the lock file alone, so it needs no network (docs/design/dependencies.md, "Supply chain"). */
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8"));
const errors = packageErrors(packages, allowScripts);
for (const error of errors) process.stderr.write(`${error}\n`);
if (errors.length > 0) process.exit(1);
