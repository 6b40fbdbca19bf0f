import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackages, packageFolder } from "../install-packages.ts";

/** Its package.json names the linters. They are not loaded by `import`: types are checked where they are not installed, too. */
const FOLDER = import.meta.dirname;

type Findings = { clean: boolean; report: string };

/** Lints a document by Spectral's rules for OpenAPI. Takes seconds for a whole document. */
export async function spectralFindings(document: object): Promise<string[]> {
  installPackages(FOLDER);
  const load = createRequire(join(FOLDER, "package.json"));
  const spectral = new (load("@stoplight/spectral-core").Spectral)();
  spectral.setRuleset({ extends: [load("@stoplight/spectral-rulesets").oas] });
  const findings: { code: string; path: string[]; message: string }[] = await spectral.run(document);
  return findings.map(({ code, path, message }) => `${path.join(".")}: ${code}: ${message}`);
}

/** Lints a document by the rules of `redocly.yaml`. */
export async function lintDocument(document: object): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(document, null, 2));
    return await lintFiles([file]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lints files by the rules of `redocly.yaml`. */
export function lintFiles(files: readonly string[]): Promise<Findings> {
  installPackages(FOLDER);
  const linter = join(packageFolder(FOLDER, "@redocly/cli") ?? "", "bin/cli.js");
  const args = [linter, "lint", ...files, "--config", join(FOLDER, "redocly.yaml"), "--format", "stylish"];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // It must neither report its use nor look for a newer version of itself.
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" },
  });
  let report = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      report += text;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // Warnings do not fail the linter, but they count as findings here.
    child.once("close", (code) => resolve({ clean: code === 0 && !/\bwarnings?\b/i.test(report), report }));
  });
}
