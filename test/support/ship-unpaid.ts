import { createPartner, type Partner, placeOrder } from "./builders.ts";
import { acceptAll, createFacility, routeAll } from "./facilities.ts";
import { processDuePayments, setCreditLimit } from "./payments.ts";
import { operationApplied } from "./real-orders.ts";
import type { TestService } from "./test-service.ts";

/** An order that has left whole before its shipping was declined; its goods, of EUR 10, are paid for. */
export async function shipUnpaid(test: TestService): Promise<{ partner: Partner; id: string }> {
  const partner = await createPartner(test);
  await createFacility(test);
  await setCreditLimit(test, partner, 1_000n);
  const { id } = await placeOrder(partner);
  await processDuePayments(test);
  await acceptAll(test);
  await routeAll(test);
  await operationApplied(test, id, "ship");
  await processDuePayments(test);
  return { partner, id };
}
