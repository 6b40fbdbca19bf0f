import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleTypes, signedSample } from "../../../packages/sdk/src/testing.ts";
import { programOf } from "../../support/block-runs.ts";
import { blocksOfPages } from "../../support/code-blocks.ts";
import { freePort } from "../../support/free-port.ts";
import { HOSTILE, type Signed } from "../../support/hostile-signatures.ts";
import { installSdk, type PackedSdk, packSdk } from "../../support/packed-sdk.ts";
import { startPartnerListener } from "../../support/partner-listener.ts";

let packed: PackedSdk;
beforeAll(async () => {
  packed = await packSdk();
});
afterAll(() => packed.remove());

const run = promisify(execFile);
const runNode = (folder: string, file: string, environment: Record<string, string>) =>
  run(process.execPath, [file], { cwd: folder, env: { PATH: process.env["PATH"], ...environment } });

describe("the package of the SDK", () => {
  it("has what programs import, its license and its page, and no sources", () => {
    const folders = packed.files.map((path) => path.replace(/(?:\.d\.ts|\.js)$/, ""));
    expect(new Set(folders.filter((path) => !path.startsWith("dist/")))).toEqual(
      new Set(["LICENSE", "README.md", "package.json"]),
    );
    for (const entry of ["dist/index", "dist/testing", "dist/generated/lifecycle"].flatMap((path) => [
      `${path}.js`,
      `${path}.d.ts`,
    ]))
      expect(packed.files).toContain(entry);
  });

  it("has the version of the service, and no dependencies", async () => {
    const own = JSON.parse(await readFile("packages/sdk/package.json", "utf8"));
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(own.version).toBe(version);
    expect(Object.keys(own).filter((name) => /dependencies|scripts/i.test(name))).toEqual([]);
    expect(await readFile("packages/sdk/LICENSE", "utf8")).toBe(await readFile("LICENSE", "utf8"));
  });

  it.each(blocksOfPages("sdk"))(
    "the programs of %s run, once installed in an empty folder",
    async (path, blocks) => {
      const folder = await installSdk(packed);
      const listener = await startPartnerListener();
      const file = `${basename(path, ".md")}.mts`;
      await writeFile(join(folder, file), programOf(blocks));
      const { stdout, stderr } = await runNode(folder, file, {
        API: listener.url,
        KEY: listener.partner.key,
      });
      await listener.close();
      expect(stderr).toBe("");
      for (const [, printed = ""] of programOf(blocks).matchAll(/console\.log\(.*\); \/\/ ([^.\n]+)$/gm))
        expect(stdout.split("\n")).toContain(printed);
      const options =
        "--noEmit --strict --noUncheckedIndexedAccess --target esnext --module nodenext --types node";
      const roots = ["--typeRoots", resolve("node_modules/@types")];
      const compiled = spawnSync("tsc", [...options.split(" "), ...roots, file], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(compiled.stdout).toBe("");
    },
  );
});

describe("the examples of the SDK", () => {
  it("accept every event of the service, as often as it arrives, and nothing that a stranger can send", async () => {
    const folder = await installSdk(packed, ["express", "hono", "@hono/node-server", "fastify"]);
    await cp("packages/sdk/examples", folder, { recursive: true });
    const secret = `whsec_${randomBytes(32).toString("base64")}`;
    const samples = await Promise.all(sampleTypes.map((type) => signedSample(type, { secret })));
    const [sample = { headers: {}, body: "" }] = samples;
    const signed = Object.fromEntries(
      Object.entries(sample.headers).filter(([name]) => name.startsWith("webhook-")),
    ) as Signed; // A sample has these three.
    const genuine = [...samples, sample].map(({ headers, body }) => [headers, body]);
    const forged = [
      [sample.headers, `${sample.body} `],
      [sample.headers, ""],
      ...HOSTILE.map(([, forge]) => [forge(signed), sample.body]),
    ];
    const names = ["express", "fastify", "hono"];
    const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])));
    await cp("test/release/sdk/send-to-examples.mjs", join(folder, "send.mjs"));
    const { stdout, stderr } = await runNode(folder, "send.mjs", {
      WEBHOOK_SECRET: secret,
      PORTS: JSON.stringify(ports),
      REQUESTS: JSON.stringify([...genuine, ...forged]),
    });
    expect(stderr).toBe("");
    const expected = [...genuine.map(() => 204), ...forged.map(() => 401)];
    expect(JSON.parse(stdout)).toEqual(
      Object.fromEntries([...names, "next-route", "worker"].map((name) => [name, expected])),
    );
  });
});
