import { execFile } from "node:child_process";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { readVersion } from "../../../src/platform/config.ts";
import { createPartner } from "../../support/builders.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { createDatabase, startTestService } from "../../support/test-service.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROGRAM = "bin/partner-orders-admin.js";

/** As an older Node: what this file runs with only says that it is one. */
const AS_NODE_20 = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})";

type Result = { code: number; stdout: string; stderr: string };

async function start(
  program: string,
  args: readonly string[],
  environment = {},
  flags: readonly string[] = [],
) {
  const env = { PATH: process.env["PATH"], ...environment };
  const options = { cwd: await temporaryFolder(), env };
  const started = run(process.execPath, [...flags, program, ...args], options);
  return started.then(
    (output): Result => ({ code: 0, ...output }),
    (error: Result) => error,
  );
}

/** Copies the files that npm would publish below a node_modules, beside what they depend on. */
async function install(): Promise<string> {
  const modules = join(await temporaryFolder(), "node_modules");
  const installed = join(modules, "partner-orders");
  await mkdir(installed, { recursive: true });
  const packing = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT });
  const [packed] = JSON.parse(packing.stdout);
  for (const { path } of packed.files) await cp(join(ROOT, path), join(installed, path));
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (!name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  return join(installed, PROGRAM);
}

it.each(["bin/partner-orders.js", "src/main.ts", "src/cli/main.ts"])(
  "%s says in one line that an older Node is too old",
  async (program) => {
    expect(await start(join(ROOT, program), [], {}, ["--import", AS_NODE_20])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^partner-orders needs Node 24, found 20\.20\.2: .*\n$/),
    });
  },
);

describe("partner-orders-admin", () => {
  it("is the program of the package", async () => {
    const { stdout } = await start(join(ROOT, PROGRAM), ["--version"]);
    expect(stdout).toBe(`${readVersion()}\n`);
  });

  it("runs where it is installed as a package, also beside the database, and warns of nothing", async () => {
    const program = await install();
    const databaseUrl = await createDatabase();
    const test = await startTestService({ databaseUrl });
    onTestFinished(test.close);
    const { merchantId } = await createPartner(test);
    const listed = await start(program, ["merchant", "list"], { DATABASE_URL: databaseUrl });
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(merchantId), stderr: "" });
  });

  it("starts the Node of the package if it was started by an older one, and ends as that ends", async () => {
    const flags = ["--import", AS_NODE_20];
    const [version, usage] = await Promise.all([
      start(join(ROOT, PROGRAM), ["--version"], {}, flags),
      start(join(ROOT, PROGRAM), ["merchant", "list", "--frob"], {}, flags),
    ]);
    expect(version).toMatchObject({ code: 0, stdout: `${readVersion()}\n`, stderr: "" });
    expect(usage).toMatchObject({ code: 2, stdout: "" });
    expect(usage.stderr).toMatch(/unknown option '--frob'/);
  });

  it("says in one sentence which Node it needs if it finds none", async () => {
    const alone = join(await temporaryFolder(), PROGRAM);
    await cp(join(ROOT, PROGRAM), alone);
    await cp(join(ROOT, "package.json"), join(dirname(dirname(alone)), "package.json"));
    const result = await start(alone, ["--version"], {}, ["--import", AS_NODE_20]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/^partner-orders-admin needs Node 24 or later\. .* is not installed\.\n$/);
  });
});
