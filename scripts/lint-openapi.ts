import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OPENAPI_FILES } from "./describe-openapi.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LINTER = join(ROOT, "node_modules", "@redocly", "cli", "bin", "cli.js");

type Findings = { clean: boolean; report: string };

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
  process.exitCode = clean ? 0 : 1;
}
