import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, anOrder, createPartner, type Partner } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem, readStoredOrders } from "../support/orders.ts";
import { type Answer, startServiceForTest } from "../support/test-service.ts";
import { startTwoServices, type TwoServices, tally, times } from "../support/two-services.ts";

// See docs/design/creating-orders.md, "Constraints decide". Real processes are in process-races.test.ts.

let services: TwoServices;
let partner: Partner;
beforeAll(async () => {
  services = await startTwoServices();
});
beforeEach(async () => {
  partner = await services.nextPartner();
});
afterAll(() => services.close());

/** Sends all requests at once, alternating between the services. */
function sendAll(requests: readonly { body: object; key?: string }[], by = partner): Promise<Answer[]> {
  const clients = [by.client, services.second.partner(by.key)];
  return Promise.all(
    requests.map(({ body, key }, index) => {
      const headers = key === undefined ? {} : { "idempotency-key": key };
      return (clients[index % 2] as Partner["client"]).post("/v1/orders", body, { headers });
    }),
  );
}

const createdIn = (answers: readonly Answer[]) => answers.find(({ status }) => status === 201)?.body;

describe("creations at the same time", () => {
  it.each([
    ["externalOrderId", "race", undefined],
    ["Idempotency-Key", undefined, "race"],
  ])(
    "fifty of the same request, by %s: one creates, the others replay it",
    async (_, externalOrderId, key) => {
      const body = anOrder(partner, { externalOrderId });
      const answers = await sendAll(times(50, () => ({ body, ...(key && { key }) })));
      expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
      const created = createdIn(answers);
      for (const answer of answers) expect(answer.body).toEqual(created);
      expect(await readStoredOrders(services.first, partner)).toMatchObject([
        { id: created.id, lines: 1, events: ["order.created"] },
      ]);
    },
  );

  it("new orders and repeated ones in one group: only stored orders have lines, events, charges and payments", async () => {
    const known = times(10, (n) => ({ body: anOrder(partner, { externalOrderId: `known-${n}` }) }));
    await sendAll(known);
    const fresh = times(10, (n) => ({ body: anOrder(partner, { externalOrderId: `fresh-${n}` }) }));
    expect(tally(await sendAll([...known, ...fresh]))).toEqual({ 200: 10, 201: 10 });
    // No foreign key shows a row without its order (docs/design/database.md, "Foreign keys").
    const [without] = await services.first.context.db.query({
      name: "test-rows-without-orders",
      text: ["order_lines", "events", "ledger_entries", "due_payments"]
        .map(
          (table) => `(select count(*)::integer from ${table} r where r.order_id is not null and not exists (
            select from orders o where o.merchant_id = r.merchant_id and o.id = r.order_id)) as ${table}`,
        )
        .join(", ")
        .replace(/^/, "select "),
      values: [],
    });
    expect(without).toEqual({ order_lines: 0, events: 0, ledger_entries: 0, due_payments: 0 });
  });

  it("fifty with one externalOrderId under different keys: one creates, the others get its id", async () => {
    const body = anOrder(partner, { externalOrderId: "race" });
    const answers = await sendAll(times(50, (n) => ({ body, key: `key-${n}` })));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
    const members = { orderId: createdIn(answers).id, externalOrderId: "race" };
    for (const answer of answers.filter(({ status }) => status === 409))
      expectProblem(answer, 409, "order-already-exists", members);
    expect(await readStoredOrders(services.first, partner)).toMatchObject([{ events: ["order.created"] }]);
  });

  it("fifty different requests under one key: one creates, the others are rejected", async () => {
    const answers = await sendAll(times(50, () => ({ body: anOrder(partner), key: "race" })));
    expect(tally(answers)).toEqual({ 201: 1, 422: 49 });
    const { id, externalOrderId } = createdIn(answers);
    const members = { orderId: id, differences: ["/externalOrderId"] };
    for (const answer of answers.filter(({ status }) => status === 422))
      expectProblem(answer, 422, "idempotency-key-reused", members);
    expect(await readStoredOrders(services.first, partner)).toMatchObject([
      { id, externalOrderId, events: ["order.created"] },
    ]);
  });

  it("two hundred different orders: each gets the response to its own request", async () => {
    const bodies = times(200, (n) =>
      anOrder(partner, { lines: [{ productId: partner.productIds[n % 2], quantity: n + 1 }] }),
    );
    const answers = await sendAll(bodies.map((body) => ({ body })));
    answers.forEach(({ status, body }, n) => {
      const { externalOrderId, lines } = bodies[n] as (typeof bodies)[number];
      expect({ status, externalOrderId: body.externalOrderId, lines: body.lines }).toEqual({
        status: 201,
        externalOrderId,
        lines,
      });
    });
    const stored = await readStoredOrders(services.first, partner);
    expect(stored.map(({ id }) => id).sort()).toEqual(answers.map(({ body }) => body.id).sort());
    for (const order of stored) expect(order).toMatchObject({ lines: 1, events: ["order.created"] });
  });

  it("one of each kind: each outcome goes to its own request", async () => {
    const earlier = anOrder(partner);
    await sendAll([{ body: earlier, key: "earlier" }]);
    const unknown = { lines: [{ productId: "00000000-0000-7000-8000-000000000000", quantity: 1 }] };
    const kinds = [
      { body: earlier, key: "earlier", status: 200 },
      { body: anOrder(partner), key: "earlier", status: 422, code: "idempotency-key-reused" },
      { body: earlier, key: "other", status: 409, code: "order-already-exists" },
      { body: anOrder(partner, unknown), status: 422, code: "validation-failed" },
      { body: anOrder(partner), status: 201 },
    ];
    const requests = kinds.flatMap((kind) => [kind, kind]); // One for each service.
    const answers = await sendAll(requests);
    answers.slice(0, 8).forEach(({ status, body }, n) => {
      expect([status, body.type?.split("/").at(-1)]).toEqual([requests[n]?.status, requests[n]?.code]);
    });
    expect(
      answers
        .slice(8)
        .map(({ status }) => status)
        .sort(),
    ).toEqual([200, 201]);
    expect(await readStoredOrders(services.first, partner)).toHaveLength(2);
  });

  it("the same key and external id on ten connections: ten orders", async () => {
    const partners = await Promise.all(times(10, () => createPartner(services.first)));
    const answers = await Promise.all(
      partners.map((by) =>
        sendAll(
          times(4, () => ({ body: anOrder(by, { externalOrderId: "race" }), key: "race" })),
          by,
        ),
      ),
    );
    for (const [index, by] of partners.entries()) {
      expect(tally(answers[index] ?? [])).toEqual({ 200: 3, 201: 1 });
      expect(await readStoredOrders(services.first, by)).toHaveLength(1);
    }
  });

  it("keys in one order and external ids in the reverse order, so that locks cross: each external id goes to one order, and no request fails", async () => {
    const forwards = times(40, (n) => ({ key: `a-${String(n).padStart(2, "0")}`, external: `race-${n}` }));
    const backwards = times(40, (n) => ({
      key: `b-${String(n).padStart(2, "0")}`,
      external: `race-${39 - n}`,
    }));
    const claims = forwards.flatMap((claim, n) => [claim, backwards[n] ?? claim]);
    const answers = await sendAll(
      claims.map(({ key, external }) => ({ key, body: anOrder(partner, { externalOrderId: external }) })),
    );
    expect(tally(answers)).toEqual({ 201: 40, 409: 40 });
    expect(await readStoredOrders(services.first, partner)).toHaveLength(40);
  });

  it("fifty of a request whose test order has just expired: its key is freed once", async () => {
    const body = anOrder(partner, { testMode: true });
    const [first] = await sendAll([{ body }]);
    services.first.clock.advance({ hours: 2 });
    services.second.clock.advance({ hours: 2 });
    const answers = await sendAll(times(50, () => ({ body })));
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
    const { id } = createdIn(answers);
    expect(id).not.toBe(first?.body.id);
    for (const answer of answers) expect(answer.body.id).toBe(id);
    await runJob(services.first, "erase-test-orders");
    expect(await readStoredOrders(services.first, partner)).toMatchObject([
      { id, events: ["order.created"] },
    ]);
  });
});

describe("creations that arrive together, one of which cannot be stored", () => {
  it.each([
    [
      "by a constraint",
      "alter table order_requests add constraint doom check (last_name <> 'Doomed')",
      "alter table order_requests drop constraint doom",
    ],
    [
      "by an error of its own",
      `create function doom() returns trigger language plpgsql as $$ begin raise exception 'doom'; end $$;
       create trigger doom before insert on order_requests for each row when (new.last_name = 'Doomed') execute function doom()`,
      "drop trigger doom on order_requests",
    ],
  ])("%s: it fails alone, with 500, and the others are stored", async (_, forbid, allow) => {
    const alone = await startServiceForTest();
    const by = await createPartner(alone);
    await alone.db.runScript(forbid);
    const bodies = times(20, (n) =>
      anOrder(by, n === 7 ? { shippingAddress: anAddress({ lastName: "Doomed" }) } : {}),
    );
    const create = () => Promise.all(bodies.map((body) => by.client.post("/v1/orders", body)));

    const answers = await create();
    expect(tally(answers)).toEqual({ 201: 19, 500: 1 });
    expectProblem(answers[7] as Answer, 500, "internal-error");
    expect(JSON.stringify(answers[7]?.body)).not.toMatch(/doom/i);
    const stored = await readStoredOrders(alone, by);
    expect(stored).toHaveLength(19);
    for (const order of stored) expect(order).toMatchObject({ lines: 1, events: ["order.created"] });

    await alone.db.runScript(allow);
    expect(tally(await create())).toEqual({ 200: 19, 201: 1 });
    expect(await readStoredOrders(alone, by)).toHaveLength(20);
  });
});
