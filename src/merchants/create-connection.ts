import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { type Connection, keyOf } from "./connection.ts";
import { insertConnection } from "./connections-sql.ts";
import type { Merchant } from "./merchants-sql.ts";
import type { ReviewPolicy } from "./review-policy.ts";

export async function createConnection(
  context: Context,
  merchant: Merchant,
  fields: { name: string; reviewPolicy: ReviewPolicy },
  by: Initiator,
): Promise<Connection> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const connection: Connection = {
      ...fields,
      id: newId(),
      merchantId: merchant.id,
      merchantName: merchant.name,
      currency: merchant.currency,
      limits: {},
      createdAt: clock.now(),
    };
    await insertConnection(tx, connection);
    const fact = { ...keyOf(connection), subject: "con", ids: [connection.id], details: fields } as const;
    await recordAudit(tx, context, by, fact);
    return connection;
  });
}
