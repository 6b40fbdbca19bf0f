import { createPartner, type Partner, placeOrder } from "./builders.ts";
import { acceptAll, createFacility, routeAll } from "./facilities.ts";
import { startServiceForTest, type TestService } from "./test-service.ts";

/** A service with a partner, and a facility that ships its orders. */
export type Warehouse = {
  readonly test: TestService;
  readonly partner: Partner;
  /** The id of the facility. */
  readonly facility: string;
  /** Places orders, which can be shipped then. Returns their ids, oldest first. */
  placeReady(count: number, of?: Partner): Promise<string[]>;
};

/** Closed with the test. */
export async function startWarehouse(): Promise<Warehouse> {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const facility = await createFacility(test);

  async function placeReady(count: number, of = partner): Promise<string[]> {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) {
      test.clock.advance({ ms: 1 });
      ids.push((await placeOrder(of)).id);
    }
    await acceptAll(test);
    await routeAll(test);
    return ids;
  }
  return { test, partner, facility, placeReady };
}
