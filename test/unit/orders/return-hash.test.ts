import { describe, expect, it } from "vitest";
import { type ComparableReturn, hashReturnRequest } from "../../../src/orders/returns/return-request.ts";

const NOTHING: ComparableReturn = { reason: null, condition: null, restock: false, refund: null };
const FULL: ComparableReturn = {
  shipmentId: "shp_1",
  lines: [{ lineId: "line_1", quantity: 2 }],
  reason: "unwanted",
  condition: "opened",
  restock: true,
  refund: { amountMinor: 150n, reason: "returned", reference: "ticket-1", note: "Not compared" },
};
const hashOf = (request: ComparableReturn): string => hashReturnRequest(request).toString("hex");

describe("the hash of a return", () => {
  // It is stored. If it changes, a retry across an upgrade is no longer the same request.
  it("is fixed", () => {
    expect(hashOf(NOTHING)).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    expect(hashOf(FULL)).toBe("3b5359c4ac63d54ec7c3f1e57bd35dc35d0d4c935711b7db4409226fa208643d");
  });

  it("differs in everything but the note", () => {
    const { refund } = FULL;
    if (refund === null) throw new Error("There is a refund.");
    const others: Partial<ComparableReturn>[] = [
      { shipmentId: "shp_2" },
      { shipmentId: undefined },
      { lines: [{ lineId: "line_1", quantity: 3 }] },
      { lines: [{ lineId: "line_2", quantity: 2 }] },
      { lines: undefined },
      { reason: "damaged" },
      { reason: null },
      { condition: "unopened" },
      { condition: null },
      { restock: false },
      { refund: null },
      { refund: { ...refund, amountMinor: null } },
      { refund: { ...refund, amountMinor: 151n } },
      { refund: { ...refund, reason: "damaged" } },
      { refund: { ...refund, reference: "ticket-2" } },
    ];
    const hashes = [FULL, NOTHING, ...others.map((other) => ({ ...FULL, ...other }))].map(hashOf);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashOf({ ...FULL, refund: { ...refund, note: null } })).toBe(hashOf(FULL));
  });
});
