import { execFile, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSteps } from "../../../scripts/docs/generated/guided-path.ts";
import { installPackages, packageFolder } from "../../../scripts/install-packages.ts";
import {
  announcedStatuses,
  createReader,
  programOf,
  runProgram,
  runShell,
  variablesOf,
} from "../../support/block-runs.ts";
import { blocksOfPages, type CodeBlock, type Data, dataOf, PAGES, runOf } from "../../support/code-blocks.ts";
import { CHECKS, checkJson } from "../../support/data-blocks.ts";
import { type Demo, startDemo } from "../../support/demo.ts";
import { temporaryFolder } from "../../support/main-process.ts";

/**
 * What no test can run as it stands, and why. Its commands are parsed nevertheless (commands.test.ts). A block that is not
 * marked in its page is run.
 */
const NOT_RUN: readonly string[] = [
  "docs/deployment.md: it needs a cluster; other tests check the file, and that its secret is this one",
  "docs/deployment.md: it needs a container engine; other tests check the file, and do the steps of the image",
  "docs/deployment.md: it needs a release, and the network",
  "docs/deployment.md: it needs root, and its commands of npm are those of the image, which a test does",
  "docs/deployment.md: it needs root; test/release/docs/deployment.test.ts runs it below another folder",
  "docs/deployment.md: it needs root; test/release/docs/deployment.test.ts runs it with the settings below another folder",
  "docs/deployment.md: it needs systemd; a test lets systemd check the unit",
  "docs/operation.md: it deletes what a lost key has encrypted",
  "docs/partners/sdk.md: it needs a release, and the network; tests install the package that they have packed",
  "docs/partners/command-line.md: it does not end; a test starts it, ends it and starts it again",
  "docs/partners/command-line.md: it needs a release, and the network; tests install the package that they have packed",
  "docs/partners/command-line.md: it needs what your server received; a test has such files",
  "docs/partners/certification.md: it needs your receiver; a test runs it with another one",
  "docs/partners/command-line.md: it needs your receiver and your tests; a test runs it with others",
  "docs/partners/command-line.md: it needs your receiver; a test runs it with another one",
  "docs/partners/command-line.md: it writes into the home of its reader; a test reads such a file",
  "docs/partners/other-languages.md: it needs the network",
  "docs/partners/other-languages.md: the types of the command above are not there",
  "docs/partners/quickstart.md: only a demo offers keys to everyone",
  "docs/partners/testing.md: it needs a release, and the network; a test starts the program that it has packed",
  "docs/partners/testing.md: it needs the program above; a test moves the clock of one",
  "docs/partners/webhooks.md: it does not end; a test starts the program",
  "docs/partners/webhooks.md: the secret is left out; a test starts the program with one",
  "docs/scaling.md: it needs servers with Citus, and hours",
  "docs/scaling.md: it needs servers with Citus, and hours",
  "docs/scaling.md: it needs servers with Citus; test/cli/distribute.test.ts runs these commands there",
  "packages/cli/README.md: it needs a key, and listen does not end; tests run these commands",
  "packages/cli/README.md: it needs a release, and the network; tests install the package that they have packed",
  "packages/dev/README.md: it needs a release, and the network; a test starts the program that it has packed",
  "packages/sdk/README.md: it needs a release, and the network; tests install the package that they have packed",
];

/**
 * How the command line of a page finds the service. It works over HTTP, as its page explains, which is faster; that page sets
 * it, and has the command that works beside the database alone.
 */
const COMMAND_LINE = "docs/command-line.md";
const overHttp = ({ backOffice, operatorToken }: Demo) => ({
  PARTNER_ORDERS_URL: backOffice,
  PARTNER_ORDERS_TOKEN: operatorToken,
});

/** The problems that a page shows, as they are received after their `type`, which begins with the address of the service. */
const problemsOf = (path: string): string[] =>
  PAGES.filter((page) => page.path === path)
    .flatMap(({ blocks }) => blocks)
    .filter(({ label }) => label.endsWith("Problem"))
    .map(({ code }) => {
      const { type: _address, ...members } = JSON.parse(code);
      return JSON.stringify(members).slice(1);
    });

/** The errors that a page announces come in their order, and each other status that it announces comes. */
function expectAnnounced(statuses: readonly number[], blocks: readonly CodeBlock[]): void {
  const announced = announcedStatuses(blocks);
  const isError = (status: number) => status >= 400;
  expect(statuses.filter(isError)).toEqual(announced.filter(isError));
  expect(announced.filter((status) => !statuses.includes(status))).toEqual([]);
}

/** What lints the OpenAPI documents also walks workflows. */
const LINTERS = resolve("scripts/lint-openapi");

const HAS_REQUESTS = spawnSync("python3", ["-c", "import requests"]).status === 0;

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

describe("the code of the pages", () => {
  it.each(blocksOfPages("session"))(
    "%s: the commands run, and receive what the page says",
    async (path, blocks) => {
      const reader = await createReader(demo);
      const { statuses, output } = await runShell(blocks, reader, {
        environment: {
          ...(/^docs\/(?:partners|errors)\//.test(path) && variablesOf(reader)),
          ...(path !== COMMAND_LINE && overHttp(demo)),
        },
      });
      expectAnnounced(statuses, blocks);
      const [, code] = /^docs\/errors\/(.*)\.md$/.exec(path) ?? [];
      if (code !== undefined) expect(output).toContain(`"code":"${code}"`);
      for (const problem of problemsOf(path)) expect(output).toContain(problem);
    },
  );

  it.each(blocksOfPages("typescript"))(
    "%s: the TypeScript runs, and receives the same",
    async (_path, blocks) => {
      const { statuses } = await runProgram("typescript", blocks, await createReader(demo));
      expectAnnounced(statuses, blocks);
      expect(statuses.length).toBeGreaterThan(0);
    },
  );

  it.skipIf(!HAS_REQUESTS).each(blocksOfPages("python"))(
    "%s: the Python runs, and receives the same",
    async (_path, blocks) => {
      const { statuses } = await runProgram("python", blocks, await createReader(demo));
      expectAnnounced(statuses, blocks);
      expect(statuses.length).toBeGreaterThan(0);
    },
  );

  it("has no error of a type in a strict project", async () => {
    const folder = await temporaryFolder();
    const files = blocksOfPages("typescript").map(([path]) => `${basename(path, ".md")}.mts`);
    for (const [index, [, blocks]] of blocksOfPages("typescript").entries())
      await writeFile(join(folder, files[index] ?? ""), programOf(blocks));
    const options =
      "--noEmit --strict --noUncheckedIndexedAccess --target esnext --module nodenext --types node";
    const roots = ["--typeRoots", resolve("node_modules/@types")];
    const { stdout } = spawnSync("tsc", [...options.split(" "), ...roots, ...files], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(files.length).toBeGreaterThan(5);
  });
});

/** The page of the guided path is made of the same file, and its commands run like those of any page. */
it("a tool that reads Arazzo walks the guided path, and finds each response as the OpenAPI document says", async () => {
  installPackages(LINTERS);
  const { keys } = await createReader(demo);
  const redocly = join(String(packageFolder(LINTERS, "@redocly/cli")), "bin/cli.js");
  const steps = readSteps().length;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...[redocly, "respect", "openapi/partner.arazzo.yaml", "--server", `partnerOrders=${demo.api}`],
      ...["--input", `key=${keys.testKey}`, "--input", "prefix=tool"],
    ],
    { env: { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" } },
  ).catch((failed: { stdout: string }) => failed);
  expect(stdout).toContain(`Steps: ${steps} passed, ${steps} total`);
});

describe("the data of the pages", () => {
  it.each(blocksOfPages("schema"))("%s: the JSON fits the schema that it names", (_path, blocks) => {
    for (const { label, code } of blocks) checkJson(code, label);
  });

  it.each(
    blocksOfPages("data").flatMap(([path, blocks]) =>
      blocks.map((block) => [path, dataOf(block) as Data, block.code] as const),
    ),
  )("%s: the %s is what the service and its neighbors read or send", async (_path, form, code) => {
    await CHECKS[form](code, demo);
  });
});

describe("every block of code", () => {
  it("is of a language that a test runs or checks", () => {
    const unknown = PAGES.flatMap((page) =>
      page.blocks
        .filter((block) => runOf(block, page) === "unknown")
        .map(({ language, label, code }) => `${page.path}: ${language} ${label}: ${code.split("\n", 1)}`),
    );
    expect(unknown).toEqual([]);
  });

  it("is run, or is in the list of those that cannot be", () => {
    const marked = blocksOfPages("not run").flatMap(([path, blocks]) =>
      blocks.map(({ notRun }) => `${path}: ${notRun}`),
    );
    expect(marked.toSorted()).toEqual(NOT_RUN.toSorted());
  });

  it("is found, however a page writes it", () => {
    for (const { path, text, blocks } of PAGES) {
      const fences = [...text.matchAll(/^[\s>*-]*(?:`{3,}|~{3,})/gm)];
      expect(fences.length, path).toBe(2 * blocks.length);
      const outside = text.replace(/^```.*?^```$/gms, "");
      expect(outside, `${path} has no code that is indented, or of HTML`).not.toMatch(
        /^(?:\n {4}\S|\s*<pre)/m,
      );
      expect(text.match(/^<!-- not run:/gm)?.length ?? 0, path).toBe(
        blocks.filter(({ notRun }) => notRun !== null).length,
      );
    }
    expect(PAGES.map(({ path }) => path)).toEqual(expect.arrayContaining(globSync("{*,docs/*,web/*}.md")));
    expect(readFileSync("README.md", "utf8")).toContain("```sh");
  });
});
