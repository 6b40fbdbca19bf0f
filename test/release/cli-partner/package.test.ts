import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it, onTestFinished } from "vitest";
import { buildCli } from "../../../scripts/sdk/build-cli.ts";
import { createKey } from "../../support/builders.ts";
import { NODE_ENVIRONMENT } from "../../support/node-environment.ts";
import { startPartnerListener } from "../../support/partner-listener.ts";

const run = promisify(execFile);
const environment = { PATH: process.env["PATH"], HOME: tmpdir(), ...NODE_ENVIRONMENT };

it("the package of the command line has one program without dependencies, which runs where it is installed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const copy = join(folder, "cli");
  for (const file of ["package.json", "LICENSE", "README.md"])
    await cp(`packages/cli/${file}`, join(copy, file));
  await buildCli(copy);
  const packed = await run("npm", ["pack", "--json", "--pack-destination", folder, copy], {
    env: environment,
  });
  const [{ filename, files }] = JSON.parse(packed.stdout);
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  expect(paths.filter((path) => !/^dist\/\w+-[A-Z0-9]{8}\.js$/.test(path)).sort()).toEqual([
    "LICENSE",
    "README.md",
    "dist/partner-orders.js",
    "package.json",
  ]);
  expect(await readFile("packages/cli/LICENSE", "utf8")).toBe(await readFile("LICENSE", "utf8"));

  const installed = await mkdtemp(join(folder, "installed-"));
  await writeFile(join(installed, "package.json"), "{}");
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(folder, filename)];
  await run("npm", install, { cwd: installed, env: environment });
  const listener = await startPartnerListener();
  onTestFinished(() => listener.close());
  const program = join(installed, "node_modules/.bin/partner-orders");
  const options = {
    cwd: installed,
    env: { ...environment, PARTNER_ORDERS_API: listener.url, PARTNER_ORDERS_KEY: listener.partner.key },
  };
  const { stdout } = await run(program, ["whoami", "--json"], options);
  expect(JSON.parse(stdout)).toMatchObject({ id: listener.partner.connectionId });

  // The libraries of agents are part of the package too.
  const { key } = await createKey(listener.test, listener.partner.connectionId, { mode: "test" });
  const client = new Client({ name: "test", version: "1.0.0" });
  onTestFinished(() => client.close());
  const env = { ...NODE_ENVIRONMENT, PATH: String(process.env["PATH"]), PARTNER_ORDERS_API: listener.url };
  await client.connect(
    new StdioClientTransport({ command: program, args: ["mcp"], env: { ...env, PARTNER_ORDERS_KEY: key } }),
  );
  expect((await client.listTools()).tools.length).toBeGreaterThan(10);
});
