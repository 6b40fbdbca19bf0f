import type { BackOfficeCaller, Grant } from "../audit/grant.ts";
import { endMadeParts, moveMadeParts } from "../audit/made-parts-sql.ts";
import { earlierEnd, type LockMaker, type Maker, NO_MAKER } from "../audit/maker.ts";
import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import {
  ENDED_KEPT,
  endOfOverlap,
  isValid,
  type KeyEndReason,
  OVERLAPS_MAX,
  renewedExpiry,
  whyNotRotatable,
} from "../merchants/api-key.ts";
import { revokeKeysOfTokens } from "../merchants/keys.ts";
import { bringKeysOfTokensForward, moveKeysOfToken, readTokenOfKey } from "../merchants/keys-sql.ts";
import { limitReached } from "../merchants/limits.ts";
import { readMerchantMaximum } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { before, MINUTE_MS } from "../platform/time.ts";
import { isProblem, type Problem } from "../platform/wire/problems.ts";
import { endGrantsOfTokens, rightsLost } from "./manage.ts";
import { lockPeople, moveGrantsOfToken } from "./people-sql.ts";
import {
  makeToken,
  merchantsOfGrant,
  TOKENS_MAX,
  type Token,
  tokenFact,
  tokenLimitReached,
} from "./token.ts";
import {
  bringExpiriesForward,
  countOtherTokens,
  countTokensOfMerchants,
  deleteEndedTokens,
  findEarlierToken,
  findMadeBy,
  insertToken,
  lockToken,
  lockTokens,
  markTokensRevoked,
  moveMade,
  readToken,
  recordTokenUse,
} from "./tokens-sql.ts";
import { deleteViewsOf } from "./views.ts";

/** Whether who gives a right has it still: null, or the problem. It is called before tokens are locked (docs/design/people.md, "Giving access"). */
export type GrantCheck = (tx: Queryable, grant: Grant) => Promise<Problem | null>;

/** A new token, with its text, which is shown only once. */
type CreatedToken = { readonly token: string; readonly created: Token };

/**
 * Creates a token. Only its hash is stored. Changes of tokens wait for each other, so that concurrent requests cannot
 * exceed a limit.
 * @param ownMerchantIds the merchants of the caller, who may create tokens for these alone; null: for all
 * @param check whether the caller may still give the rights, in the transaction
 */
export async function createToken(
  context: Context,
  fields: Pick<Token, "name" | "grant" | "scopes" | "expiresAt">,
  ownMerchantIds: readonly string[] | null,
  check: GrantCheck,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<CreatedToken | Problem> {
  const now = context.clock.now();
  return inTransaction(context, async (tx) => {
    const rejected = await check(tx, fields.grant);
    if (rejected !== null) return rejected;
    await lockTokens(tx);
    const reached = await reachedLimit(tx, fields.grant, ownMerchantIds, now);
    if (reached !== null) return reached;
    const maker = await lockMaker(tx);
    if (isProblem(maker)) return maker;
    const made = await storeToken(tx, context, { ...fields, replacesId: null }, maker, by);
    await recordAudit(tx, context, by, tokenFact(made.created));
    return made;
  });
}

/**
 * The operator is never stopped by the tokens of a merchant, and merchants not by those of others
 * (docs/design/isolation-and-limits.md, "Stored things").
 */
async function reachedLimit(
  tx: Queryable,
  grant: Grant,
  ownMerchantIds: readonly string[] | null,
  now: Date,
): Promise<Problem | null> {
  const merchantIds = merchantsOfGrant(grant);
  if (merchantIds.length === 0)
    return (await countOtherTokens(tx, now, TOKENS_MAX)) >= TOKENS_MAX ? tokenLimitReached : null;
  if (ownMerchantIds === null) return null;
  const maximumFor = await readMerchantMaximum(tx, merchantIds, "merchantTokens");
  const countOf = await countTokensOfMerchants(
    tx,
    merchantIds,
    now,
    Math.max(...merchantIds.map(maximumFor)),
  );
  const full = merchantIds.find((id) => countOf(id) >= maximumFor(id));
  return full === undefined ? null : limitReached("merchantTokens", maximumFor(full));
}

/** Makes and stores a token, which ends with its maker at the latest, and deletes old ended ones. The caller has locked the tokens. */
async function storeToken(
  tx: Queryable,
  { clock, newId }: Context,
  fields: Pick<Token, "name" | "grant" | "scopes" | "expiresAt" | "replacesId">,
  maker: Maker,
  by: Initiator,
): Promise<CreatedToken> {
  const { token, prefix, hash } = makeToken(fields.grant.role);
  const created: Token = {
    ...fields,
    id: newId(),
    prefix,
    createdBy: by.actor,
    createdAt: clock.now(),
    expiresAt: earlierEnd(fields.expiresAt, maker.endsAt),
    revokedAt: null,
    lastUsedAt: null,
    replacedById: null,
  };
  await insertToken(tx, created, hash, maker.tokenId);
  const merchantIds = merchantsOfGrant(created.grant);
  const deleted = await deleteEndedTokens(tx, merchantIds, created.createdAt, ENDED_KEPT);
  const owners = deleted.map((id) => toTypeId("tok", id));
  await deleteViewsOf(tx, owners);
  return { token, created };
}

/** A later use within this time is not written. */
const LAST_USE_INTERVAL_MS = 5 * MINUTE_MS;

/** Records that a token was used. A failure is logged only: the request itself can succeed without it. */
export async function noteTokenUse(
  { db, log }: Pick<Context, "db" | "log">,
  { id, lastUsedAt }: Pick<Token, "id" | "lastUsedAt">,
  now: Date,
): Promise<void> {
  const staleBefore = before(now, LAST_USE_INTERVAL_MS);
  if (lastUsedAt !== null && lastUsedAt > staleBefore) return;
  try {
    await recordTokenUse(db, id, now, staleBefore);
  } catch (err) {
    log.warn({ err }, "last use of token not recorded");
  }
}

/**
 * Revokes a token, and what it has made: tokens, keys and what people were given by them. The next request with any of them is
 * rejected, in every process. The endpoints that they have set up end after the commit (`endEndpointsOfTokens`). A repeated revocation keeps the time of the first one, and leaves no entry. Null if there is no such
 * token.
 */
export async function revokeToken(context: Context, tokenId: string, by: Initiator): Promise<Token | null> {
  const { token, keys } = await inTransaction(context, async (tx) => {
    await lockPeople(tx);
    await lockTokens(tx);
    const found = await readToken(tx, tokenId);
    if (found === null || found.revokedAt !== null) return { token: found, keys: [] };
    const now = context.clock.now();
    const tokenIds = [tokenId, ...(await findMadeBy(tx, tokenId))];
    const revoked = await markTokensRevoked(tx, tokenIds, now);
    const madeKeys = await revokeKeysOfTokens(tx, context, tokenIds, by);
    await endMadeParts(tx, tokenIds, now);
    await endGrantsOfTokens(tx, context, tokenIds, by);
    const facts = revoked.map((each) =>
      each.id === tokenId ? tokenFact(each) : tokenFact(each, { endedWith: toTypeId("tok", tokenId) }),
    );
    await recordAudit(tx, context, by, ...facts);
    return { token: revoked.find(({ id }) => id === tokenId) ?? null, keys: madeKeys };
  });
  if (keys.length > 0) context.signals.send("keys_changed", keys);
  return token;
}

/** What a token has made belongs to the one that replaces it, and ends with that one at the latest. */
async function moveWhatWasMade(tx: Queryable, fromId: string, to: Token): Promise<void> {
  await moveMade(tx, fromId, to.id);
  await moveGrantsOfToken(tx, fromId, to.id);
  await moveKeysOfToken(tx, { fromId, toId: to.id, endsAt: to.expiresAt });
  await moveMadeParts(tx, fromId, to);
  if (to.expiresAt !== null) await endBy(tx, await findMadeBy(tx, to.id), to.expiresAt);
}

/** Lets tokens, and what they have made, end at a time, unless they end earlier. */
async function endBy(tx: Queryable, tokenIds: readonly string[], at: Date): Promise<void> {
  await bringExpiriesForward(tx, tokenIds, at);
  await bringKeysOfTokensForward(tx, tokenIds, at);
  await endMadeParts(tx, tokenIds, at);
}

/** The token of a caller as the maker of what it makes. */
export const makerOf =
  ({ clock }: Pick<Context, "clock">, { type, id }: Pick<BackOfficeCaller, "type" | "id">): LockMaker =>
  async (tx) => {
    if (type !== "token" || id === null) return NO_MAKER;
    return lockMaking(tx, fromTypeId("tok", id) ?? id, clock.now());
  };

async function lockMaking(tx: Queryable, tokenId: string, now: Date): Promise<Maker | Problem> {
  const token = await lockToken(tx, tokenId);
  return token !== null && isValid(token, now)
    ? { tokenId: token.id, tokenName: token.name, endsAt: token.expiresAt }
    : rightsLost;
}

/**
 * The token that has issued a key, as the maker of what the key makes. The token is locked before the key is read once more, as by a
 * rotation of the token, which can have moved the key to another one.
 */
export const makerOfKey =
  ({ clock }: Pick<Context, "clock">, keyId: string): LockMaker =>
  async (tx) => {
    let tokenId = await readTokenOfKey(tx, keyId);
    for (;;) {
      if (tokenId === null) return NO_MAKER;
      const maker = await lockMaking(tx, tokenId, clock.now());
      const present = await readTokenOfKey(tx, keyId);
      if (present === tokenId) return maker;
      tokenId = present;
    }
  };

export type Rotation = {
  /** How long the replaced token stays valid, at most. */
  readonly overlapHours: number;
  /** Undefined: as long after the rotation as the replaced token was given after its creation. */
  readonly expiresAt: Date | null | undefined;
};

/**
 * Replaces a token by a new one with the same name and the same rights. The old one stays valid for the overlap, but never
 * longer than before. A token is rotated once: after a response that was lost, revoke the new token and create another. It counts for
 * no limit: the new token replaces one.
 * Null if there is no such token.
 */
export async function rotateToken(
  context: Context,
  tokenId: string,
  { overlapHours, expiresAt }: Rotation,
  check: GrantCheck,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<(CreatedToken & { readonly previousExpiresAt: Date }) | Problem | null> {
  const now = context.clock.now();
  return inTransaction(context, async (tx) => {
    const found = await readToken(tx, tokenId); // Its grant never changes.
    const rejected = found === null ? null : await check(tx, found.grant);
    if (rejected !== null) return rejected;
    await lockTokens(tx);
    const token = await readToken(tx, tokenId);
    if (token === null) return null;
    const reason = whyNotRotatable(token, now);
    if (reason !== null) return notRotatable(token, reason);
    const maker = await lockMaker(tx); // Before its end is brought forward, if it rotates itself.
    if (isProblem(maker)) return maker;
    const previousExpiresAt = endOfOverlap(token, overlapHours, now);
    await bringExpiriesForward(tx, [token.id], previousExpiresAt);
    const { name, grant, scopes } = token;
    const renewed = expiresAt === undefined ? renewedExpiry(token, now) : expiresAt;
    const fields = { name, grant, scopes, expiresAt: renewed, replacesId: token.id };
    const made = await storeToken(tx, context, fields, maker, by);
    await moveWhatWasMade(tx, token.id, made.created);
    const { id } = made.created;
    const earlier = await findEarlierToken(tx, id, OVERLAPS_MAX + 1);
    if (earlier !== null) await endBy(tx, [earlier], now);
    const fact = tokenFact(made.created, { replaces: toTypeId("tok", token.id), previousExpiresAt });
    await recordAudit(tx, context, by, { ...fact, ids: [id, token.id] });
    return { ...made, previousExpiresAt };
  });
}

const DETAILS: Record<KeyEndReason, string> = {
  revoked: "The token was revoked. Create a new one.",
  expired: "The token has expired. Create a new one.",
  replaced:
    "The token was already rotated. Rotate the token that replaced it, or revoke both and create a new one.",
};

const notRotatable = ({ replacedById }: Token, reason: KeyEndReason): Problem => ({
  code: "token-not-rotatable",
  detail: DETAILS[reason],
  members: { reason, replacedBy: replacedById === null ? null : toTypeId("tok", replacedById) },
});
