import { expect, it } from "vitest";
import { orderText } from "../../../src/orders/order-wire.ts";
import type { VersionedOrder } from "../../../src/orders/orders-sql.ts";
import { KnownOrders } from "../../../src/orders/reading/read-order.ts";
import { anOrder } from "../../support/lifecycle-orders.ts";

const MINUTE_MS = 60_000;

const read = (id: string) => ({
  order: anOrder({ id, note: null, metadata: {}, createdAt: new Date(0), updatedAt: new Date(0) }),
  version: { writtenBy: "1", updatedAt: "1970-01-01T00:00:00+00:00" },
});
const [a, b, c] = ["a", "b", "c"].map((end) => `00000000-0000-7000-8000-00000000000${end}`) as [
  string,
  string,
  string,
];

const idsOf = (known: readonly VersionedOrder[]) => known.map(({ order }) => order.id);

it("an order is known for ten minutes after it was read", () => {
  let nowMs = 0;
  const known = new KnownOrders(() => nowMs);
  known.keep(read(a));
  nowMs = 10 * MINUTE_MS - 1;
  expect(idsOf(known.among([a, b]))).toEqual([a]);
  nowMs += 1;
  expect(known.among([a])).toEqual([]);
  known.keep(read(a));
  expect(idsOf(known.among([a]))).toEqual([a]);
});

it("the orders that were read first are forgotten when all of them are too long, however often one was read", () => {
  const { length } = orderText(read(a).order);
  const known = new KnownOrders(() => 0, 2 * length);
  for (const id of [a, b, b, a]) known.keep(read(id));
  expect(idsOf(known.among([a, b]))).toEqual([a, b]);
  known.keep(read(c));
  expect(idsOf(known.among([a, b, c]))).toEqual([a, c]);
});
