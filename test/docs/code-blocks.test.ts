import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureDemo } from "../../src/app/demo.ts";
import {
  announcedStatuses,
  type CodeBlock,
  codeBlocksOf,
  type Demo,
  runProgram,
  runShell,
} from "../support/code-blocks.ts";
import { PARTNER } from "../support/openapi.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";

const FOLDER = "docs/partners";

const PAGES = readdirSync(FOLDER).map((name): [string, CodeBlock[]] => [
  name,
  codeBlocksOf(readFileSync(join(FOLDER, name), "utf8")),
]);
const having = (language: string) =>
  PAGES.map(([name, blocks]): [string, CodeBlock[]] => [
    name,
    blocks.filter((block) => block.language === language && block.notRun === null),
  ]).filter(([, blocks]) => blocks.length > 0);

/** The pages whose programs are files of their own, which other tests run. */
const WITH_EXAMPLES = ["webhooks.md", "signatures.md", "reconciling.md"];

let listener: PartnerListener;
let demo: Demo;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "partner-orders-docs-"));
  listener = await startPartnerListener({ config: { dataDir, webhookAllowPrivateNetworks: true } });
  const { test, url } = listener;
  // Programs in the pages have the machine's clock.
  test.clock.advance({ ms: Date.now() - test.clock.now().getTime() });
  const { testKey } = await ensureDemo(test.context);
  demo = { api: url, key: testKey, demoFile: join(dataDir, "demo.json") };
});
afterAll(async () => {
  await listener.close();
  await rm(dataDir, { recursive: true });
});

describe("the code of the pages for partners", () => {
  it.each(having("sh"))("%s: the commands run, and receive what the page says", async (_name, blocks) => {
    const { statuses } = await runShell(blocks, demo);
    const announced = announcedStatuses(blocks);
    const isError = (status: number) => status >= 400;
    expect(statuses.filter(isError)).toEqual(announced.filter(isError));
    expect(announced.filter((status) => !statuses.includes(status))).toEqual([]);
  });

  const programs = having("js").filter(([name]) => !WITH_EXAMPLES.includes(name));
  it.each(programs)("%s: the programs run", async (_name, blocks) => {
    const [PRODUCT = ""] = JSON.parse(readFileSync(demo.demoFile, "utf8")).productIds;
    for (const block of blocks) expect(await runProgram(block, demo, { PRODUCT })).not.toBe("");
  });

  it.each(having("json"))("%s: the JSON fits the schema that it names", (_name, blocks) => {
    for (const { label, code } of blocks) {
      if (label === "shortened") continue;
      expect(Object.keys(PARTNER.components.schemas)).toContain(label);
      isValid(label, JSON.parse(code));
    }
  });

  it("is all of a language that a test runs, or says why it is not", () => {
    const others = PAGES.flatMap(([name, blocks]) =>
      blocks
        .filter(({ language }) => !["sh", "js", "json", "python", "http"].includes(language))
        .map(({ language }) => `${name}: ${language}`),
    );
    expect(others).toEqual([]);
    const notRun = PAGES.flatMap(([, blocks]) => blocks.filter((block) => block.notRun !== null));
    expect(notRun.length, "blocks that are not run").toBeLessThanOrEqual(3);
  });
});

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
ajv.addSchema(PARTNER, "partner");

function isValid(schema: string, value: unknown): void {
  const validate = ajv.getSchema(`partner#/components/schemas/${schema}`);
  validate?.(value);
  expect(validate?.errors).toBeNull();
}
