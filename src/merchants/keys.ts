import { earlierEnd, type LockMaker } from "../audit/maker.ts";
import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { groupCalls } from "../platform/database/group.ts";
import { toTypeId } from "../platform/ids.ts";
import { before, DAY_MS, MINUTE_MS } from "../platform/time.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
import {
  type ApiKey,
  ENDED_KEPT,
  endOfOverlap,
  type KeyEndReason,
  makeKey,
  OVERLAPS_MAX,
  renewedExpiry,
  type ShownKey,
  whyNotRotatable,
} from "./api-key.ts";
import { type Connection, keyOf } from "./connection.ts";
import { lockConnection } from "./connections-sql.ts";
import {
  countKeys,
  countKeysOfMerchant,
  deleteEndedKeys,
  endEarlierKey,
  insertKey,
  markKeyReplaced,
  markKeyRevoked,
  markKeysOfTokensRevoked,
  readKey,
  recordKeyUses,
} from "./keys-sql.ts";
import { limitReached, maximumOf } from "./limits.ts";
import { lockCounts, readMerchantMaximum } from "./merchants-sql.ts";

/**
 * Issues a key of a connection. Only this call returns the key itself. Only its hash is stored. The connection and the counts
 * of the merchant are locked, so that concurrent requests cannot exceed the limits.
 */
export async function issueKey(
  context: Context,
  fields: Pick<ApiKey, "merchantId" | "connectionId" | "name" | "mode" | "expiresAt">,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<{ key: string; issued: ShownKey } | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const connection = await lockConnection(tx, fields);
    if (connection === null) return notFound("connection");
    if (connection.endsAt !== null) return HAS_ONE_KEY;
    const now = clock.now();
    const uncertified = fields.mode === "live" ? certificationMissing(connection, now) : null;
    if (uncertified !== null) return uncertified;
    const reached = await reachedKeyLimit(tx, connection, now);
    if (reached !== null) return reached;
    const maker = await lockMaker(tx);
    if (isProblem(maker)) return maker;
    const made = makeKey(fields.mode);
    const issued: ApiKey = {
      ...fields,
      id: newId(),
      prefix: made.prefix,
      createdAt: now,
      expiresAt: earlierEnd(fields.expiresAt, maker.endsAt),
      revokedAt: null,
      isRequested: false,
    };
    await storeKey(tx, context, { issued, hash: made.hash, tokenId: maker.tokenId }, by);
    await deleteEndedKeys(tx, fields, now, ENDED_KEPT);
    return { key: made.key, issued: { ...issued, lastUsedAt: null, replacedById: null } };
  });
}

/**
 * What is missing before the connection gets access to real orders that it did not have
 * (docs/design/certification.md, "Before a live key"). Null: nothing. The connection is locked, so its setting cannot change at the same time.
 */
function certificationMissing(
  { certificationMaxAgeDays, certifiedAt }: Connection,
  now: Date,
): Problem | null {
  if (certificationMaxAgeDays === null) return null;
  if (certifiedAt !== null && certifiedAt >= before(now, certificationMaxAgeDays * DAY_MS)) return null;
  return {
    code: "certification-required",
    detail: `The connection needs a certification that has passed within ${certificationMaxAgeDays} days. The partner runs one with a test key: POST /v1/test/certifications, or partner-orders certify. Or change certificationMaxAgeDays.`,
    members: { certificationMaxAgeDays, certifiedAt: certifiedAt?.toISOString() ?? null },
  };
}

/** A person could prolong the time of a stranger, or give it a live key. */
const HAS_ONE_KEY: Problem = {
  code: "forbidden",
  detail:
    "The connection was made for a test key without a person. It has that key alone, until it ends. Create a connection for a partner that you know.",
};

/** Stores a key that is new. The caller has checked the limits. @param tokenId the token that issues it; null: a person does */
export async function storeKey(
  tx: Queryable,
  context: Context,
  {
    issued,
    hash,
    tokenId,
  }: { readonly issued: ApiKey; readonly hash: string; readonly tokenId: string | null },
  by: Initiator,
): Promise<void> {
  await insertKey(tx, issued, hash, tokenId);
  const { merchantId, connectionId, name, mode, prefix, expiresAt } = issued;
  await recordAudit(tx, context, by, {
    merchantId,
    connectionId,
    subject: "key",
    ids: [issued.id],
    details: { name, mode, prefix, expiresAt },
  });
}

/** The limit of keys that a connection, which may be new, or its merchant has reached. The caller has locked the connection. */
export async function reachedKeyLimit(
  tx: Queryable,
  connection: Connection,
  now: Date,
): Promise<Problem | null> {
  const keysMax = maximumOf(connection.limits, "apiKeys");
  if ((await countKeys(tx, keyOf(connection), now, keysMax)) >= keysMax)
    return limitReached("apiKeys", keysMax);
  const { merchantId } = connection;
  await lockCounts(tx, merchantId);
  const ofMerchantMax = (await readMerchantMaximum(tx, [merchantId], "merchantApiKeys"))(merchantId);
  return (await countKeysOfMerchant(tx, merchantId, now, ofMerchantMax)) >= ofMerchantMax
    ? limitReached("merchantApiKeys", ofMerchantMax)
    : null;
}

/** Revokes a key. Keeps the time of the first revocation if it is repeated. Null if there is no such key. */
export async function revokeKey(context: Context, keyId: string, by: Initiator): Promise<ShownKey | null> {
  const key = await inTransaction(context, async (tx) => {
    const revoked = await markKeyRevoked(tx, keyId, context.clock.now());
    if (revoked === null) return readKey(tx, keyId); // It is missing, or was revoked before.
    const { merchantId, connectionId, name, prefix } = revoked;
    await recordAudit(tx, context, by, {
      merchantId,
      connectionId,
      subject: "key",
      ids: [keyId],
      details: { name, prefix },
    });
    return revoked;
  });
  if (key !== null) context.signals.send("keys_changed", [key]);
  return key;
}

/**
 * Revokes what tokens have issued, in the transaction that revokes them. After the commit, the caller sends `keys_changed` for the keys.
 */
export async function revokeKeysOfTokens(
  tx: Queryable,
  context: Context,
  tokenIds: readonly string[],
  by: Initiator,
): Promise<ApiKey[]> {
  const keys = await markKeysOfTokensRevoked(tx, tokenIds, context.clock.now());
  const facts = keys.map(({ id, merchantId, connectionId, name, prefix }) => ({
    merchantId,
    connectionId,
    subject: "key" as const,
    ids: [id],
    details: { name, prefix },
  }));
  if (facts.length > 0) await recordAudit(tx, context, by, ...facts);
  return keys;
}

/**
 * How long a key counts as it was read, if no notice of a change arrives (docs/design/isolation-and-limits.md, "Known keys").
 */
const KNOWN_MS = 1_000;
const KEYS_MAX = 10_000;

type Known = { readonly key: ApiKey; readonly untilMs: number };

/**
 * The keys that a process has read within the last second, by their hashes. A change of any key forgets all, in every
 * process that receives the signal. Hashes without a key are not kept, so callers without a key cannot fill it.
 */
export class KnownKeys {
  readonly #keys = new Map<string, Known>();
  /** Changes so far. */
  #changes = 0;
  readonly #nowMs: () => number;

  /** @param nowMs a clock that never goes back, in milliseconds */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get(hash: string): ApiKey | undefined {
    const known = this.#keys.get(hash);
    return known !== undefined && this.#nowMs() < known.untilMs ? known.key : undefined;
  }

  /**
   * Call it before keys are read. The function that it returns keeps those that were found, unless a key has changed since:
   * they could be from before the change.
   */
  beginRead(): (found: ReadonlyMap<string, ApiKey>) => void {
    const changes = this.#changes;
    const untilMs = this.#nowMs() + KNOWN_MS;
    return (found) => {
      if (changes !== this.#changes) return;
      if (this.#keys.size + found.size > KEYS_MAX) this.#keys.clear();
      for (const [hash, key] of found) this.#keys.set(hash, { key, untilMs });
    };
  }

  /** Call it when a key may have changed. */
  forget(): void {
    this.#changes += 1;
    this.#keys.clear();
  }
}

/** A later use within this time is not written. */
const LAST_USE_INTERVAL_MS = 5 * MINUTE_MS;
/** Keys whose last use a process remembers. Beyond these it forgets all, and writes the next use of each. */
const KEYS_REMEMBERED_MAX = 20_000;
const GROUP_SIZE_MAX = 128;

/** Notes that a key was used now. It never fails, and the request does not wait for it. */
export type NoteKeyUse = (keyId: string) => void;

/**
 * Records uses of keys beside the requests (docs/design/isolation-and-limits.md, "Keys"): one statement for many keys, one at a
 * time, and none for a key that this process has noted within five minutes. A failure is logged only.
 */
export function keyUseNotes({ db, clock, log }: Pick<Context, "db" | "clock" | "log">): NoteKeyUse {
  const noted = new Map<string, number>();
  const record = groupCalls<string, null>({
    name: "note key uses",
    run: async (keyIds) => {
      const now = clock.now();
      await recordKeyUses(db, [...new Set(keyIds)].sort(), now, before(now, LAST_USE_INTERVAL_MS));
      return keyIds.map(() => null);
    },
    sizeMax: GROUP_SIZE_MAX,
    concurrencyMax: 1,
  });
  return (keyId) => {
    const now = clock.now().getTime();
    const last = noted.get(keyId);
    if (last !== undefined && now - last < LAST_USE_INTERVAL_MS) return;
    if (noted.size >= KEYS_REMEMBERED_MAX) noted.clear();
    noted.set(keyId, now);
    record(keyId).catch((err: unknown) => log.warn({ err }, "last use of key not recorded"));
  };
}

type RotatedKey = { readonly key: string; readonly issued: ShownKey; readonly previousExpiresAt: Date };

/**
 * Replaces a key by a new one with the same name and mode (docs/design/isolation-and-limits.md, "Keys"). The old one stays
 * valid for the overlap, but never longer than before. The connection is locked, so a key is rotated once: after a response
 * that was lost, revoke the new key and issue another. It counts for no limit: the new key replaces one
 * (docs/design/isolation-and-limits.md, "Stored things").
 *
 * @param expiresAt undefined: as long after the rotation as the replaced key was given
 */
export async function rotateKey(
  context: Context,
  keyId: string,
  connection: ConnectionKey,
  { overlapHours, expiresAt }: { overlapHours: number; expiresAt: Date | null | undefined },
  lockMaker: LockMaker,
  by: Initiator,
): Promise<RotatedKey | Problem> {
  const { newId, clock } = context;
  const rotated = await inTransaction(context, async (tx): Promise<RotatedKey | Problem> => {
    const locked = await lockConnection(tx, connection);
    const old = await readKey(tx, keyId); // Under the lock: another rotation may have replaced it since.
    if (locked === null || old === null) return notFound("key");
    if (locked.endsAt !== null) return HAS_ONE_KEY;
    const now = clock.now();
    const reason = whyNotRotatable(old, now);
    if (reason !== null) return notRotatable(old, reason);
    const maker = await lockMaker(tx);
    if (isProblem(maker)) return maker;
    const newExpiresAt = earlierEnd(
      expiresAt === undefined ? renewedExpiry(old, now) : expiresAt,
      maker.endsAt,
    );
    // A key that may be known to others is replaced at any time; only longer access needs what a new key needs.
    const uncertified =
      old.mode === "live" && endsLater(newExpiresAt, old.expiresAt)
        ? certificationMissing(locked, now)
        : null;
    if (uncertified !== null) return uncertified;
    const { key, prefix, hash } = makeKey(old.mode);
    const { merchantId, connectionId, name, mode } = old;
    const issued: ApiKey = {
      id: newId(),
      merchantId,
      connectionId,
      name,
      mode,
      prefix,
      createdAt: now,
      expiresAt: newExpiresAt,
      revokedAt: null,
      isRequested: false,
    };
    await insertKey(tx, issued, hash, maker.tokenId);
    const previousExpiresAt = endOfOverlap(old, overlapHours, now);
    await markKeyReplaced(tx, old.id, issued.id, previousExpiresAt);
    await endEarlierKey(tx, old, issued.id, { distance: OVERLAPS_MAX + 1, now });
    await deleteEndedKeys(tx, old, now, ENDED_KEPT);
    await recordAudit(tx, context, by, {
      merchantId,
      connectionId,
      subject: "key",
      ids: [issued.id, old.id],
      details: { name, mode, prefix, replaces: toTypeId("key", old.id), previousExpiresAt },
    });
    return { key, issued: { ...issued, lastUsedAt: null, replacedById: null }, previousExpiresAt };
  });
  context.signals.send("keys_changed", [connection]);
  return rotated;
}

const endsLater = (end: Date | null, other: Date | null): boolean =>
  other !== null && (end === null || end > other);

const DETAILS: Record<KeyEndReason, string> = {
  revoked: "The key was revoked. Issue a new one.",
  expired: "The key has expired. Issue a new one.",
  replaced:
    "The key was already rotated. Rotate the key that replaced it, or revoke both and issue a new one.",
};

const notRotatable = ({ replacedById }: ShownKey, reason: KeyEndReason): Problem => ({
  code: "key-not-rotatable",
  detail: DETAILS[reason],
  members: { reason, replacedBy: replacedById === null ? null : toTypeId("key", replacedById) },
});
