import { existsSync, globSync, readFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BUILT, buildDocumentation } from "../../../scripts/docs/build.ts";
import { stageSections } from "../../../scripts/docs/stage.ts";
import { createPartnerApi } from "../../../src/partner-api/app.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { startTestService } from "../../support/test-service.ts";

const FOLDER = BUILT.partners;
/** On a busy machine. */
const BUILD_MS = 300_000;

/** The paths of pages that the whole documentation has, and that for partners has not. */
let withheld: string[];
let files: string[];

beforeAll(async () => {
  expect(await buildDocumentation({ onlyIfChanged: true, audience: "partners" })).not.toBe("failed");
  files = globSync("**/*.{html,md,js,json,txt}", { cwd: FOLDER });
  const pathsOf = async (audience: "all" | "partners") =>
    (await stageSections(audience)).flatMap(({ pages }) => pages.map(({ path }) => path));
  const shown = new Set(await pathsOf("partners"));
  withheld = (await pathsOf("all")).filter((path) => !shown.has(path));
}, BUILD_MS);

const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, "utf8");

describe("the documentation for partners", () => {
  it("has no page of merchants, warehouse and operators", () => {
    for (const path of [
      "merchants/guide",
      "warehouse/guide",
      "operators/deployment",
      "operators/security",
      "operators/back-office",
      "errors/person-exists/index",
    ])
      expect(withheld).toContain(path);
    expect(withheld.filter((path) => existsSync(`${FOLDER}/${path}.html`))).toEqual([]);
    expect(existsSync(`${FOLDER}/partners/quickstart.html`)).toBe(true);
    expect(existsSync(`${FOLDER}/reference/changelog.html`)).toBe(true);
  });

  it("has no link to one, in a page, in its Markdown, in the navigation, in the search and in the list for programs", () => {
    const names = [...withheld, ...withheld.map((path) => path.replace(/\/index$/, "/"))];
    for (const file of files) {
      const text = read(file);
      const found = names.filter((path) =>
        new RegExp(`["'(/]${path}(?:\\.html|\\.md|["'#)])`).test(text.replaceAll("../", "/")),
      );
      expect(found, file).toEqual([]);
    }
  });

  it("has the description of the partner API, and not that of the back office", () => {
    expect(globSync("openapi/*.json", { cwd: FOLDER }).sort()).toEqual([
      "openapi/partner.json",
      "openapi/partner.opencollection.json",
      "openapi/partner.postman_collection.json",
    ]);
    for (const file of files) expect(read(file), file).not.toMatch(/back-office\.json/);
  });

  it("has no picture of the console that none of its pages shows", () => {
    const shown = files.filter((file) => file.endsWith(".md")).map(read);
    const left = globSync("pictures/*", { cwd: FOLDER }).filter(
      (picture) => !shown.some((text) => text.includes(posix.basename(picture))),
    );
    expect(left).toEqual([]);
  });

  it("has only links that lead somewhere", () => {
    for (const page of files.filter((file) => file.endsWith(".html"))) {
      const targets = [...read(page).matchAll(/ href="(?!\w+:|#)([^"#]+)/g)].map(([, target = ""]) => target);
      const missing = targets.filter((target) => {
        const path = target.startsWith("/docs/")
          ? target.replace("/docs/", "")
          : posix.join(posix.dirname(page), target);
        return !existsSync(`${FOLDER}/${path === "" || path.endsWith("/") ? `${path}index.html` : path}`);
      });
      expect(missing, page).toEqual([]);
    }
  });
});

describe("the listener of partners", () => {
  it("serves this documentation and the page of each problem, and nothing else of the operator's", async () => {
    const test = await startTestService();
    const app = createPartnerApi(test.context, createMetrics(), undefined, undefined, null, resolve(FOLDER));
    onTestFinished(async () => {
      await app.close();
      await test.close();
    });
    const statusOf = async (url: string) => (await app.inject(url)).statusCode;
    expect(await statusOf("/docs/partners/quickstart.html")).toBe(200);
    for (const url of [
      "/docs/operators/deployment.html",
      "/docs/openapi/back-office.json",
      "/docs/../docs-source/index.md",
    ])
      expect([url, await statusOf(url)]).toEqual([url, 404]);
    expect((await app.inject("/errors/not-found")).headers.location).toBe("/docs/errors/not-found/");
    const ofBackOffice = await app.inject("/errors/person-exists");
    expect([ofBackOffice.statusCode, ofBackOffice.body]).toEqual([200, expect.stringContaining("person")]);
    expect([await statusOf("/"), await statusOf("/metrics"), await statusOf("/api/me")]).toEqual([
      404, 404, 404,
    ]);
  });
});
