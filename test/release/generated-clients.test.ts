import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFolder } from "../../scripts/install-packages.ts";
import { createPartner } from "../support/builders.ts";
import { CONVERSATIONS, type Conversation } from "../support/client-conversations.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";

const run = promisify(execFile);
const DOCUMENT = resolve("openapi/partner.json");
const installed = (name: string): string => String(packageFolder("test/release", name));
const generator = (name: string, program: string, ...args: string[]) =>
  run(process.execPath, [join(installed(name), program), ...args]);

/** What a partner would have in its own project. */
const COMPILER_OPTIONS = {
  target: "es2024",
  lib: ["es2024", "dom", "dom.iterable"],
  module: "nodenext",
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  outDir: "out",
};

let listener: PartnerListener;
let folder: string;

/** How each generator is called. `name` is the file of its client, without `.ts`. */
const generate: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  async orval(name) {
    const config = join(folder, "orval.config.mjs");
    const output = { target: join(folder, `${name}.ts`), client: "fetch", baseUrl: listener.url };
    await writeFile(config, `export default { partner: ${JSON.stringify({ input: DOCUMENT, output })} };`);
    return generator("orval", "dist/bin/orval.mjs", "--config", config);
  },
  oazapfts: (name) => generator("oazapfts", "dist/cli.js", DOCUMENT, join(folder, `${name}.ts`)),
  "swagger-typescript-api": (name) =>
    generator(
      "swagger-typescript-api",
      "dist/cli.mjs",
      "generate",
      "--path",
      DOCUMENT,
      "--output",
      folder,
      "--name",
      `${name}.ts`,
      "--silent",
    ),
};

beforeAll(async () => {
  listener = await startPartnerListener();
  folder = await mkdtemp(join(tmpdir(), "partner-orders-clients-"));
  // The client of one of them imports a part of its generator.
  await symlink(dirname(installed("oazapfts")), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await Promise.all(
    Object.entries(CONVERSATIONS).map(async ([name, program]) => {
      await generate[name]?.(`${name}-client`);
      await writeFile(join(folder, `${name}.ts`), program);
    }),
  );
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.ts"] }),
  );
});
afterAll(async () => {
  await listener.close();
  await rm(folder, { recursive: true, force: true });
});

describe("clients generated from the checked-in document", () => {
  it("compile with the programs that use them", async () => {
    await mkdir(join(folder, "out"), { recursive: true });
    const outcome = await run(process.execPath, [
      resolve("node_modules/typescript/bin/tsc"),
      "-p",
      folder,
    ]).catch(({ stdout }: { stdout: string }) => ({ stdout }));
    expect(outcome.stdout).toBe("");
  });

  it.each(Object.keys(CONVERSATIONS))("of %s can talk with the service", async (name) => {
    const partner = await createPartner(listener.test);
    const { converse } = (await import(pathToFileURL(join(folder, "out", `${name}.js`)).href)) as {
      converse(api: string, key: string, productId: string): Promise<Conversation>;
    };
    const productId = String(partner.productIds[0]);
    const said = await converse(listener.url, partner.key, productId);
    const { body: order } = await listener.test.partner(partner.key).get("/v1/orders/web-1");
    expect(said).toMatchObject({
      created: 201,
      status: "NEW",
      existingOrderId: order.id,
      rule: "unshipped_lines",
    });
    expect(said.eventTypes.at(-1)).toBe("order.created");
    expect(said.eventTypes[0]).toBe("product.published");
    expect(said.orderIdsOfEvents.at(-1)).toBe(order.id);
    expect(said.orderIdsOfEvents[0]).toMatch(/^[0-9a-f-]{36}$/);
  });
});
