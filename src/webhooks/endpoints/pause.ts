import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { queueMail } from "../../mail/mails-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import {
  type Endpoint,
  type EndpointKey,
  endpointFact,
  toWireEndpoint,
  type WireEndpoint,
} from "./endpoint.ts";
import { lockEndpoint, readEndpoint } from "./endpoints-sql.ts";
import { type HealthReport, warningMail } from "./health.ts";
import { pauseEndpoint, readWarningContact } from "./health-sql.ts";
import { readShownHealth } from "./shown-health-sql.ts";

/**
 * Pauses an endpoint because the back office requests it. Its events stay in the log, and a resume sends them. A paused
 * endpoint is returned unchanged. Null when there is no such endpoint.
 */
export async function pauseByRequest(
  context: Context,
  key: EndpointKey,
  by: Initiator,
): Promise<Endpoint | null> {
  const paused = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const isPaused = await pauseEndpoint(tx, endpoint, "requested", context.clock.now());
    if (isPaused) await recordAudit(tx, context, by, endpointFact(endpoint));
    return readEndpoint(tx, key, key.id);
  });
  // A worker may hold deliveries that it has claimed and not sent.
  if (paused !== null) context.signals.send("endpoints_changed", [key]);
  return paused;
}

/** Reads the health of endpoints. Returns a function that shows them with it. */
export async function showEndpoints(
  { db, clock }: Context,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => WireEndpoint> {
  const health = await readShownHealth(db, endpoints);
  return (endpoint) => toWireEndpoint(endpoint, health.get(endpoint.id), clock.now());
}

export const showEndpoint = async (context: Context, endpoint: Endpoint): Promise<WireEndpoint> =>
  (await showEndpoints(context, [endpoint]))(endpoint);

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
    endpointId: endpoint.id,
    owner: endpoint,
    failingSince: health.failingSince ?? mail.now,
    now: mail.now,
  });
  const { merchantId, connectionId } = endpoint;
  await queueMail(tx, { merchantId, connectionId, recipient: accountEmail, subject, body, ...mail });
}
