import { expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { connectionKey, readOrder, transitionOrder } from "../support/orders.ts";
import { orderUuid, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

/** Locks an order until released. */
async function holdLock(test: TestService, partner: Partner, orderId: string): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const done = test.db.transaction(async (tx) => {
    await tx.query({
      name: "test-lock-order",
      text: "select from orders where merchant_id = $1 and id = $2 for no key update",
      values: [connectionKey(partner).merchantId, orderUuid(orderId)],
    });
    begun.resolve();
    await ending.promise;
  });
  await begun.promise;
  return () => {
    ending.resolve();
    return done;
  };
}

/** The feed of an order, as sequence numbers in the feed's order. */
async function sequencesInFeed(partner: Partner, orderId: string): Promise<number[]> {
  const { body } = await partner.client.get("/v1/events?limit=100");
  return body.data
    .filter(({ data }: { data: { order?: { id: string } } }) => data.order?.id === orderId)
    .map(({ sequence }: { sequence: number }) => sequence);
}

it("charges declined together wait for no locked order, and keep the feed in sequence", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  await setCreditLimit(test, partner, 0n);
  const [first, busy, last] = [
    await placeOrder(partner),
    await placeOrder(partner),
    await placeOrder(partner),
  ];
  const letGo = await holdLock(test, partner, busy.id);
  const settling = processDuePayments(test);
  await untilBlocked(test, 1);
  await transitionOrder(test, partner, last.id, { name: "addHold", reasons: ["merchant_request"] });
  const before = await Promise.all([first, last].map(({ id }) => readOrder(partner, id)));
  await letGo();
  expect(await settling).toBe(3);
  expect(await sequencesInFeed(partner, last.id)).toEqual([1, 2, 3]);
  expect(before.map(({ onHoldReasons }) => onHoldReasons)).toEqual([
    ["payment_failed"],
    ["payment_failed", "merchant_request"],
  ]);
  expect(await sequencesInFeed(partner, busy.id)).toEqual([1, 2]);
  expect((await readOrder(partner, busy.id)).onHoldReasons).toEqual(["payment_failed"]);
});
