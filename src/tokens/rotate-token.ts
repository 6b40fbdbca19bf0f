import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type EndReason, endOfOverlap, renewedExpiry, whyNotRotatable } from "../merchants/keys/validity.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { type CreatedToken, type GrantCheck, makeRoom, storeToken } from "./create-token.ts";
import { TOKENS_MAX, type Token, tokenLimitReached } from "./token.ts";
import { tokenFact } from "./token-fact.ts";
import { bringExpiryForward, lockTokens, readToken } from "./tokens-sql.ts";

export type Rotation = {
  /** How long the replaced token stays valid, at most. */
  readonly overlapHours: number;
  /** Undefined: as long after the rotation as the replaced token was given after its creation. */
  readonly expiresAt: Date | null | undefined;
};

/**
 * Replaces a token by a new one with the same name and the same rights. The old one stays valid for the overlap, but never
 * longer than before. A token is rotated once: after a response that was lost, revoke the new token and create another.
 * Null if there is no such token.
 */
export async function rotateToken(
  context: Context,
  tokenId: string,
  { overlapHours, expiresAt }: Rotation,
  check: GrantCheck,
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
    if (!(await makeRoom(tx, now))) return tokenLimitReached("tokens", TOKENS_MAX);
    const previousExpiresAt = endOfOverlap(token, overlapHours, now);
    await bringExpiryForward(tx, token.id, previousExpiresAt);
    const { name, grant } = token;
    const renewed = expiresAt === undefined ? renewedExpiry(token, now) : expiresAt;
    const made = await storeToken(tx, context, { name, grant, expiresAt: renewed, replacesId: token.id }, by);
    const { id } = made.created;
    const fact = tokenFact(made.created, { replaces: toTypeId("tok", token.id), previousExpiresAt });
    await recordAudit(tx, context, by, { ...fact, ids: [id, token.id] });
    return { ...made, previousExpiresAt };
  });
}

const DETAILS: Record<EndReason, string> = {
  revoked: "The token was revoked. Create a new one.",
  expired: "The token has expired. Create a new one.",
  replaced:
    "The token was already rotated. Rotate the token that replaced it, or revoke both and create a new one.",
};

const notRotatable = ({ replacedById }: Token, reason: EndReason): Problem => ({
  code: "token-not-rotatable",
  detail: DETAILS[reason],
  members: { reason, replacedBy: replacedById === null ? null : toTypeId("tok", replacedById) },
});
