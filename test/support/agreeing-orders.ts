import { expect } from "vitest";
import type { readDetail } from "./real-orders.ts";

type Detail = Awaited<ReturnType<typeof readDetail>>;

export const minor = ({ amount }: { amount: string }): bigint => BigInt(amount.replace(".", ""));

/** What the merchant has really paid for an order: charges that succeeded, less refunds that did. */
export const paidFor = ({ charges }: Detail): bigint =>
  charges
    .filter((charge: { status: string }) => charge.status === "succeeded")
    .reduce(
      (sum: bigint, { kind, amount }: { kind: string; amount: { amount: string } }) =>
        kind === "refund" ? sum - minor(amount) : sum + minor(amount),
      0n,
    );

type Event = { type: string; sequence: number | null; data?: { order?: object } };

/** What has happened to an order was published, each fact exactly once and in sequence. */
export function expectPublishedOnce(events: readonly Event[], detail: Detail): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
  const count = (type: string) => events.filter((event) => event.type === type).length;
  const { shipments, timeline } = detail;
  expect(count("order.created")).toBe(1);
  expect(count("order.shipmentCreated")).toBe(shipments.length);
  expect(count("order.shipmentReturned")).toBe(
    shipments.filter(({ status }: { status: string }) => status === "returned").length,
  );
  for (const [type, status] of [
    ["order.canceled", "CANCELED"],
    ["order.completed", "COMPLETED"],
  ] as const)
    expect(count(type)).toBe(timeline.some((entry: { status: string }) => entry.status === status) ? 1 : 0);
  expect(events.at(-1)?.data?.order).toMatchObject({ onHold: detail.onHold });
}
