import { expect, it } from "vitest";
import { openDatabase } from "../../src/platform/database/database.ts";
import { anOrder, createPartner, type Partner } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

/** Few orders of each, so that they surely are in one group. */
const ORDERS_EACH = 5;

/** The pools of the service, except that a group may take less time, so that the test need not wait for it. */
const startService = (): Promise<TestService> =>
  startServiceForTest({
    partnerPools: (url) => {
      const open = (connectionsMax: number, limits: object) =>
        openDatabase({ url, connectionsMax, onIdleError: () => undefined, ...limits });
      return {
        calls: open(14, { statementTimeoutMs: 10_000 }),
        creations: open(2, { statementTimeoutMs: 500, lockTimeoutMs: 100 }),
        lists: open(6, { statementTimeoutMs: 2_000 }),
      };
    },
  });

const placeSome = (partner: Partner, fields: object = {}) =>
  Promise.all(
    Array.from({ length: ORDERS_EACH }, async () => {
      const { status } = await partner.client.post("/v1/orders", anOrder(partner, fields));
      return status;
    }),
  );

const allCreated = Array.from({ length: ORDERS_EACH }, () => 201);

/** Does something for each new order to this city, in the statement that stores it. */
const whenStored = (test: TestService, city: string, action: string): Promise<void> =>
  test.db.runScript(`
    create function act() returns trigger language plpgsql as $$ begin ${action}; return new; end $$;
    create trigger act before insert on order_requests for each row when (new.city = '${city}') execute function act()`);

const to = (city: string) => ({ shippingAddress: { ...addressOfNobody, city } });
const addressOfNobody = { firstName: "A", lastName: "B", address1: "C", zip: "1", countryCode: "GB" };

it("an order that waits for a lock delays no order of another connection", async () => {
  const test = await startService();
  const [locked, other] = [await createPartner(test), await createPartner(test)];
  let waiting: Promise<number[]> = Promise.resolve([]);
  await test.db.transaction(async (tx) => {
    const { merchantId, connectionId } = connectionKey(locked);
    await tx.query({
      name: "test-lock-connection",
      text: "select id from connections where merchant_id = $1 and id = $2 for update",
      values: [merchantId, connectionId],
    });
    waiting = placeSome(locked);
    expect(await placeSome(other)).toEqual(allCreated); // They return while the lock is held.
    expect(await placeSome(other)).toEqual(allCreated);
  });
  expect(await waiting).toEqual(allCreated);
});

it("an order that takes longer than a group may is placed alone, and fails no other", async () => {
  const test = await startService();
  const [slow, other] = [await createPartner(test), await createPartner(test)];
  await whenStored(test, "Slow", "perform pg_sleep(0.6)");
  const [slowOrder, others] = await Promise.all([
    slow.client.post("/v1/orders", anOrder(slow, to("Slow"))),
    placeSome(other),
  ]);
  expect(others).toEqual(allCreated);
  expect(slowOrder.status).toBe(201);
});

it("an order that cannot be stored fails alone", async () => {
  const test = await startService();
  const [faulty, other] = [await createPartner(test), await createPartner(test)];
  await whenStored(test, "Nowhere", "raise exception 'refused'");
  const [refused, others] = await Promise.all([placeSome(faulty, to("Nowhere")), placeSome(other)]);
  expect(others).toEqual(allCreated);
  expect(refused).toEqual(allCreated.map(() => 500));
});
