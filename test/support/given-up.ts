import { expect } from "vitest";
import { createPartner, placeOrder } from "./builders.ts";
import { processDuePayments, readDuePayments, setCreditLimit } from "./payments.ts";
import { startServiceForTest } from "./test-service.ts";

/** Orders of EUR 10 that were declined, and that nothing is scheduled for. */
export async function givenUp(count: number) {
  const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
  const partner = await createPartner(test);
  await setCreditLimit(test, partner, 0n);
  const ids: string[] = [];
  for (let placed = 0; placed < count; placed += 1) {
    test.clock.advance({ ms: 1 });
    ids.push((await placeOrder(partner)).id);
  }
  await processDuePayments(test);
  expect(await readDuePayments(test)).toEqual([]);
  return { test, partner, ids };
}
