import { existsSync, readFileSync } from "node:fs";
import { get } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDocumentation } from "../../../scripts/docs/build.ts";
import { findingsOf } from "../../support/browser.ts";
import { sharedBrowser } from "../../support/chromium.ts";
import { type Demo, startDemo } from "../../support/demo.ts";
import { startServiceForTest } from "../../support/test-service.ts";

/** On a busy machine; it takes seconds if something has changed, and nothing otherwise. */
const BUILD_MS = 300_000;
const PAGE_MS = 90_000;

let demo: Demo;
let browser: Browser;
beforeAll(async () => {
  expect(await buildDocumentation({ onlyIfChanged: true })).not.toBe("failed");
  [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
}, BUILD_MS);
afterAll(async () => {
  await demo.close();
});

const tryRequest = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${demo.backOffice}/docs/try`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ method: "GET", path: "/v1/me", key: demo.testKey, ...body }),
  });

describe("the reference of a demo", () => {
  it(
    "places a test order and reads it, by keyboard and without another host",
    async () => {
      const context = await browser.newContext({
        colorScheme: "dark",
        viewport: { width: 390, height: 800 },
      });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
      page.on("pageerror", (error) => void faults.push(error.message));
      page.on("request", (request) => {
        if (new URL(request.url()).origin !== new URL(demo.backOffice).origin) faults.push(request.url());
      });
      await page.goto(`${demo.backOffice}/docs/api/orders.html`);
      const send = async (route: string, method: string, status: string) => {
        await page.getByRole("button", { name: `Try ${route}`, exact: true }).press("Enter");
        const form = page.getByRole("form", { name: `Try ${route}`, exact: true });
        await form.getByRole("button", { name: `Send ${method} request` }).press("Enter");
        await form.getByRole("status").getByText(status).waitFor();
        return form;
      };
      const created = await send("POST /v1/orders", "POST", "201 Created");
      const body = created.getByRole("region", { name: "Response body" });
      const { id } = JSON.parse((await body.textContent()) ?? "");
      expect(id).toMatch(/^test_/);
      await created.getByRole("button", { name: "Send POST request" }).press("Enter");
      await created.getByRole("status").getByText("200 OK").waitFor();
      await created.getByText("Response headers").click();
      await created
        .getByRole("region", { name: "Response headers" })
        .getByText("idempotent-replayed: true")
        .waitFor();
      const read = await send("GET /v1/orders/{orderId}", "GET", "200 OK");
      expect(await read.getByLabel("orderId").inputValue()).toBe(id);
      await read.getByLabel("orderId").fill("no-such-order");
      await read.getByRole("button", { name: "Send GET request" }).press("Enter");
      await read.getByRole("status").getByText("404 Not Found").waitFor();
      await read.getByLabel("Test key").fill("pok_live_of-a-shop");
      await read.getByRole("button", { name: "Send GET request" }).press("Enter");
      await read.getByText("key must be a test key").waitFor();
      expect(await findingsOf(page)).toEqual([]);
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      expect(faults.filter((fault) => !/status of 422/.test(fault))).toEqual([]);
      await context.close();
    },
    PAGE_MS,
  );

  it("sends with test keys to the partner API alone", async () => {
    expect(await (await tryRequest({})).json()).toMatchObject({
      status: 200,
      headers: { "x-request-id": expect.any(String) },
      body: expect.stringContaining("Demo Partner"),
    });
    for (const wrong of [
      { key: "pok_live_of-a-shop" },
      { key: "pok_test_a\r\nhost: elsewhere" },
      { path: "/api/orders" },
      { path: "/v1/../metrics" },
      { path: "/v1/%2e%2e/metrics" },
      { path: "//elsewhere.example/v1/" },
      { path: "https://elsewhere.example/v1/" },
      { method: "CONNECT" },
    ])
      expect((await tryRequest(wrong)).status, JSON.stringify(wrong)).toBe(422);
  });

  it("gives its key and its requests to no page of another site", async () => {
    expect((await tryRequest({}, { origin: "https://elsewhere.example" })).status).toBe(403);
    const text = await tryRequest({}, { "content-type": "text/plain" });
    expect(text.status).toBe(415);
    // A name of another site that has the address of this machine.
    const host = "elsewhere.example:8081";
    const { port } = new URL(demo.backOffice);
    const answer = await new Promise<string>((resolve, reject) =>
      get({ host: "127.0.0.1", port, path: "/docs/try.json", headers: { host } }, (response) =>
        response.setEncoding("utf8").once("data", resolve),
      ).once("error", reject),
    );
    expect(JSON.parse(answer)).toEqual({ key: null, productId: null });
  });
});

describe("the reference elsewhere", () => {
  it("has no key and no route: the file of the build says so", async () => {
    expect(JSON.parse(readFileSync("dist/docs/try.json", "utf8"))).toEqual({ key: null, productId: null });
    expect(existsSync("dist/docs/try")).toBe(false);
    const service = await startServiceForTest();
    const answer = await service.inject({ method: "POST", url: "/docs/try", payload: {} });
    expect(answer.statusCode).toBe(404);
  });
});
