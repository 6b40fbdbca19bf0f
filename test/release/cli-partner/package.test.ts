import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { buildCli } from "../../../scripts/sdk/build-cli.ts";
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
  expect(files.map(({ path }: { path: string }) => path).sort()).toEqual([
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
  const { stdout } = await run(join(installed, "node_modules/.bin/partner-orders"), ["whoami", "--json"], {
    cwd: installed,
    env: { ...environment, PARTNER_ORDERS_API: listener.url, PARTNER_ORDERS_KEY: listener.partner.key },
  });
  expect(JSON.parse(stdout)).toMatchObject({ id: listener.partner.connectionId });
});
