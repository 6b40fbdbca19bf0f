import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Token } from "./token.ts";
import { tokenFact } from "./token-fact.ts";
import { lockTokens, markTokenRevoked, readToken } from "./tokens-sql.ts";

/**
 * Revokes a token: the next request with it is rejected, in every process. A repeated revocation keeps the time of the
 * first one, and leaves no entry. Null if there is no such token.
 */
export async function revokeToken(context: Context, tokenId: string, by: Initiator): Promise<Token | null> {
  return inTransaction(context, async (tx) => {
    await lockTokens(tx);
    const token = await readToken(tx, tokenId);
    if (token === null || token.revokedAt !== null) return token;
    const revoked = await markTokenRevoked(tx, tokenId, context.clock.now());
    if (revoked !== null) await recordAudit(tx, context, by, tokenFact(revoked));
    return revoked;
  });
}
