import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { lintFiles, spectralFindings } from "./linters.ts";

const FILES = ["openapi/back-office.json", "openapi/partner.json"];
/** The hash of the documents that were free of findings, with the rules and linters that said so. Commit it with them. */
const STAMP = "openapi/linted.sha256";

const hash = await hashOfAll();
if ((await readFile(STAMP, "utf8").catch(() => "")) !== hash) {
  const findings = await findingsOfAll();
  process.stdout.write(findings);
  if (findings === "") await writeFile(STAMP, hash);
  else process.exitCode = 1;
}

/** The lock file has the versions of the linters and of all that they need. */
async function hashOfAll(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of [...FILES, ...globSync("scripts/lint-openapi/*.*").sort()])
    hash
      .update(`${path}\0`)
      .update(await readFile(path))
      .update("\0");
  return hash.digest("hex");
}

async function findingsOfAll(): Promise<string> {
  const { clean, report } = await lintFiles(FILES);
  let findings = clean ? "" : report;
  for (const path of FILES)
    for (const finding of await spectralFindings(JSON.parse(await readFile(path, "utf8"))))
      findings += `${path}: ${finding}\n`;
  return findings;
}
