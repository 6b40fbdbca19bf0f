import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeService } from "../../../src/api/back-office/app.ts";
import { readConfig } from "../../../src/platform/config.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LINTER = join(ROOT, "node_modules", "@redocly", "cli", "bin", "cli.js");

/** The description as a service without any configuration gives it. */
export const describeByDefault = (): Record<string, unknown> => describeService(readConfig({}));

/**
 * Runs the linter over a description, by the rules of `redocly.yaml`. Returns whether it has no findings, and its
 * output.
 */
export async function lint(description: object): Promise<{ clean: boolean; report: string }> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(description, null, 2));
    return await runLinter(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runLinter(file: string): Promise<{ clean: boolean; report: string }> {
  const args = [LINTER, "lint", file, "--config", join(ROOT, "redocly.yaml"), "--format", "stylish"];
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
    // Warnings do not fail the linter, but they are findings all the same.
    child.once("close", (code) => resolve({ clean: code === 0 && !/\bwarnings?\b/i.test(report), report }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { clean, report } = await lint(describeByDefault());
  process.stdout.write(report);
  process.exitCode = clean ? 0 : 1;
}
