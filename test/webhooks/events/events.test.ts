import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../../src/platform/ids.ts";
import {
  anOrder,
  createExposedProduct,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../../support/builders.ts";
import { readOrder } from "../../support/orders.ts";
import { applied, eventsOf, transition, typesOf } from "../../support/sandbox.ts";
import { dumpTables } from "../../support/tables.ts";
import {
  type Answer,
  startServiceForTest,
  startTestService,
  type TestService,
} from "../../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const expose = ({ backOffice }: TestService, connectionId: string, productId: string) =>
  backOffice.request("PUT", `/api/connections/${connectionId}/products/${productId}`);

/**
 * Every event of the specification, part 6, and every way to cause it: `prepare`, then `cause` with what it returned.
 */
type Cause = {
  type: string;
  by: string;
  prepare: (test: TestService, partner: Partner) => Promise<string>;
  cause: (test: TestService, partner: Partner, id: string) => Promise<Answer>;
};

const testOrderAfter =
  (...transitions: string[]): Cause["prepare"] =>
  async (_test, own) => {
    const { id } = await placeTestOrder(own);
    for (const name of transitions) await applied(own, id, name);
    return id;
  };
const byTransition =
  (name: string): Cause["cause"] =>
  (_test, own, id) =>
    transition(own, id, name);
const nothing = async () => "key-1";
const byCreation =
  (fields: object): Cause["cause"] =>
  (_test, own, externalOrderId) =>
    own.client.post("/v1/orders", anOrder(own, { externalOrderId, ...fields }));

const CAUSES: Cause[] = [
  { type: "order.created", by: "a real order", prepare: nothing, cause: byCreation({}) },
  { type: "order.created", by: "a test order", prepare: nothing, cause: byCreation({ testMode: true }) },
  {
    type: "order.canceled",
    by: "the cancel endpoint",
    prepare: async (_test, own) => (await placeOrder(own)).id,
    cause: (_test, own, id) => own.client.post(`/v1/orders/${id}/cancel`),
  },
  { type: "order.canceled", by: "cancel", prepare: testOrderAfter(), cause: byTransition("cancel") },
  { type: "order.onHold", by: "hold", prepare: testOrderAfter(), cause: byTransition("hold") },
  {
    type: "order.onHoldReleased",
    by: "releaseHold",
    prepare: testOrderAfter("hold"),
    cause: byTransition("releaseHold"),
  },
  { type: "order.shipmentCreated", by: "ship", prepare: testOrderAfter(), cause: byTransition("ship") },
  {
    type: "order.shipmentReturned",
    by: "returnShipment",
    prepare: testOrderAfter("ship"),
    cause: byTransition("returnShipment"),
  },
  {
    type: "order.completed",
    by: "complete",
    prepare: testOrderAfter("ship"),
    cause: byTransition("complete"),
  },
  {
    type: "product.published",
    by: "exposing a product",
    prepare: (service, own) => createProduct(service, own.merchantId),
    cause: (service, own, productId) => expose(service, own.connectionId, productId),
  },
];

describe("an event is written in the transaction of its cause", () => {
  for (const { type, by, prepare, cause } of CAUSES) {
    it(`${type} by ${by}: both or neither, and exactly once`, async () => {
      const own = await startServiceForTest();
      const ownPartner = await createPartner(own);
      const id = await prepare(own, ownPartner);
      const before = await dumpTables(own);
      await own.db.runScript(`
        create function reject() returns trigger language plpgsql as
          $$ begin raise exception 'rejected by the test'; end $$`);

      // The event cannot be written: its cause must not have happened either.
      await own.db.runScript(
        "create trigger reject before insert on events for each row execute function reject()",
      );
      await expectFailure(cause(own, ownPartner, id));
      expect(await dumpTables(own)).toEqual(before);
      await own.db.runScript("drop trigger reject on events");

      // The cause fails at the very end of its transaction, after the event was written: the event must not be
      // published.
      const table = type === "product.published" ? "exposed_products" : "orders";
      await own.db.runScript(`
        create constraint trigger reject after insert or update on ${table}
          deferrable initially deferred for each row execute function reject()`);
      await expectFailure(cause(own, ownPartner, id));
      expect(await dumpTables(own)).toEqual(before);
      await own.db.runScript(`drop trigger reject on ${table}`);

      const { status, body } = await cause(own, ownPartner, id);
      expect([200, 201], JSON.stringify(body)).toContain(status);
      const events = await readEvents(own);
      expect(events).toHaveLength((before["events"] ?? []).length + 1);
      expect(events.at(-1)).toMatchObject({ type, connectionId: ownPartner.connectionId });
    });
  }

  it("covers the specification's eight events", () => {
    expect(new Set(CAUSES.map(({ type }) => type)).size).toBe(8);
  });

  async function expectFailure(answer: Promise<Answer>): Promise<void> {
    const { status, body } = await answer;
    expect(status).toBe(500);
    expect(body.type).toMatch(/\/internal-error$/);
    expect(JSON.stringify(body)).not.toMatch(/rejected by the test|events|trigger/);
  }

  it("an order whose event cannot be stored does not fail the orders that are placed together with it", async () => {
    const own = await startServiceForTest();
    const ownPartner = await createPartner(own);
    await own.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
      create trigger reject before insert on events for each row
        when (new.body like '%"externalOrderId":"poison"%') execute function reject()`);
    const place = (externalOrderId: string) =>
      ownPartner.client.post("/v1/orders", anOrder(ownPartner, { externalOrderId }));
    const names = [...Array.from({ length: 10 }, (_, index) => `sound-${index}`), "poison"];
    const answers = await Promise.all(names.map(place));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(201), 500]);
    expect((await ownPartner.client.get("/v1/orders/poison")).status).toBe(404);
    expect(typesOf(await readEvents(own)).filter((type) => type === "order.created")).toHaveLength(10);
  });
});

describe("what is no cause publishes nothing", () => {
  it.each<[string, (id: string) => Promise<Answer>]>([
    ["a read", (id) => partner.client.get(`/v1/orders/${id}`)],
    ["the list of products", () => partner.client.get("/v1/products")],
    ["an unknown order", () => partner.client.post("/v1/orders/none/cancel")],
    ["a rejected transition", (id) => transition(partner, id, "complete")],
    ["a rejected order", () => partner.client.post("/v1/orders", anOrder(partner, { lines: [] }))],
    ["process", (id) => transition(partner, id, "process")],
    ["accept", (id) => transition(partner, id, "accept")],
    ["releaseHold without a hold", (id) => transition(partner, id, "releaseHold")],
  ])("%s", async (_title, ask) => {
    const { id } = await placeTestOrder(partner);
    const before = await readEvents(test);
    await ask(id);
    expect(await readEvents(test)).toEqual(before);
  });

  it("a replay, however often and however many at once", async () => {
    const order = anOrder(partner);
    const send = () => partner.client.post("/v1/orders", order);
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    answers.push(await send());
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(typesOf(await eventsOf(test, answers[0]?.body.id))).toEqual(["order.created"]);
  });

  it("cancels again, however many at once", async () => {
    const { id } = await placeOrder(partner);
    const cancel = () => partner.client.post(`/v1/orders/${id}/cancel`);
    const answers = await Promise.all(Array.from({ length: 20 }, cancel));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created", "order.canceled"]);
  });
});

describe("the body", () => {
  it("is stored as text, so that nothing reorders what is signed", async () => {
    const [column] = await test.db.query<{ type: string }>({
      name: "test-body-type",
      text: "select data_type as type from information_schema.columns where table_name = 'events' and column_name = 'body'",
      values: [],
    });
    expect(column?.type).toBe("text");
    const [row] = await test.db.query<{ body: string }>({
      name: "test-a-body",
      text: "select body from events limit 1",
      values: [],
    });
    const members = ["id", "type", "timestamp", "testMode", "connectionId", "sequence", "data"];
    expect(Object.keys(JSON.parse(row?.body ?? ""))).toEqual(members);
  });

  it("is frozen when the event happens: later changes of order and product do not reach it", async () => {
    const productId = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const lines = [{ productId, quantity: 1 }];
    const { id } = await placeTestOrder(partner, { lines });
    await applied(partner, id, "hold");
    const before = (await dumpTables(test))["events"] ?? [];
    test.clock.advance({ minutes: 1 });
    const change = { name: "Renamed", sku: "NEW", status: "discontinued" };
    await test.backOffice.request("PATCH", `/api/products/${productId}`, { body: change });
    for (const name of ["releaseHold", "ship", "complete", "returnShipment"])
      await applied(partner, id, name);
    const after = (await dumpTables(test))["events"] ?? [];
    expect(after).toHaveLength(before.length + 4);
    expect(after).toEqual(expect.arrayContaining(before));
  });

  it("agrees with the columns beside it", async () => {
    await placeOrder(partner);
    const { id } = await placeTestOrder(partner);
    for (const name of ["hold", "cancel"]) await applied(partner, id, name);
    const rows = await test.db.query<Record<string, string>>({
      name: "test-columns",
      text: "select connection_id, id, type, order_id, sequence, body from events",
      values: [],
    });
    expect(rows.length).toBeGreaterThanOrEqual(6); // With the products of the partner.
    for (const row of rows) {
      const event = JSON.parse(row["body"] ?? "");
      expect(fromTypeId("con", event.connectionId)).toBe(row["connection_id"]);
      expect(fromTypeId("evt", event.id)).toBe(row["id"]);
      expect(event.type).toBe(row["type"]);
      expect(event.sequence).toBe(row["sequence"]);
      const orderId = event.data.order?.id ?? null;
      const uuid = orderId === null ? null : fromTypeId(orderId.split("_")[0], orderId);
      expect(uuid).toBe(row["order_id"]);
    }
  });

  it("holds text of any script unchanged", async () => {
    const name = `Zoë "Ω" \\ 龍 🦊 ${"\u2028"} </script>`;
    const shippingAddress = { ...anOrder(partner).shippingAddress, firstName: name };
    const { id } = await placeOrder(partner, { shippingAddress });
    const [event] = await eventsOf(test, id);
    expect(event.data.order.shippingAddress.firstName).toBe(name);
    expect(event.data.order).toEqual(await readOrder(partner, id));
  });
});

describe("sequence", () => {
  it("counts 1, 2, 3 … per order, and ids sort as the events happened", async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, () => placeTestOrder(partner)));
    for (const name of ["hold", "hold", "releaseHold", "ship", "complete", "returnShipment"])
      await Promise.all(orders.map(({ id }) => applied(partner, id, name)));
    for (const { id } of orders) {
      const events = await eventsOf(test, id);
      expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(events.map((event) => event.id)).toEqual(events.map((event) => event.id).sort());
    }
  });
});
