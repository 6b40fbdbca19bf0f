import { describe, expect, it } from "vitest";
import { liveOrders } from "../../../web/src/pages/orders/live-orders.ts";

const SHOWN = "ord_01m7y7np16fe68bxp4h91tdm00";
const NEWER = "ord_01m7y7np16fe68bxp4h91tdm01";
const OLDER = "ord_01m7y7np16fe68bxp4h91tdm0";
const rows = [{ id: SHOWN }] as never; // The rule reads their ids alone.
const updateOf = (...ids: string[]) => ({
  orders: ids.map((id) => ({ id, connectionId: "con_1", merchantId: "mer_1" })),
  deliveriesOf: [],
});
const effect = (filters: object, ...ids: string[]) => liveOrders(filters).effectOf(updateOf(...ids), rows);

describe("an update of the list of orders", () => {
  it("counts an order that is newer than the list, and reads nothing for it", () =>
    expect(effect({}, NEWER)).toEqual({ isChanged: false, newKeys: [NEWER] }));

  it("reads if an order of the list has changed", () =>
    expect(effect({}, SHOWN)).toEqual({ isChanged: true, newKeys: [] }));

  it("does nothing for an order of a later page", () =>
    expect(effect({}, OLDER)).toEqual({ isChanged: false, newKeys: [] }));

  it("leaves out test orders, and orders of other connections and merchants", () => {
    const nothing = { isChanged: false, newKeys: [] };
    expect(effect({}, NEWER.replace("ord", "test"))).toEqual(nothing);
    expect(effect({ testMode: true }, NEWER)).toEqual(nothing);
    expect(effect({ connectionId: "con_2" }, NEWER)).toEqual(nothing);
    expect(effect({ merchantId: "mer_2" }, NEWER)).toEqual(nothing);
    expect(effect({ connectionId: "con_1", merchantId: "mer_1" }, NEWER).newKeys).toEqual([NEWER]);
  });

  it("reads for any order if a filter decides which are new, but not on a further page", () => {
    expect(effect({ status: "NEW" }, NEWER)).toEqual({ isChanged: true, newKeys: [] });
    expect(effect({ cursor: "x" }, NEWER)).toEqual({ isChanged: false, newKeys: [] });
    expect(effect({ cursor: "x" }, SHOWN).isChanged).toBe(true);
  });
});
