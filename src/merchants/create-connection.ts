import type { Context } from "../platform/context.ts";
import type { Connection } from "./connection.ts";
import { insertConnection } from "./connections-sql.ts";
import type { Merchant } from "./merchants-sql.ts";
import type { ReviewPolicy } from "./review-policy.ts";

export async function createConnection(
  { db, clock, newId }: Context,
  merchant: Merchant,
  fields: { name: string; reviewPolicy: ReviewPolicy },
): Promise<Connection> {
  const connection: Connection = {
    ...fields,
    id: newId(),
    merchantId: merchant.id,
    merchantName: merchant.name,
    currency: merchant.currency,
    limits: {},
    createdAt: clock.now(),
  };
  await insertConnection(db, connection);
  return connection;
}
