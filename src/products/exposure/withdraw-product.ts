import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { endExposure } from "./exposure-sql.ts";

/** Withdraws a product from a connection. If it is not exposed, nothing changes. */
export async function withdrawProduct(
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  productId: string,
  by: Initiator,
): Promise<void> {
  const key = { merchantId, connectionId };
  await inTransaction(context, async (tx) => {
    const withdrawn = await endExposure(tx, key, productId, context.clock.now());
    if (withdrawn) await recordAudit(tx, context, by, { ...key, subject: "product", ids: [productId] });
  });
}
