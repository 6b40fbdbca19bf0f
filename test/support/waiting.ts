import { expect } from "vitest";
import { createPartner, type Partner, placeOrder } from "./builders.ts";
import { acceptAll, createFacility, readRoutes, routeAll, setStock } from "./facilities.ts";
import { readOrder } from "./orders.ts";
import { startServiceForTest, type TestService } from "./test-service.ts";

/** A partner, one of its products, and a facility that ships it to GB, for a single test. */
export type WaitingRoom = {
  test: TestService;
  partner: Partner;
  product: string;
  facility: string;
  /** Places an order of the product, a second after the one before; returns its id. */
  place(by: Partner, quantity?: number, fields?: object): Promise<string>;
  /** Orders that have been accepted and found no stock, oldest first. */
  placeWaiting(...quantities: number[]): Promise<string[]>;
  isRouted(...orderIds: string[]): Promise<boolean[]>;
  holdsOf(orderId: string): Promise<string[]>;
};

export async function openWaitingRoom(): Promise<WaitingRoom> {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const [product] = partner.productIds;
  const facility = await createFacility(test);
  const place: WaitingRoom["place"] = async (by, quantity = 1, fields = {}) => {
    test.clock.advance({ seconds: 1 });
    return (await placeOrder(by, { lines: [{ productId: product, quantity }], ...fields })).id;
  };
  const isRouted: WaitingRoom["isRouted"] = async (...ids) =>
    (await readRoutes(test, ids)).map(({ routedAt }) => routedAt !== null);
  return {
    test,
    partner,
    product,
    facility,
    place,
    isRouted,
    async placeWaiting(...quantities) {
      await setStock(test, facility, product, 0);
      const ids: string[] = [];
      for (const quantity of quantities) ids.push(await place(partner, quantity));
      await acceptAll(test);
      await routeAll(test);
      expect(await isRouted(...ids)).toEqual(ids.map(() => false));
      return ids;
    },
    holdsOf: async (id) => (await readOrder(partner, id)).onHoldReasons,
  };
}
