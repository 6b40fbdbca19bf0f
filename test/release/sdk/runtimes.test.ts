import { execFile, spawn } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPackages, packageFolder } from "../../../scripts/install-packages.ts";
import { freePort } from "../../support/free-port.ts";
import { installSdk, type PackedSdk, packSdk } from "../../support/packed-sdk.ts";
import { type PartnerListener, startPartnerListener } from "../../support/partner-listener.ts";

const RUNTIMES = "test/release/runtimes";
const run = promisify(execFile);
const program = (name: string, path: string) => join(resolve(String(packageFolder(RUNTIMES, name))), path);

/** The runtimes come from npm, as programs for Linux on x64. */
const isAvailable = process.platform === "linux" && process.arch === "x64";

let listener: PartnerListener;
let folder: string;
let packed: PackedSdk;
beforeAll(async () => {
  if (!isAvailable) return;
  installPackages(RUNTIMES);
  installPackages("scripts/sdk");
  listener = await startPartnerListener();
  packed = await packSdk();
  folder = await installSdk(packed);
  await cp("test/release/sdk/conversation.mjs", join(folder, "conversation.mjs"));
  await writeFile(
    join(folder, "main.mjs"),
    `import { converse } from "./conversation.mjs";
     const { API: api, KEY: key, NAME: name } = process.env;
     console.log(JSON.stringify(await converse({ api, key, name })));`,
  );
});
afterAll(async () => {
  await listener?.close();
  await packed?.remove();
});

const settings = (name: string) => ({ api: listener.url, key: listener.partner.key, name });

async function runMain(name: string, command: string, ...args: string[]): Promise<unknown> {
  const { api, key } = settings(name);
  const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", API: api, KEY: key, NAME: name };
  const { stdout } = await run(command, [...args, "main.mjs"], { cwd: folder, env });
  return JSON.parse(stdout);
}

/** A worker has no process: it responds to a request with what was said. */
async function runWorker(name: string): Promise<unknown> {
  const port = await freePort();
  await writeFile(
    join(folder, "worker.mjs"),
    `import { converse } from "./conversation.mjs";
     export default {
       async fetch(request) {
         if (request.method !== "POST") return new Response("It listens.");
         return Response.json(await converse(await request.json()));
       },
     };`,
  );
  const esbuild = join(String(packageFolder("scripts/sdk", "esbuild")), "bin/esbuild");
  await run(resolve(esbuild), ["worker.mjs", "--bundle", "--format=esm", "--outfile=worker.js"], {
    cwd: folder,
  });
  await writeFile(
    join(folder, "workerd.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
     const config :Workerd.Config = (
       services = [
         (name = "main", worker = (
           modules = [(name = "worker.js", esModule = embed "worker.js")],
           compatibilityDate = "2026-06-01",
           globalOutbound = "network",
         )),
         (name = "network", network = (allow = ["public", "private", "local"])),
       ],
       sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
     );`,
  );
  const worker = spawn(program("@cloudflare/workerd-linux-64", "bin/workerd"), ["serve", "workerd.capnp"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  try {
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(settings(name)) });
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const response = await ask();
    return JSON.parse(await response.text());
  } finally {
    worker.kill("SIGKILL");
  }
}

it.skipIf(!isAvailable)("the SDK does the same on Node 22, 24 and 26, Bun, Deno and workerd", async () => {
  const said = {
    node24: await runMain("node24", process.execPath),
    node22: await runMain("node22", program("node-22", "bin/node")),
    node26: await runMain("node26", program("node-26", "bin/node")),
    bun: await runMain("bun", program("@oven/bun-linux-x64", "bin/bun")),
    deno: await runMain(
      "deno",
      program("@deno/linux-x64-glibc", "deno"),
      "run",
      "--quiet",
      "--allow-env",
      "--allow-net=127.0.0.1",
    ),
    workerd: await runWorker("workerd"),
  };
  const expected = {
    created: [true, false, true],
    isNewer: true,
    problem: ["order-not-cancelable", "ACCEPTED", "string"],
    types: ["order.created", "order.onHold"],
    aborted: "left",
    unreachable: "NetworkError",
    verified: true,
    forged: "signature-mismatch",
    attempts: [200, 201, 409, 200, 200, 200, 200, 409, 200, 204],
  };
  expect(said).toEqual(Object.fromEntries(Object.keys(said).map((name) => [name, expected])));
});

it("the package names the oldest of these versions of Node", async () => {
  const { engines } = JSON.parse(await readFile("packages/sdk/package.json", "utf8"));
  expect(engines).toEqual({ node: ">=22" });
});
