import { isDeepStrictEqual } from "node:util";
import { MADE_PARTS, readMadeParts, setMadeParts } from "../../audit/made-parts-sql.ts";
import { type LockMaker, NO_MAKER } from "../../audit/maker.ts";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { endOfChanges } from "../../changes/read-changes.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { limitReached, maximumOf } from "../../merchants/limits.ts";
import { lockCounts, readMerchantMaximum } from "../../merchants/merchants-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { eachUntilDone, runInTurn } from "../../platform/run-in-turn.ts";
import { before, HOUR_MS } from "../../platform/time.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import {
  isProblem,
  type Problem,
  requireRecentAuthentication,
  validationFailed,
} from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { ownerKind } from "../owner.ts";
import { requestClearing } from "./clearings.ts";
import {
  auditedSettings,
  type Endpoint,
  type EndpointKey,
  type EndpointSettings,
  endpointFact,
  type NewEndpoint,
} from "./endpoint.ts";
import {
  countEndpoints,
  countEndpointsOfMerchant,
  countEndpointsSince,
  insertEndpoint,
  listConnectionsWithDeletedEndpoints,
  lockEndpoint,
  markEndpointDeleted,
  removeDeletedPage,
  updateEndpointSettings,
} from "./endpoints-sql.ts";
import { deleteAllKnownLow, lockOwner, saveChangesFrom, takeEndpointNumber } from "./owners-sql.ts";
import { deleteSecrets, issueSecret } from "./secrets.ts";
import { keepsStored, NO_HEADERS, replaceHeaders } from "./static-headers.ts";

/**
 * Registers an endpoint. Returns its signing secret, this once; it is stored encrypted. The row of the owner and the counts
 * of the merchant are locked, so that concurrent creations get different numbers and cannot exceed the limits.
 */
export async function createEndpoint(
  context: WebhookContext,
  owner: ConnectionKey,
  settings: NewEndpoint,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<{ endpoint: Endpoint; secret: string } | Problem> {
  const { clock, newId, secrets } = context;
  requireRecentAuthentication(by);
  const changesFrom = ownerKind(owner) === "connection" ? null : await endOfChanges(context);
  return inTransaction(context, async (tx) => {
    await lockOwner(tx, owner);
    const now = clock.now();
    const reached = await reachedLimit(tx, { ...owner, mode: settings.mode }, now);
    if (reached !== null) return reached;
    const maker = await lockMaker(tx);
    if (isProblem(maker)) return maker;
    const id = newId();
    const headers = replaceHeaders(secrets, id, NO_HEADERS, settings.headers);
    if (isProblem(headers)) return headers;
    const endpoint: Endpoint = {
      ...settings,
      ...owner,
      headers,
      id,
      number: await takeEndpointNumber(tx, owner),
      status: "active",
      pauseReason: null,
      pausedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    if (changesFrom !== null && (await countEndpoints(tx, owner, "live", 1)) === 0) {
      await saveChangesFrom(tx, owner, changesFrom);
      await deleteAllKnownLow(tx, owner); // It may have risen since the last endpoint was deleted.
    }
    await insertEndpoint(tx, endpoint);
    const secret = await issueSecret(tx, context, endpoint, now);
    await setMadeParts(tx, endpoint, endpoint.kind === "pull" ? ["secret"] : MADE_PARTS, maker);
    await recordAudit(tx, context, by, endpointFact(endpoint, auditedSettings(settings)));
    return { endpoint, secret };
  });
}

/**
 * The limits are exact, because owner and counts are locked. A merchant or a facility has as many endpoints of its own as a
 * connection; those of the merchant count among all of it. Each mode has its own, so that a test key cannot use up those of
 * the endpoints in production.
 */
async function reachedLimit(
  tx: Queryable,
  { mode, ...owner }: ConnectionKey & Pick<Endpoint, "mode">,
  now: Date,
): Promise<Problem | null> {
  const overrides = (await readLimitOverrides(tx, [owner]))(owner);
  const limit = mode === "test" ? "testEndpoints" : "endpoints";
  const endpointsMax = maximumOf(overrides, limit);
  if ((await countEndpoints(tx, owner, mode, endpointsMax)) >= endpointsMax)
    return limitReached(limit, endpointsMax);
  const creationsMax = maximumOf(overrides, "endpointCreationsPerHour");
  const lastHour = { mode, since: before(now, HOUR_MS) };
  const created = await countEndpointsSince(tx, owner, lastHour, creationsMax);
  if (created >= creationsMax) return limitReached("endpointCreationsPerHour", creationsMax);
  if (ownerKind(owner) === "facility") return null;
  const { merchantId } = owner;
  await lockCounts(tx, merchantId);
  const ofMerchant = mode === "test" ? "merchantTestEndpoints" : "merchantEndpoints";
  const ofMerchantMax = (await readMerchantMaximum(tx, [merchantId], ofMerchant))(merchantId);
  return (await countEndpointsOfMerchant(tx, merchantId, mode, ofMerchantMax)) >= ofMerchantMax
    ? limitReached(ofMerchant, ofMerchantMax)
    : null;
}

/**
 * Changes the given settings. An address, with its headers, belongs to the caller who sets it. A caller without a token takes it over also if it is the same
 * (docs/design/people.md, "What a token makes"). Null when there is no such endpoint.
 */
export async function changeEndpoint(
  context: WebhookContext,
  key: EndpointKey,
  change: Partial<EndpointSettings>,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<Endpoint | Problem | null> {
  const changed = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const ofPush = (["url", "headers"] as const).filter((field) => change[field] !== undefined);
    if (endpoint.kind === "pull" && ofPush.length > 0)
      return validationFailed(ofPush.map((field) => ({ pointer: `/${field}`, rule: "push_endpoint" })));
    if (leavesOrigin(endpoint, change) && keepsStored(endpoint.headers, change.headers))
      return validationFailed([{ pointer: "/headers", rule: "headers_of_origin" }]);
    const headers = replaceHeaders(context.secrets, key.id, endpoint.headers, change.headers ?? null);
    if (isProblem(headers)) return headers;
    const wanted: Endpoint = { ...endpoint, ...change, headers };
    const isMoved = wanted.url !== endpoint.url || headers !== endpoint.headers;
    const isTakenOver = change.url !== undefined && !isMoved && (await takesOver(tx, endpoint, lockMaker));
    if (isDeepStrictEqual(wanted, endpoint) && !isTakenOver) return endpoint; // It leaves no entry in the audit log either.
    if (isMoved || isTakenOver) {
      requireRecentAuthentication(by);
      const maker = await lockMaker(tx);
      if (isProblem(maker)) return maker;
      await setMadeParts(tx, endpoint, ["address"], maker);
    }
    const after: Endpoint = { ...wanted, updatedAt: context.clock.now() };
    await updateEndpointSettings(tx, after, after, after.updatedAt);
    await recordAudit(tx, context, by, endpointFact(endpoint, auditedSettings(change)));
    return after;
  });
  if (changed !== null && !isProblem(changed)) context.signals.send("endpoints_changed", [key]);
  return changed;
}

/**
 * True if the new address has another scheme, host or port. A caller that may change the address must not get the secrets of the
 * receiver before (docs/design/signing.md, "Static headers").
 */
const leavesOrigin = ({ url }: Endpoint, change: Partial<EndpointSettings>): boolean =>
  url !== null && change.url != null && new URL(change.url).origin !== new URL(url).origin;

/** True if a caller without a token confirms an address that a token has set. */
async function takesOver(tx: Queryable, { id }: Endpoint, lockMaker: LockMaker): Promise<boolean> {
  const parts = await readMadeParts(tx, [id]);
  if (!parts.some(({ part }) => part === "address")) return false;
  const maker = await lockMaker(tx);
  return !isProblem(maker) && maker.tokenId === null;
}

/**
 * Deletes an endpoint. Nothing is sent to it any more, and a worker fails its pending deliveries. Its row and its deliveries
 * stay for the log (docs/design/deliveries.md, "Endpoints"). Returns false when there is no such endpoint.
 */
export async function deleteEndpoint(context: Context, key: EndpointKey, by: Initiator): Promise<boolean> {
  const deleted = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return false;
    const now = context.clock.now();
    await markEndpointDeleted(tx, endpoint, now);
    await deleteSecrets(tx, endpoint);
    await setMadeParts(tx, endpoint, MADE_PARTS, NO_MAKER);
    await requestClearing(tx, endpoint, now);
    await recordAudit(tx, context, by, endpointFact(endpoint));
    return true;
  });
  // A worker may hold deliveries that it has claimed and not sent.
  if (deleted) context.signals.send("endpoints_changed", [key]);
  return deleted;
}

/** Deleted endpoints read in one statement. */
const PAGE_SIZE = 500;

/** After this time no transaction is left that saw the endpoint before its deletion, and no attempt is in progress. */
const DELETED_AT_LEAST_MS = HOUR_MS;

/**
 * Removes deleted endpoints once nothing of their log is left: an endpoint without deliveries after an hour, all others
 * when their deliveries are purged. Returns how many it read.
 */
export async function removeDeletedEndpoints(
  { db, clock }: Context,
  stopping?: AbortSignal,
): Promise<number> {
  const deletedBefore = before(clock.now(), DELETED_AT_LEAST_MS);
  const positions = new Map<ConnectionKey, string>();
  return runInTurn(
    eachUntilDone(await listConnectionsWithDeletedEndpoints(db)),
    async (connection) => {
      const position = positions.get(connection) ?? UUID_MIN;
      const read = await removeDeletedPage(db, connection, { position, deletedBefore, limit: PAGE_SIZE });
      positions.set(connection, read.at(-1) ?? position);
      return read.length;
    },
    stopping,
  );
}
