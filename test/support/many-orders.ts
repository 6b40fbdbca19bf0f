import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "./builders.ts";
import type { TestService } from "./test-service.ts";

/** Copies the only order of a connection until it has `count` of them. */
export async function copyOrder(test: TestService, { connectionId }: Partner, count: number): Promise<void> {
  await test.db.runScript(`
    insert into orders
    select (jsonb_populate_record(o, jsonb_build_object(
             'id', gen_random_uuid(), 'idempotency_key', 'copy ' || n, 'external_order_id', 'copy ' || n))).*
    from orders o, generate_series(2, ${count}) n
    where o.connection_id = '${fromTypeId("con", connectionId)}'`);
}

/** Partners of a merchant each, with a number of orders each, placed in turn; returns the partners. */
export async function createSmallPartners(
  test: TestService,
  count: number,
  ordersOfEach: number,
): Promise<Partner[]> {
  const partners = await Promise.all(Array.from({ length: count }, () => createPartner(test)));
  for (let order = 0; order < ordersOfEach; order += 1)
    await Promise.all(partners.map((partner) => placeOrder(partner)));
  return partners;
}
