import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import spectralCore from "@stoplight/spectral-core";
import spectralRulesets from "@stoplight/spectral-rulesets";
import { OPENAPI_FILES } from "./describe-openapi.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LINTER = join(ROOT, "node_modules", "@redocly", "cli", "bin", "cli.js");

type Findings = { clean: boolean; report: string };

/** Lints a document by Spectral's rules for OpenAPI. Takes seconds for a whole document. */
export async function spectralFindings(document: Record<string, unknown>): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  // Spectral's types do not recognize its own ruleset, which it takes as it is.
  spectral.setRuleset({ extends: [spectralRulesets.oas] } as Parameters<typeof spectral.setRuleset>[0]);
  const findings = await spectral.run(document);
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

function lintFiles(files: readonly string[]): Promise<Findings> {
  const args = [LINTER, "lint", ...files, "--config", join(ROOT, "redocly.yaml"), "--format", "stylish"];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { clean, report } = await lintFiles(OPENAPI_FILES);
  process.stdout.write(report);
  let found = 0;
  for (const path of OPENAPI_FILES) {
    const findings = await spectralFindings(JSON.parse(await readFile(join(ROOT, path), "utf8")));
    for (const finding of findings) process.stdout.write(`${path}: ${finding}\n`);
    found += findings.length;
  }
  process.exitCode = clean && found === 0 ? 0 : 1;
}
