import { beforeEach, describe, expect, it } from "vitest";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { listKeyIdsInUse, resealSecrets } from "../../src/webhooks/endpoints/reseal-secrets.ts";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest, storeEndpoint } from "../support/dispatch.ts";
import { expectErrors } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  partner = await createPartner(test);
});

const SECRET = "3f7c0d-of-the-gateway";
const HEADERS = { "X-Api-Key": SECRET, authorization: "Bearer a b" };
const MASKED = { "X-Api-Key": "••••", authorization: "••••" };

const change = (id: string, body: object) => partner.client.request("PATCH", endpointPath(id), { body });

/** The headers of the next ping. */
async function pinged(id: string, url: string, receiver: Awaited<ReturnType<typeof startReceiverForTest>>) {
  expect(url).toBe(receiver.url);
  const dispatcher = startDispatcher(test);
  const { body } = await partner.client.post(`${endpointPath(id)}/ping`);
  await sendDue(dispatcher);
  return { headers: receiver.requests.at(-1)?.headers ?? {}, deliveryId: body.id };
}

describe("headers of an endpoint", () => {
  it("are on every request, beside the signature, and nowhere else", async () => {
    const receiver = await startReceiverForTest();
    const endpoint = await createEndpoint(partner, { url: receiver.url, headers: HEADERS });
    expect(endpoint.headers).toEqual(MASKED);
    const dispatcher = startDispatcher(test);
    await placeTestOrder(partner);
    await sendDue(dispatcher);
    const { deliveryId } = await pinged(endpoint.id, receiver.url, receiver);
    await partner.client.post(`/v1/deliveries/${deliveryId}/redeliver`);
    await sendDue(startDispatcher(test));
    expect(receiver.requests.length).toBe(3);
    for (const { headers } of receiver.requests) {
      expect(headers).toMatchObject({ "x-api-key": SECRET, authorization: "Bearer a b" });
      expect(headers["webhook-signature"]).toMatch(/^v1,/);
      expect(headers["content-type"]).toBe("application/json");
    }
    const delivery = await partner.client.get(`/v1/deliveries/${deliveryId}`);
    const list = await partner.client.get("/v1/webhook-endpoints");
    const shown = await test.backOffice.get("/api/webhook-endpoints");
    const audit = await test.backOffice.get("/api/audit-entries");
    expect(shown.body.data[0].headers).toEqual(MASKED);
    for (const { body } of [delivery, list, shown, audit]) expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(JSON.stringify(await dumpTables(test))).not.toContain(SECRET);
  });

  it("are replaced as a whole, a masked value is kept, and only a stored one", async () => {
    const receiver = await startReceiverForTest();
    const { id } = await createEndpoint(partner, { url: receiver.url, headers: HEADERS });
    expect((await change(id, { description: "Gateway" })).body.headers).toEqual(MASKED);
    const headers = { "X-Api-Key": "••••", "x-tenant": "shop" };
    expect((await change(id, { headers })).body.headers).toEqual({ "X-Api-Key": "••••", "x-tenant": "••••" });
    const sent = await pinged(id, receiver.url, receiver);
    expect(sent.headers).toMatchObject({ "x-api-key": SECRET, "x-tenant": "shop" });
    expect(sent.headers).not.toHaveProperty("authorization");
    expectErrors(await change(id, { headers: { ...headers, other: "••••" } }), [
      { pointer: "/headers/other" },
    ]);
    expect((await change(id, { headers: {} })).body.headers).toEqual({});
    expect((await pinged(id, receiver.url, receiver)).headers).not.toHaveProperty("x-api-key");
    const body = { url: receiver.url, headers: { other: "••••" } };
    expectErrors(await partner.client.post("/v1/webhook-endpoints", body), [{ pointer: "/headers/other" }]);
  });

  it("are not sent to another origin: a caller that changes the address must know their values", async () => {
    const { id } = await createEndpoint(partner, { url: "https://gateway.example/a", headers: HEADERS });
    const refused = [{ pointer: "/headers" }];
    for (const url of [
      "https://other.example/a",
      "https://gateway.example:8443/a",
      "http://gateway.example/a",
    ]) {
      expectErrors(await change(id, { url }), refused);
      expectErrors(await change(id, { url, headers: MASKED }), refused);
      expectErrors(await change(id, { url, headers: { ...HEADERS, authorization: "••••" } }), refused);
    }
    const kept = await partner.client.get(endpointPath(id));
    expect(kept.body).toMatchObject({ url: "https://gateway.example/a", headers: MASKED });
    const sameOrigin = await change(id, { url: "https://gateway.example:443/b" });
    expect(sameOrigin.body.headers).toEqual(MASKED);
    const receiver = await startReceiverForTest();
    const moved = await change(id, { url: receiver.url, headers: { "x-api-key": "new" } });
    expect(moved.body.headers).toEqual({ "x-api-key": "••••" });
    expect((await pinged(id, receiver.url, receiver)).headers).toMatchObject({ "x-api-key": "new" });
    const bare = await change(id, { url: "https://third.example/", headers: {} });
    expect(bare.body).toMatchObject({ url: "https://third.example/", headers: {} });
    expect((await change(id, { url: "https://fourth.example/" })).status).toBe(200);
  });

  it.each([
    [{ host: "a" }, "/headers/host"],
    [{ "Content-Length": "1" }, "/headers/Content-Length"],
    [{ "transfer-encoding": "chunked" }, "/headers/transfer-encoding"],
    [{ "Webhook-Signature": "v1,a" }, "/headers/Webhook-Signature"],
    [{ "x-forwarded-for": "10.0.0.1" }, "/headers/x-forwarded-for"],
    [{ traceparent: "00" }, "/headers/traceparent"],
    [{ "x-a": "1", "X-A": "2" }, "/headers/X-A"],
    [{ "a b": "1" }, "/headers"],
    [{ [`x${"a".repeat(64)}`]: "1" }, "/headers"],
    [{ a: "" }, "/headers/a"],
    [{ a: " b" }, "/headers/a"],
    [{ a: "b\r\nhost: c" }, "/headers/a"],
    [{ a: "ü" }, "/headers/a"],
    [{ a: "b".repeat(1_001) }, "/headers/a"],
    [{ a: 1 }, "/headers/a"],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, "1"])), "/headers"],
    [
      Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`x-${index}`, "1".repeat(1_000)])),
      "/headers",
    ],
  ])("are rejected if they are %j", async (headers, pointer) => {
    const body = { url: "https://partner.example/hooks", headers };
    expectErrors(await partner.client.post("/v1/webhook-endpoints", body), [{ pointer }]);
  });

  it("are what an endpoint has: an unknown field is rejected, and the error names the known ones", async () => {
    const body = { url: "https://partner.example/hooks", filter: "order.lines" };
    const created = await partner.client.post("/v1/webhook-endpoints", body);
    expectErrors(created, [{ pointer: "/filter" }]);
    expect(created.body.errors[0].known).toContain("headers");
    const { id } = await createEndpoint(partner);
    expectErrors(await change(id, { secret: "whsec_" }), [{ pointer: "/secret" }]);
  });

  it("are encrypted again with a new key, and name the key that they need", async () => {
    const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const withKeys = (...keys: Buffer[]) => ({ ...test.context, secrets: createSecretBox(keys) });
    const url = "http://127.0.0.1:9/";
    const { id } = await storeEndpoint({ ...test, context: withKeys(older) }, partner, {
      url,
      headers: HEADERS,
    });
    const inUse = () => listKeyIdsInUse(test.db, test.clock.now());
    expect(await inUse()).toEqual([createSecretBox([older]).keyId]);
    expect(await resealSecrets(withKeys(newer, older))).toBe(2);
    expect(await inUse()).toEqual([createSecretBox([newer]).keyId]);
    const [row] = await test.db.query<{ sealed: string }>({
      name: "test-sealed-headers",
      text: "select sealed_headers as sealed from webhook_endpoints where id = $1",
      values: [id],
    });
    expect(JSON.parse(createSecretBox([newer]).open(row?.sealed ?? "", id))).toEqual(HEADERS);
  });

  it("are gone from the database with the endpoint", async () => {
    const { id } = await createEndpoint(partner, { headers: HEADERS });
    await partner.client.request("DELETE", endpointPath(id));
    const rows = await test.db.query({
      name: "test-headers-left",
      text: "select header_names as names, sealed_headers as sealed from webhook_endpoints",
      values: [],
    });
    expect(rows).toEqual([{ names: [], sealed: null }]);
  });

  it("are set by the back office too, and the audit log has their names", async () => {
    const { id } = await createEndpoint(partner);
    const path = `/api/connections/${partner.connectionId}/webhook-endpoints/${id}`;
    const { body } = await test.backOffice.request("PATCH", path, { body: { headers: HEADERS } });
    expect(body.headers).toEqual(MASKED);
    const audit = await test.backOffice.get("/api/audit-entries");
    expect(JSON.stringify(audit.body)).toContain("X-Api-Key");
    expect(JSON.stringify(audit.body)).not.toContain(SECRET);
  });
});
