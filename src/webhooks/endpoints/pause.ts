import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { countAlerts, countMailsTo, queueMails } from "../../mail/mails-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import { ownerKind } from "../owner.ts";
import {
  type Endpoint,
  type EndpointKey,
  endpointFact,
  toWireEndpoint,
  type WireEndpoint,
} from "./endpoint.ts";
import { lockEndpoint, readEndpoint } from "./endpoints-sql.ts";
import { type HealthReport, warningMail, warningToNamedAddress } from "./health.ts";
import { listPartnerEmails, pauseEndpoint, readWarningContact } from "./health-sql.ts";
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

/** Warnings that a partner's person gets about the endpoints of a connection in 24 hours, however often they are resumed. */
const WARNINGS_A_DAY_MAX = 10;

/**
 * Mails in 24 hours to addresses that endpoints name, which may be those of strangers: about an endpoint, about all endpoints of an
 * owner, and to an address about all of a merchant. Workers that warn at the same moment may go one beyond each.
 */
const ALERTS_A_DAY_MAX = { ofEndpoint: 3, ofOwner: 20, toRecipient: 10 };

/**
 * Queues mails about an endpoint that fails: to the merchant, to the partner's people of the connection, and to the address that the
 * endpoint names.
 */
export async function warn(
  tx: Queryable,
  context: Pick<Context, "newId">,
  { endpoint, health }: HealthReport,
  stage: 1 | 2 | 3,
  now: Date,
): Promise<void> {
  const contact = await readWarningContact(tx, endpoint);
  if (contact === null) return;
  const { accountEmail, alertEmail, ...named } = contact;
  const failingSince = health.failingSince ?? now;
  const facts = { stage, ...named, endpointId: endpoint.id, owner: endpoint, failingSince, now };
  const people = [
    ...(accountEmail === null ? [] : [accountEmail]),
    ...(await partnersToWarn(tx, endpoint, now)),
  ];
  const isNamed = alertEmail !== null && !people.some((email) => isSameAddress(email, alertEmail));
  const alerts = isNamed && (await mayAlert(tx, endpoint, alertEmail, now)) ? [alertEmail] : [];
  const { merchantId, connectionId } = endpoint;
  const mailTo = (recipient: string) => ({ merchantId, connectionId, id: context.newId(), recipient, now });
  await queueMails(tx, [
    ...[...new Set(people)].map((recipient) => ({ ...mailTo(recipient), ...warningMail(facts) })),
    ...alerts.map((recipient) => ({
      ...mailTo(recipient),
      ...warningToNamedAddress(facts),
      alertOf: endpoint.id,
    })),
  ]);
}

const isSameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

async function mayAlert(
  tx: Queryable,
  endpoint: EndpointKey,
  recipient: string,
  now: Date,
): Promise<boolean> {
  const sent = await countAlerts(tx, endpoint, { endpointId: endpoint.id, recipient }, before(now, DAY_MS));
  return (
    sent.ofEndpoint < ALERTS_A_DAY_MAX.ofEndpoint &&
    sent.ofOwner < ALERTS_A_DAY_MAX.ofOwner &&
    sent.toRecipient < ALERTS_A_DAY_MAX.toRecipient
  );
}

/** The mail has only what a key of the connection shows. */
async function partnersToWarn(tx: Queryable, endpoint: EndpointKey, now: Date): Promise<string[]> {
  if (ownerKind(endpoint) !== "connection") return [];
  const emails = await listPartnerEmails(tx, endpoint);
  const mailCount = await countMailsTo(tx, endpoint, emails, before(now, DAY_MS));
  return emails.filter((email) => mailCount(email) < WARNINGS_A_DAY_MAX);
}
