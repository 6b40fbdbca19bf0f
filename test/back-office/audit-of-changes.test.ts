import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { partnerRoutes } from "../../src/partner-api/routes.ts";
import {
  type AuditedWorld,
  backOfficeChanges,
  type ChangeRequest,
  importedFiles,
  orderRequest,
  partnerChanges,
  placed,
} from "../support/audited-changes.ts";
import { createKey, createPartner, type Partner } from "../support/builders.ts";
import { type Answer, OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let world: AuditedWorld;
beforeAll(async () => {
  const config = { stripeSecretKey: "sk_test_1", webhookAllowPrivateNetworks: true };
  test = await startTestService({ config });
  partner = await createPartner(test);
  world = { test, partner, reviewed: await createPartner(test, { reviewPolicy: { maxQuantity: 1 } }) };
});
afterAll(() => test.close());

const HEADERS = { "x-request-id": "request-of-the-test" };
/**
 * Changes of partners that the timeline of an order or the log of deliveries records, test events and certifications, which change nothing,
 * and what an agent sends: its tools are further requests.
 */
const NOT_AUDITED = [
  "createOrder",
  "searchOrders",
  "cancelOrder",
  "transitionTestOrder",
  "trackTestShipment",
  "armDeliveryFault",
  "pingWebhookEndpoint",
  "createCertification",
  "cancelCertification",
  "acknowledgeDeliveries",
  "callMcp",
];

type Entry = Record<string, unknown>;
const newestEntries = async (count: number): Promise<Entry[]> =>
  (await test.backOffice.get(`/api/audit-entries?limit=${count}`)).body.data;

/** The entries that a request leaves, with the response. */
async function entriesOf(send: () => Promise<Answer>): Promise<{ answer: Answer; entries: Entry[] }> {
  const known = new Set((await newestEntries(100)).map(({ id }) => id));
  test.clock.advance({ ms: 1 });
  const answer = await send();
  return { answer, entries: (await newestEntries(10)).filter(({ id }) => !known.has(id)) };
}

describe("a change through the back office", () => {
  const changing = backOfficeRoutes.filter(({ method }) => method !== "GET");

  it.each(changing.map(({ operationId }) => operationId))("%s leaves an entry", async (operationId) => {
    const request = backOfficeChanges(world)[operationId];
    if (request === undefined) throw new Error(`Add a request of ${operationId} to audited-changes.ts.`);
    const [method, path, body] = await request();
    const rawBody = importedFiles(world)[operationId];
    const options =
      rawBody === undefined
        ? { body, headers: HEADERS }
        : { rawBody, headers: { ...HEADERS, "content-type": "text/csv" } };
    const { answer, entries } = await entriesOf(() => test.backOffice.request(method, path, options));
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    expect(entries).toMatchObject([
      {
        action: operationId,
        actor: { kind: "operator", name: "operator" },
        requestId: HEADERS["x-request-id"],
        createdAt: test.clock.now().toISOString(),
      },
    ]);
    expect(entries[0]?.["subjectIds"]).not.toEqual([]);
  });

  it("leaves none if it is rejected or changes nothing", async () => {
    const { merchantId, connectionId, productIds } = partner;
    const requests: ChangeRequest[] = [
      ["PATCH", "/api/merchants/mer_01m7y7np16fe68bxp4h91tdmdn", { name: "Other" }],
      ["POST", `/api/merchants/${merchantId}/products`, { sku: "S" }],
      ["PUT", `/api/connections/${connectionId}/products/${productIds[0]}`],
      orderRequest(await placed(world), "complete"),
    ];
    const { entries } = await entriesOf(async () => {
      const answers: Answer[] = [];
      for (const [method, path, body] of requests)
        answers.push(await test.backOffice.request(method, path, { body }));
      expect(answers.map(({ status }) => status)).toEqual([404, 422, 200, 409]);
      return answers[0] as Answer; // There are four.
    });
    expect(entries).toEqual([]);
  });
});

describe("a change by a partner", () => {
  const changing = partnerRoutes.filter(
    ({ method, operationId }) => method !== "GET" && !NOT_AUDITED.includes(operationId),
  );

  it.each(changing.map(({ operationId }) => operationId))("%s leaves an entry", async (operationId) => {
    const request = partnerChanges(world)[operationId];
    if (request === undefined) throw new Error(`Add a request of ${operationId} to audited-changes.ts.`);
    const [method, path, body] = await request();
    const send = () => partner.client.request(method, path, { body, headers: HEADERS });
    const { answer, entries } = await entriesOf(send);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    const keys = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    expect(entries).toMatchObject([
      {
        action: operationId,
        actor: { kind: "partner", name: keys.body.data[0].id },
        requestId: HEADERS["x-request-id"],
        merchantId: partner.merchantId,
        connectionId: partner.connectionId,
      },
    ]);
  });

  it("of an order leaves none: the order's timeline has it", async () => {
    const { entries } = await entriesOf(async () => {
      const id = await placed(world);
      await partner.client.get(`/v1/orders/${id}`);
      return partner.client.post(`/v1/orders/${id}/cancel`);
    });
    expect(entries).toEqual([]);
  });
});

it("no entry holds a key, a secret, or what comes after the host of an address", async () => {
  const { key } = await createKey(test, partner.connectionId);
  const { secret } = await createEndpoint(partner, { url: "https://1.1.1.1/hook?token=t0ken" });
  const rows = await test.db.query<{ row: string }>({
    name: "test-audit-rows",
    text: "select e::text as row from audit_entries e",
    values: [],
  });
  const text = JSON.stringify(rows);
  expect(rows.length).toBeGreaterThan(40);
  for (const hidden of [key, secret, partner.key, "t0ken", "whsec_", OPERATOR_TOKEN])
    expect(text).not.toContain(hidden);
});

describe("the entry and the change", () => {
  it("commit together: neither exists without the other", async () => {
    const other = await startTestService();
    try {
      const shop = await createPartner(other);
      const path = `/api/connections/${shop.connectionId}/keys`;
      await other.db.runScript(
        "alter table audit_entries add constraint refuse check (action <> 'createKey') not valid",
      );
      expect((await other.backOffice.post(path, {})).status).toBe(500);
      expect((await other.backOffice.get(path)).body.data).toHaveLength(1);
      await other.db.runScript("alter table audit_entries drop constraint refuse");
      // Checked at the commit, when both are written.
      await other.db.runScript(
        "alter table api_keys add constraint refuse unique (connection_id) deferrable initially deferred",
      );
      const before = (await other.backOffice.get("/api/audit-entries?action=createKey")).body.data.length;
      expect((await other.backOffice.post(path, { name: "Refused" })).status).toBe(500);
      expect((await other.backOffice.get("/api/audit-entries?action=createKey")).body.data).toHaveLength(
        before,
      );
    } finally {
      await other.close();
    }
  });
});
