import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishBackOfficeEvents } from "../../src/back-office/publish-events.ts";
import {
  created,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { acceptAll, aRate, createFacility, routeAll, setRates, setStock } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { BACK_OFFICE } from "../support/openapi.ts";
import { processDuePayments, sendDuePayments } from "../support/payments.ts";
import { answering } from "../support/receivers.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

// docs/design/event-feed.md, "Events of merchants and facilities".

let test: TestService;
let partner: Partner;
let facilityId: string;
let merchant: Client;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [60_000] } });
  partner = await createPartner(test);
  facilityId = await createFacility(test);
  await setRates(test, facilityId, [aRate()]);
  await createFacility(test, { countryCode: "FR", rates: [aRate({ country: "FR" })] });
  for (const productId of partner.productIds) await setStock(test, facilityId, productId, 1_000);
  merchant = test.backOfficeFor({
    kind: "merchant",
    merchantIds: [uuidIn("mer", partner.merchantId)],
    name: "Mia",
  });
});
afterAll(() => test.close());

type Event = {
  id: string;
  type: string;
  timestamp: string;
  merchantId: string | null;
  facilityId: string | null;
  data: Record<string, Record<string, unknown>>;
};

/** An endpoint with a receiver. `next` publishes and sends, and returns what has arrived since the last call. */
async function receiving(path: string, fields: object = {}) {
  await publish(); // What other tests have left.
  const receiver = await startReceiverForTest();
  const { id } = await created(
    test.backOffice.post(`${path}/webhook-endpoints`, { url: receiver.url, ...fields }),
  );
  let seen = 0;
  const next = async (): Promise<Event[]> => {
    await publish();
    await sendAll();
    const arrived = receiver.requests.slice(seen).map(({ body }) => JSON.parse(body) as Event);
    seen += arrived.length;
    const { body } = await test.backOffice.get(`${path}/events?limit=100`); // The test's client checks it against the description.
    expect(body.data).toEqual(expect.arrayContaining(arrived));
    for (const { type, data } of arrived) expect(Object.keys(data), type).toEqual(describedData(type));
    return arrived;
  };
  return { id, receiver, next };
}
const ofMerchant = (fields: object = {}) => receiving(`/api/merchants/${partner.merchantId}`, fields);
const ofFacility = (id = facilityId) => receiving(`/api/facilities/${id}`);

/** The objects of an event of this type, as the description names them. */
function describedData(type: string): string[] {
  const content = BACK_OFFICE.webhooks?.[type]?.post.requestBody?.content["application/json"];
  const name = (content?.schema as { $ref: string } | undefined)?.$ref.split("/").at(-1) ?? "";
  const schema = BACK_OFFICE.components.schemas[name] as { properties: { data: { properties: object } } };
  return Object.keys(schema.properties.data.properties);
}

const publish = () => runJob(test, "publish-events");
async function sendAll(): Promise<void> {
  const dispatcher = startDispatcher(test);
  for (let round = 0; round < 5; round += 1) await sendDue(dispatcher);
}
const about = (events: readonly Event[], orderId: string) =>
  events.filter(({ data }) => data["order"]?.["id"] === orderId);
const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);
const act = async (path: string, body: object = {}) => {
  const answer = await test.backOffice.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

/** A real order that the warehouse can ship. */
async function placeReady(): Promise<string> {
  const { id } = await placeOrder(partner);
  await acceptAll(test);
  await routeAll(test);
  return id;
}

describe("the events of a merchant", () => {
  it("show an order from its creation to its return, in order, with the order as the back office shows it", async () => {
    const { next } = await ofMerchant();
    const id = await placeReady();
    await act(`/api/orders/${id}/hold`, { reasons: ["fraud"] });
    await act(`/api/orders/${id}/release-hold`);
    const shipped = await act(`/api/orders/${id}/ship`);
    await act(`/api/orders/${id}/complete`);
    await processDuePayments(test);
    const returned = await act(`/api/orders/${id}/return`, {
      lines: shipped.lines.map(({ id: lineId }: { id: string }) => ({ lineId, quantity: 1 })),
      refund: { reference: "ticket-1" },
    });
    const events = await next();
    expect(typesOf(events)).toEqual([
      "order.created",
      "order.readyToShip",
      "order.held",
      "order.released",
      "order.shipped",
      "order.completed",
      "refund.created",
      "return.recorded",
    ]);
    for (const event of events) {
      expect(event).toMatchObject({ merchantId: partner.merchantId, facilityId: null });
      expect(event.data["order"]).toMatchObject({ id, merchantId: partner.merchantId, facilityId });
    }
    const { body: list } = await merchant.get("/api/orders?limit=100");
    expect(events[0]?.data["order"]).toEqual(list.data.find((order: { id: string }) => order.id === id));
    const of = (type: string) => events.find((event) => event.type === type)?.data;
    expect(of("order.shipped")?.["shipment"]).toMatchObject({ id: shipped.shipments[0].id, orderId: id });
    expect(of("return.recorded")?.["return"]).toEqual(returned.returns[0]);
    expect(of("refund.created")?.["refund"]).toEqual(returned.refunds[0]);
  });

  it("show a canceled order and a declined charge", async () => {
    const { next } = await ofMerchant({ eventTypes: ["order.canceled", "charge.failed"] });
    const { id } = await placeOrder(partner);
    await act(`/api/orders/${id}/cancel`);
    await processDuePayments(test);
    const path = `/api/merchants/${partner.merchantId}`;
    await test.backOffice.request("PATCH", path, {
      body: { creditLimit: { amount: "0.00", currency: "EUR" } },
    });
    const declined = await placeOrder(partner);
    await sendDuePayments(test);
    await test.backOffice.request("PATCH", path, { body: { creditLimit: null } });
    const [canceled, failed, ...others] = await next();
    expect(others).toEqual([]);
    expect(canceled).toMatchObject({ type: "order.canceled", data: { order: { id, status: "CANCELED" } } });
    expect(failed).toMatchObject({
      type: "charge.failed",
      data: { order: { id: declined.id }, charge: { kind: "goods", status: "failed" } },
    });
  });

  it("are of the merchant's own orders, from all its connections, and never of test orders", async () => {
    const { next } = await ofMerchant();
    const stranger = await createPartner(test);
    await placeOrder(stranger);
    await placeTestOrder(partner);
    const { id } = await placeOrder(partner);
    const events = await next();
    expect(events.map(({ data }) => data["order"]?.["id"])).toEqual([id]);
  });

  it("begin with the endpoint", async () => {
    const before = await placeOrder(partner);
    const { next } = await ofMerchant({ eventTypes: ["order.created"] });
    const after = await placeOrder(partner);
    const arrived = (await next()).map(({ data }) => data["order"]?.["id"]);
    expect(arrived).toEqual([after.id]);
    expect(arrived).not.toContain(before.id);
  });

  it("are not stored if no endpoint wants their type", async () => {
    const owner = await createPartner(test);
    await created(
      test.backOffice.post(`/api/merchants/${owner.merchantId}/webhook-endpoints`, {
        url: "https://1.1.1.1/h",
        eventTypes: ["refund.created"],
      }),
    );
    await placeOrder(owner);
    await publish();
    expect((await test.backOffice.get(`/api/merchants/${owner.merchantId}/events`)).body.data).toEqual([]);
  });

  it("are listed with their bodies, in the log of deliveries too, and no partner sees them", async () => {
    const { id: endpointId, next } = await ofMerchant({ eventTypes: ["order.created"] });
    const { id } = await placeOrder(partner);
    const [event] = await next();
    const path = `/api/merchants/${partner.merchantId}`;
    const { body } = await merchant.get(`${path}/events?orderId=${id}`);
    expect(body.data).toEqual([event]);
    const log = await merchant.get(`${path}/deliveries?endpointId=${endpointId}&orderId=${id}`);
    expect(log.body.data).toMatchObject([{ eventId: event?.id, orderId: id, status: "succeeded" }]);
    const feed = await partner.client.get(`/v1/events?orderId=${id}`);
    expect(feed.body.data.map((each: Event) => each.id)).not.toContain(event?.id);
    const entries = await test.backOffice.get(`/api/audit-entries?action=listMerchantEvents`);
    expect(entries.body.data[0]).toMatchObject({ merchantId: partner.merchantId, subjectIds: [id] });
  });
});

describe("the events of a facility", () => {
  it("are of the orders that are routed to it, without what the merchant pays", async () => {
    const { next } = await ofFacility();
    const other = await ofFacility(await createFacility(test));
    const id = await placeReady();
    await act(`/api/orders/${id}/hold`, { reasons: ["fraud"] });
    await act(`/api/orders/${id}/release-hold`);
    await act(`/api/orders/${id}/cancel`);
    const events = about(await next(), id);
    expect(typesOf(events)).toEqual(["order.readyToShip", "order.held", "order.released", "order.canceled"]);
    for (const event of events)
      expect(event).toMatchObject({ merchantId: null, facilityId, data: { order: { id, goods: null } } });
    expect(JSON.stringify(events)).not.toMatch(/charge|"amount"/);
    expect(await other.next()).toEqual([]);
  });

  it("say that an order was withdrawn, and show nothing of it", async () => {
    const { next } = await ofFacility();
    const id = await placeReady();
    await next();
    await processDuePayments(test);
    const corrected = await test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, {
      body: { countryCode: "FR" },
    });
    expect(corrected.status, JSON.stringify(corrected.body)).toBe(200);
    await routeAll(test);
    expect(about(await next(), id)).toMatchObject([{ type: "order.withdrawn", data: { order: { id } } }]);
  });
});

describe("publishing", () => {
  it("publishes each event once, whichever workers run at the same time", async () => {
    const { next, receiver } = await ofMerchant({ eventTypes: ["order.created"] });
    const ids: string[] = [];
    for (let count = 0; count < 30; count += 1) ids.push((await placeOrder(partner)).id);
    await Promise.all([publish(), publish(), publish(), publish()]);
    const events = await next();
    expect(events.map(({ data }) => data["order"]?.["id"]).toSorted()).toEqual(ids.toSorted());
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(30);
  });

  it("publishes nothing of a transaction that ends before its commit, and everything in the next one", async () => {
    const { next } = await ofMerchant({ eventTypes: ["order.created"] });
    const { id } = await placeOrder(partner);
    const failing = failingCommits();
    await expect(runJob({ context: failing }, "publish-events")).rejects.toThrow();
    expect((await next()).map(({ data }) => data["order"]?.["id"])).toEqual([id]);
    expect(await next()).toEqual([]);
  });

  it("keeps the order of an order's events while the first one is retried", async () => {
    let status = 500;
    const receiver = await startReceiverForTest((request, response) => answering(status)(request, response));
    await created(
      test.backOffice.post(`/api/merchants/${partner.merchantId}/webhook-endpoints`, { url: receiver.url }),
    );
    const { id } = await placeOrder(partner);
    await publish();
    const dispatcher = startDispatcher(test);
    await sendDue(dispatcher);
    await act(`/api/orders/${id}/hold`, { reasons: ["fraud"] });
    await publish();
    status = 200;
    await act(`/api/orders/${id}/cancel`);
    await publish();
    await sendDue(dispatcher);
    expect(receiver.requests).toHaveLength(1); // The later ones wait for the first.
    test.clock.advance({ minutes: 2 });
    for (let round = 0; round < 4; round += 1) await sendDue(dispatcher);
    const arrived = receiver.requests.slice(1).map(({ body }) => JSON.parse(body).type);
    expect(arrived).toEqual(["order.created", "order.held", "order.canceled"]);
  });

  it("reads the feed once for all merchants and once for all facilities, and not while nothing changes", async () => {
    const other = await createPartner(test);
    for (const { merchantId } of [partner, other]) await receiving(`/api/merchants/${merchantId}`);
    for (const id of [facilityId, await createFacility(test, { rates: [] })]) await ofFacility(id);
    const { context, names } = countStatements(test.context);
    const statementsOf = async () => {
      names.length = 0;
      await publishBackOfficeEvents(context);
      return names.filter((name) =>
        /^(list-changes|number-changes|save-changes-from|transaction)/.test(name),
      );
    };
    await statementsOf(); // What other tests have left.
    expect(await statementsOf()).toEqual([]);
    await placeOrder(partner);
    const reading = await statementsOf();
    expect(reading.filter((name) => name.startsWith("list-changes"))).toEqual([
      "list-changes-of-all",
      "list-changes-of-merchants",
    ]);
    // The change means nothing to the others, so nothing is stored for them.
    expect(reading.filter((name) => name === "save-changes-from")).toHaveLength(1);
    expect(await statementsOf()).toEqual([]);
  });

  it("stores a position at the latest after a minute, so that a worker that begins reads little again", async () => {
    const other = await createPartner(test);
    await receiving(`/api/merchants/${other.merchantId}`);
    const { context, names } = countStatements(test.context);
    await publishBackOfficeEvents(context);
    for (const minutes of [2, 2]) {
      test.clock.advance({ minutes });
      await createProduct(test, other.merchantId);
      names.length = 0;
      await publishBackOfficeEvents(context);
      expect(names).toContain("save-changes-from");
    }
  });

  it("does nothing for a merchant without an endpoint", async () => {
    const owner = await createPartner(test);
    await publish();
    await placeOrder(owner);
    expect(await publish()).toBe(0);
  });
});

describe("the erasure of personal data", () => {
  it("changes the events of the merchant and of the facility too", async () => {
    const [ours, theirs] = [await ofMerchant(), await ofFacility()];
    const id = await placeReady();
    await act(`/api/orders/${id}/cancel`);
    await ours.next();
    await theirs.next();
    await act(`/api/orders/${id}/erase-personal-data`);
    for (const path of [`/api/merchants/${partner.merchantId}`, `/api/facilities/${facilityId}`]) {
      const { body } = await test.backOffice.get(`${path}/events?orderId=${id}`);
      expect(body.data.length).toBeGreaterThan(1);
      for (const { data } of body.data) expect(data.order.shippingAddress.lastName).toBe("erased");
    }
  });
});

/** A database whose transactions fail at their ends if they have published anything. */
function failingCommits() {
  const { context } = test;
  const db = new Proxy(context.db, {
    get: (target, name) =>
      name === "transaction"
        ? (work: (tx: unknown) => Promise<unknown>) =>
            target.transaction(async (tx) => {
              const result = await work(tx);
              if (Array.isArray(result) && result.length > 0) throw new Error("The process ended.");
              return result;
            })
        : Reflect.get(target, name, target),
  });
  return { ...context, db };
}
