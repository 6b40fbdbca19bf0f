import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Locks an owner of endpoints until the transaction ends. The caller knows that it exists: none is ever deleted. */
export async function lockOwner(tx: Queryable, { merchantId, connectionId }: ConnectionKey): Promise<void> {
  await tx.query({
    name: "lock-webhook-owner",
    text: `
      insert into webhook_owners (merchant_id, connection_id)
      values ($1, $2)
      on conflict (merchant_id, connection_id) do update
        set last_endpoint_number = webhook_owners.last_endpoint_number`,
    values: [merchantId, connectionId],
  });
}

/**
 * The number for a new endpoint of an owner that this transaction has locked. No number is given twice, also after the
 * endpoint has been removed (docs/design/deliveries.md, "Delivery ids").
 */
export async function takeEndpointNumber(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<number> {
  const [row] = await tx.query<{ last_endpoint_number: number }>({
    name: "take-endpoint-number",
    text: `
      update webhook_owners
      set last_endpoint_number = last_endpoint_number + 1
      where merchant_id = $1 and connection_id = $2
      returning last_endpoint_number`,
    values: [merchantId, connectionId],
  });
  if (row === undefined) throw new Error("The locked owner is gone.");
  return row.last_endpoint_number;
}
