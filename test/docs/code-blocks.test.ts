import { globSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  announcedStatuses,
  type CodeBlock,
  codeBlocksOf,
  runProgram,
  runShell,
} from "../support/code-blocks.ts";
import { type Demo, startDemo } from "../support/demo.ts";
import { PARTNER } from "../support/openapi.ts";

const PAGES = globSync(
  "docs/{back-office,problems,{partners,errors,merchants,warehouse,operators}/*}.md",
).map((path): [string, CodeBlock[]] => [path.slice(5, -3), codeBlocksOf(readFileSync(path, "utf8"))]);
const having = (language: string) =>
  PAGES.map(([name, blocks]): [string, CodeBlock[]] => [
    name,
    blocks.filter((block) => block.language === language && block.notRun === null),
  ]).filter(([, blocks]) => blocks.length > 0);

/** The pages whose programs are files of their own, which other tests run. */
const WITH_EXAMPLES = ["partners/webhooks", "partners/signatures", "partners/reconciling"];

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

describe("the code of the pages", () => {
  it.each(having("sh"))("%s: the commands run, and receive what the page says", async (name, blocks) => {
    const { statuses, output } = await runShell(blocks, demo);
    const announced = announcedStatuses(blocks);
    const isError = (status: number) => status >= 400;
    expect(statuses.filter(isError)).toEqual(announced.filter(isError));
    expect(announced.filter((status) => !statuses.includes(status))).toEqual([]);
    if (name.startsWith("errors/")) expect(output).toContain(`"code":"${name.slice("errors/".length)}"`);
  });

  const programs = having("js").filter(([name]) => !WITH_EXAMPLES.includes(name));
  it.each(programs)("%s: the programs run", async (_name, blocks) => {
    for (const block of blocks) expect(await runProgram(block, demo)).not.toBe("");
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
