import { queueMail } from "../../mail/queue-mail.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { HealthReport } from "./endpoint-health.ts";
import { readWarningContact } from "./endpoint-health-sql.ts";
import { warningMail } from "./endpoint-warnings.ts";

/** Queues a mail to the merchant about an endpoint that fails. */
export async function warnMerchant(
  tx: Queryable,
  { endpoint, health }: HealthReport,
  stage: 1 | 2 | 3,
  mail: { id: string; now: Date },
): Promise<void> {
  const contact = await readWarningContact(tx, endpoint);
  if (contact === null) return;
  const { accountEmail, ...facts } = contact;
  const { subject, body } = warningMail({
    stage,
    ...facts,
    failingSince: health.failingSince ?? mail.now,
    now: mail.now,
  });
  const { merchantId, connectionId } = endpoint;
  await queueMail(tx, { merchantId, connectionId, recipient: accountEmail, subject, body, ...mail });
}
