import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { anOrder } from "../support/builders.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { exchange, listen, requestText } from "../support/sockets.ts";
import { OPERATOR_TOKEN } from "../support/test-service.ts";

let partner: PartnerListener;
let backOffice: { url: string; close(): Promise<unknown> };
beforeAll(async () => {
  partner = await startPartnerListener({ config: { stripeWebhookSecret: "whsec_of-the-tests" } });
  const app = createBackOffice(partner.test.context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
  backOffice = { url: await listen(app), close: () => app.close() };
});
afterAll(async () => {
  await backOffice.close();
  await partner.close();
});

type Case = [name: string, status: number, bytes: () => string | Buffer];

/** A proxy or a browser must keep no response, and take no text for a page. */
async function expectProtected(url: string, status: number, bytes: string | Buffer): Promise<void> {
  const response = await exchange(url, bytes);
  expect(response.status, response.body).toBe(status);
  expect(response.headers).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
}

const both: Case[] = [
  ["an unknown route", 404, () => requestText("GET /nothing HTTP/1.1", {})],
  ["a path that cannot be decoded", 404, () => requestText("GET /v1/orders/%zz HTTP/1.1", {})],
  ["a method outside of the table", 404, () => requestText("BREW /v1/me HTTP/1.1", {})],
  ["CONNECT", 404, () => "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n"],
  ["input that is no HTTP", 400, () => "hello\r\n\r\n"],
  ["header fields that are too large", 400, () => requestText("GET / HTTP/1.1", { x: "x".repeat(20_000) })],
];

describe("the partner's listener forbids caching and sniffing", () => {
  it.each<Case>([
    ...both,
    ["a read", 200, () => requestText("GET /v1/me HTTP/1.1", partner.authorized())],
    ["a creation", 201, () => order(JSON.stringify(anOrder(partner.partner)))],
    ["no key", 401, () => requestText("GET /v1/me HTTP/1.1", {})],
    ["an invalid body", 422, () => order("{}")],
    ["a body that is no JSON", 400, () => order("{")],
    ["a body that is too large", 413, () => order("x".repeat(300_000))],
  ])("%s: %i", async (_name, status, bytes) => expectProtected(partner.url, status, bytes()));

  const order = (body: string) => requestText("POST /v1/orders HTTP/1.1", partner.authorizedJson(), body);
});

describe("the back office's listener forbids caching and sniffing", () => {
  const authorized = { authorization: `Bearer ${OPERATOR_TOKEN}` };

  it.each<Case>([
    ...both,
    ["a list", 200, () => requestText("GET /api/merchants HTTP/1.1", authorized)],
    ["no token", 401, () => requestText("GET /api/merchants HTTP/1.1", {})],
    ["health", 200, () => requestText("GET /readyz HTTP/1.1", {})],
    ["metrics", 200, () => requestText("GET /metrics HTTP/1.1", {})],
    ["a description", 200, () => requestText("GET /openapi.json HTTP/1.1", {})],
    ["a problem page", 200, () => requestText("GET /errors/not-found HTTP/1.1", {})],
    ["a webhook without a signature", 400, () => requestText("POST /stripe/webhook HTTP/1.1", {}, "{}")],
  ])("%s: %i", async (_name, status, bytes) => expectProtected(backOffice.url, status, bytes()));
});
