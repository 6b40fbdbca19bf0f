import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import {
  type AuditedWorld,
  backOfficeChanges,
  importedFiles,
  partnerChanges,
} from "../support/audited-changes.ts";
import { anOrder, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { endOfChanges, followChanges } from "../support/changes.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

// Each change of what `GET` returns is in the feed of changes, whatever has made it
// (docs/design/event-feed.md, "The change feed of the back office").

let test: TestService;
let partner: Partner;
let world: AuditedWorld;
beforeAll(async () => {
  const config = { stripeSecretKey: "sk_test_1", webhookAllowPrivateNetworks: true, personalDataMs: 1_000 };
  test = await startTestService({ config });
  partner = await createPartner(test);
  world = { test, partner, reviewed: await createPartner(test, { reviewPolicy: { maxQuantity: 1 } }) };
});
afterAll(() => test.close());

/** Members that belong to another object, that move with each delivery, or that depend on the caller and the time. */
const NOT_COUNTED = [
  ...["merchantName", "connectionName", "sku", "name", "barcode", "actions"],
  ...["lastSuccessAt", "consecutiveFailures", "backingOffUntil", "pendingDeliveries", "behind", "health"],
  ...["failingSince", "lastFailureAt", "lastError", "nextAttemptAt"],
];
type Seen = { readonly text: string; readonly updatedAt: string | undefined };
type Shown = { updatedAt?: string } & Record<string, unknown>;

const seen = (shown: Shown, ignored = NOT_COUNTED): Seen => ({
  text: JSON.stringify(shown, (key, value) => (ignored.includes(key) ? undefined : value)),
  updatedAt: shown.updatedAt,
});

async function allOf<Row>(path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await test.backOffice.get(`${path}?limit=100${cursor}`);
    expect(status, path).toBe(200);
    rows.push(...body.data);
    if (body.nextCursor === null) return rows;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

/** All that the feed is about, as the operator reads it, by kind and id. */
async function readAll(): Promise<Map<string, Seen>> {
  const all = new Map<string, Seen>();
  const parts = { shipments: "shipment", returns: "return", refunds: "refund", charges: "charge" } as const;
  for (const { id } of await allOf<{ id: string }>("/api/orders")) {
    const { body } = await test.backOffice.get(`/api/orders/${id}`);
    all.set(`order ${id}`, seen(body));
    for (const [member, kind] of Object.entries(parts))
      for (const part of body[member]) all.set(`${kind} ${part.id}`, seen(part));
  }
  for (const merchant of await allOf<{ id: string }>("/api/merchants"))
    for (const product of await allOf<Shown & { id: string }>(`/api/merchants/${merchant.id}/products`))
      all.set(`product ${product.id}`, seen(product, []));
  for (const { id } of await allOf<{ id: string }>("/api/facilities"))
    for (const stock of await allOf<Shown & { productId: string }>(`/api/facilities/${id}/stock`))
      all.set(`stock ${stock.productId} ${id}`, seen(stock));
  for (const endpoint of await allOf<Shown & { id: string }>("/api/webhook-endpoints"))
    all.set(`endpoint ${endpoint.id}`, seen(endpoint));
  return all;
}

/** Makes a change, and compares all objects before and after it with the feed. Returns those that differ. */
async function compared(change: () => Promise<unknown>): Promise<string[]> {
  const cursor = await endOfChanges(test.backOffice);
  const before = await readAll();
  test.clock.advance({ ms: 1 });
  await change();
  const after = await readAll();
  const { changes } = await followChanges(test.backOffice, cursor, { limit: 7 });
  const named = new Set(
    changes.map(({ kind, objectId, facilityId, gone }) =>
      [kind, objectId, ...(kind === "stock" ? [facilityId] : []), ...(gone ? ["gone"] : [])].join(" "),
    ),
  );
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key)?.text !== after.get(key)?.text,
  );
  const missing = differing.filter((key) => !named.has(after.has(key) ? key : `${key} gone`));
  expect(missing, "changed, and not in the feed").toEqual([]);
  const unmoved = differing.filter((key) => {
    const [was, is] = [before.get(key)?.updatedAt, after.get(key)?.updatedAt];
    return was !== undefined && is !== undefined && is <= was;
  });
  expect(unmoved, "changed, and updatedAt did not move").toEqual([]);
  return differing.sort();
}

const csv = (rawBody: string) => ({ rawBody, headers: { "content-type": "text/csv" } });

describe("a change through the back office is in the feed", () => {
  // The routes of merchants' and facilities' own endpoints do what those of connections do.
  const ofOwners = /^\/api\/(merchants|facilities)\/\{id\}\/(webhook-endpoints|deliveries|resends)/;
  const changing = backOfficeRoutes.filter(
    ({ method, path }) => method !== "GET" && !ofOwners.test(path) && !path.endsWith("/stock/import"),
  );

  it.each(changing.map(({ operationId }) => operationId))("%s", async (operationId) => {
    const request = backOfficeChanges(world)[operationId];
    if (request === undefined) throw new Error(`Add a request of ${operationId} to audited-changes.ts.`);
    const [method, path, body] = await request();
    await compared(async () => {
      const file = importedFiles(world)[operationId];
      const options = file === undefined ? body && { body } : csv(file);
      const answer = await test.backOffice.request(method, path, options);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    });
  });
});

it("an import of stock is in the feed", async () => {
  const [facility, [one, other]] = [await createFacility(test), partner.productIds];
  const changed = await compared(async () => {
    const path = `/api/facilities/${facility}/stock/import`;
    const answer = await test.backOffice.request(
      "POST",
      path,
      csv(`productId,onHand\n${one},4\n${other},5\n`),
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });
  expect(changed).toEqual([one, other].map((id) => `stock ${id} ${facility}`).sort());
});

describe("a change of an endpoint of a merchant or a facility is in the feed", () => {
  it.each(["merchants", "facilities"])("of %s", async (owners) => {
    const id = owners === "merchants" ? partner.merchantId : await createFacility(test);
    const path = `/api/${owners}/${id}/webhook-endpoints`;
    expect(await compared(() => test.backOffice.post(path, { url: "https://1.1.1.1/own" }))).toHaveLength(1);
    const [endpoint] = (await test.backOffice.get(path)).body.data;
    const body = { description: "new" };
    const own = [`endpoint ${endpoint.id}`];
    expect(
      await compared(() => test.backOffice.request("PATCH", `${path}/${endpoint.id}`, { body })),
    ).toEqual(own);
    expect(await compared(() => test.backOffice.request("DELETE", `${path}/${endpoint.id}`))).toEqual(own);
  });
});

describe("a change by a partner is in the feed", () => {
  it.each(Object.keys(partnerChanges({} as AuditedWorld)))("%s", async (operationId) => {
    const [method = "", path = "", body] = (await partnerChanges(world)[operationId]?.()) ?? [];
    await compared(async () => {
      const answer = await partner.client.request(method, path, body && { body });
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    });
  });

  it("createOrder and cancelOrder", async () => {
    const request = anOrder(partner);
    const created = await compared(() => partner.client.post("/v1/orders", request));
    expect(created).toEqual([expect.stringMatching(/^charge /), expect.stringMatching(/^order /)]);
    const canceled = await compared(() =>
      partner.client.post(`/v1/orders/${request.externalOrderId}/cancel`),
    );
    expect(canceled).toEqual(created);
  });
});

describe("the work of jobs is in the feed", () => {
  const run = (name: string) => compared(() => runJob(test, name));
  const kindsOf = (keys: readonly string[]) => [...new Set(keys.map((key) => key.split(" ")[0]))];

  it("from the acceptance to the erasure of personal data", async () => {
    const own = await createPartner(test);
    await setStock(test, await createFacility(test), own.productIds[0], 3);
    const { id } = await placeOrder(own);
    const paid = await compared(() => processDuePayments(test));
    expect(paid).toContain(`order ${id}`);
    test.clock.advance({ hours: 2 });
    expect(await run("accept-orders")).toContain(`order ${id}`);
    expect(kindsOf(await run("route-orders"))).toEqual(expect.arrayContaining(["order", "charge", "stock"]));
    await compared(() => processDuePayments(test));
    const path = `/api/merchants/${own.merchantId}`;
    await test.backOffice.request("PATCH", path, { body: { completeWhenShipped: true } });
    const shipped = await compared(() =>
      operationApplied(test, id, "ship", { trackingNumber: "T1", carrier: "DHL" }),
    );
    expect(kindsOf(shipped)).toEqual(["order", "shipment", "stock"]);
    expect(await run("complete-shipped-orders")).toContain(`order ${id}`);
    test.clock.advance({ hours: 1 });
    const erased = await run("erase-personal-data");
    expect(erased).toContain(`order ${id}`);
    expect(kindsOf(erased)).toContain("shipment");
  });

  it("of payments that fail, are tried again and succeed", async () => {
    const poor = await createPartner(test);
    await setCreditLimit(test, poor, 0n);
    const { id } = await placeOrder(poor);
    expect(await compared(() => processDuePayments(test))).toContain(`order ${id}`);
    await compared(() => setCreditLimit(test, poor, 1_000_000n));
    await run("retry-declined-charges");
    test.clock.advance({ hours: 24 });
    expect(await compared(() => processDuePayments(test))).toContain(`order ${id}`);
  });

  it("of the other jobs, which change nothing that is shown or name it", async () => {
    await createEndpoint(partner);
    await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    for (const job of ["clear-endpoints", "resend-deliveries", "reseal-secrets", "remove-deleted-endpoints"])
      await run(job);
  });
});
