import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "./builders.ts";
import type { TestService } from "./test-service.ts";

type Copies = {
  /** Which orders `o` are copied. */
  readonly of: string;
  /** The numbers `n` of the copies of each. */
  readonly from?: number;
  readonly to: number;
  /** The id of a copy. */
  readonly id?: string;
  /** Its key and external id. */
  readonly name?: string;
  /** Further values of the copy's row of orders, as arguments of `jsonb_build_object`. */
  readonly change?: string;
};

/** A script that stores copies of orders, without their lines, which no search finds by words. */
export const copyScript = ({
  of,
  from = 1,
  to,
  id = "md5(o.id::text || n)::uuid",
  name = "'copy ' || n",
  change = "",
}: Copies): string => `
    insert into order_requests
    select (jsonb_populate_record(r, jsonb_build_object(
             'order_id', ${id}, 'idempotency_key', ${name}, 'external_order_id', ${name}, 'words', null))).*
    from orders o
    join order_requests r on r.merchant_id = o.merchant_id and r.order_id = o.id
    cross join generate_series(${from}, ${to}) n
    where ${of};
    insert into orders
    select (jsonb_populate_record(o, jsonb_build_object('id', ${id}${change && `, ${change}`}))).*
    from orders o, generate_series(${from}, ${to}) n
    where ${of};`;

/** Copies the only order of a connection until it has `count` of them. */
export const copyOrder = (test: TestService, partner: Partner, count: number): Promise<void> =>
  test.db.runScript(
    copyScript({ of: `o.connection_id = '${fromTypeId("con", partner.connectionId)}'`, from: 2, to: count }),
  );

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
