import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { addressColumns } from "./address-columns.ts";

/** Stores the addresses and routes of orders after a correction. The caller has locked the orders. */
export async function saveAddresses(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const corrected = changes.filter(({ before, after }) => before.shippingAddress !== after.shippingAddress);
  if (corrected.length === 0) return;
  await tx.query({
    name: "save-addresses",
    text: `
      update orders o
      set first_name = change.first_name, last_name = change.last_name, name = change.name, company = change.company,
          address1 = change.address1, address2 = change.address2, city = change.city, zip = change.zip,
          state_code = change.state_code, country_code = change.country_code, phone = change.phone,
          routed_at = change.routed_at, facility_id = change.facility_id,
          first_routed_at = case
            when change.routed_at is null then coalesce(o.first_routed_at, o.routed_at)
            else o.first_routed_at
          end
      from json_to_recordset($1::json) as change (
        merchant_id uuid, id uuid, first_name text, last_name text, name text, company text, address1 text, address2 text,
        city text, zip text, state_code text, country_code text, phone text, routed_at timestamptz, facility_id uuid)
      where o.merchant_id = change.merchant_id and o.id = change.id and ${amongMerchants("$2", "o.merchant_id")}`,
    values: [
      JSON.stringify(corrected.map(({ after }) => toInput(after))),
      await merchantsOf(
        tx,
        corrected.map(({ after }) => after),
      ),
    ],
  });
}

const toInput = ({ merchantId, id, shippingAddress, routedAt, facilityId }: Order) => ({
  merchant_id: merchantId,
  id,
  ...addressColumns(shippingAddress),
  routed_at: routedAt,
  facility_id: facilityId,
});
