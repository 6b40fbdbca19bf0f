import { isDeepStrictEqual } from "node:util";
import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { versionChanged } from "../platform/wire/content-version.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { type Connection, keyOf, policyVersion, type ReviewPolicy } from "./connection.ts";
import {
  insertConnection,
  lockConnection,
  markConnectionEnded,
  updateConnection,
} from "./connections-sql.ts";
import { markKeysOfConnectionRevoked } from "./keys-sql.ts";
import { type ConnectionLimitName, changedOverrides, type LimitChange, limitReached } from "./limits.ts";
import { countConnections, lockCounts, type Merchant, readMerchantMaximum } from "./merchants-sql.ts";

/** The counts of the merchant are locked, so that concurrent requests cannot exceed the limit. */
export async function createConnection(
  context: Context,
  merchant: Merchant,
  fields: { name: string; reviewPolicy: ReviewPolicy },
  by: Initiator,
): Promise<Connection | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    await lockCounts(tx, merchant.id);
    const connectionsMax = (await readMerchantMaximum(tx, [merchant.id], "connections"))(merchant.id);
    if ((await countConnections(tx, merchant.id, clock.now(), connectionsMax)) >= connectionsMax)
      return limitReached("connections", connectionsMax);
    const connection: Connection = {
      ...fields,
      id: newId(),
      merchantId: merchant.id,
      merchantName: merchant.name,
      currency: merchant.currency,
      limits: {},
      createdAt: clock.now(),
      endsAt: null,
      liveAgents: false,
      certificationMaxAgeDays: null,
      certifiedAt: null,
    };
    await insertConnection(tx, connection);
    const fact = { ...keyOf(connection), subject: "con", ids: [connection.id], details: fields } as const;
    await recordAudit(tx, context, by, fact);
    return connection;
  });
}

type ConnectionChange = {
  readonly name?: string;
  readonly reviewPolicy?: ReviewPolicy;
  readonly limits?: LimitChange<ConnectionLimitName>;
  readonly liveAgents?: boolean;
  readonly certificationMaxAgeDays?: number | null;
  /** The version of the policy that is to be replaced; undefined if it does not matter. */
  readonly expectedVersion?: string | undefined;
};

/**
 * Changes the given fields. Returns null if there is no such connection. Concurrent changes wait for each other, so
 * none overwrites a field of another. If the policy has another version than expected, nothing changes.
 */
export async function changeConnection(
  context: Context,
  key: ConnectionKey,
  { limits = {}, expectedVersion, ...change }: ConnectionChange,
  by: Initiator,
): Promise<Connection | Problem | null> {
  return inTransaction(context, async (tx) => {
    const connection = await lockConnection(tx, key);
    if (connection === null) return null;
    const { name, reviewPolicy, liveAgents, certificationMaxAgeDays } = { ...connection, ...change };
    const changed: Connection = {
      ...connection,
      name,
      reviewPolicy,
      liveAgents,
      certificationMaxAgeDays,
      limits: changedOverrides(connection.limits, limits),
    };
    if (isDeepStrictEqual(changed, connection)) return connection; // It leaves no entry in the audit log either.
    const version = policyVersion(connection.reviewPolicy);
    const isPolicyChanged = !isDeepStrictEqual(reviewPolicy, connection.reviewPolicy);
    if (isPolicyChanged && expectedVersion !== undefined && expectedVersion !== version)
      return versionChanged("The limits of the policy", version);
    await updateConnection(tx, changed);
    const fact = { ...key, subject: "con", ids: [key.connectionId] } as const;
    await recordAudit(tx, context, by, { ...fact, details: { ...change, ...limits } });
    return changed;
  });
}

/**
 * Ends a connection that a stranger has made, before its time: its key is rejected from now on, and a job removes it with all it
 * has. Repeating it has no further effect. Null: there is no such connection.
 */
export async function endConnection(
  context: Context,
  key: ConnectionKey,
  by: Initiator,
): Promise<Connection | Problem | null> {
  const ended = await inTransaction(context, async (tx) => {
    const connection = await lockConnection(tx, key);
    if (connection === null) return null;
    if (connection.endsAt === null) return NEVER_ENDS;
    const now = context.clock.now();
    if (connection.endsAt <= now) return connection;
    await markConnectionEnded(tx, key, now);
    await markKeysOfConnectionRevoked(tx, key, now);
    await recordAudit(tx, context, by, { ...key, subject: "con", ids: [key.connectionId] });
    return { ...connection, endsAt: now };
  });
  context.signals.send("keys_changed", [key]);
  return ended;
}

/** A partner may have real orders. */
const NEVER_ENDS: Problem = {
  code: "forbidden",
  detail:
    "Only a connection that was made for a test key without a person can be ended. Revoke the keys of this one.",
};
