import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/main-process.ts";
import { NODE_ENVIRONMENT } from "../support/node-environment.ts";

/** Starts the service in a folder. Its configuration is always wrong, so it ends at once and names what it has read. */
async function startIn(folder: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [resolve("src/main.ts")], {
    cwd: folder,
    env: { ...NODE_ENVIRONMENT, PORT: "none", ...environment },
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return { code, errors };
}

describe(".env in the folder in which the service is started", () => {
  it("adds variables to the environment, which wins", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, ".env"), "# A comment.\nLOG_LEVEL=loud\nBACK_OFFICE_PORT=many\n");
    const { code, errors } = await startIn(folder, { BACK_OFFICE_PORT: "8081" });
    expect(code).toBe(1);
    expect(errors).toMatch(/PORT must be[\s\S]*LOG_LEVEL must be/);
    expect(errors).not.toMatch(/BACK_OFFICE_PORT/);
  });

  it("may be missing", async () => {
    const { errors } = await startIn(await temporaryFolder());
    expect(errors).toMatch(/^The configuration is invalid:\n {2}- PORT must be [^\n]+\n$/);
  });

  it("is reported in one sentence if it cannot be read", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, ".env"));
    const { code, errors } = await startIn(folder);
    expect(code).toBe(1);
    expect(errors).toMatch(/^The file \.env cannot be read \(\w+\)\.\n$/);
  });
});
