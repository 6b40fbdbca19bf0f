import { queueMail } from "../../mail/queue-mail.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { HealthReport } from "./endpoint-health.ts";
import { warningMail } from "./endpoint-warnings.ts";

/** Queues the warning about a failing endpoint, to the merchant whose partner misses events of its orders. */
export async function warnMerchant(
  tx: Queryable,
  { endpoint: { merchantId, connectionId, id }, health }: HealthReport,
  stage: 1 | 2 | 3,
  mail: { id: string; now: Date },
): Promise<void> {
  const [row] = await tx.query<{ url: string; connection_name: string; account_email: string }>({
    name: "read-whom-to-warn",
    text: `
      select w.url, c.name as connection_name, m.account_email
      from webhook_endpoints w
      join connections c on c.merchant_id = $1 and c.id = w.connection_id
      join merchants m on m.id = c.merchant_id
      where w.merchant_id = $1 and w.id = $2 and m.id = $1`,
    values: [merchantId, id],
  });
  if (row === undefined) return;
  const { subject, body } = warningMail({
    stage,
    endpointUrl: row.url,
    connectionName: row.connection_name,
    failingSince: health.failingSince ?? mail.now,
    now: mail.now,
  });
  await queueMail(tx, { merchantId, connectionId, recipient: row.account_email, subject, body, ...mail });
}
