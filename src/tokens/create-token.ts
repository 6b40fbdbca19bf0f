import type { Grant } from "../access/grant.ts";
import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Problem } from "../platform/wire/problems.ts";
import {
  MERCHANT_TOKENS_MAX,
  makeToken,
  merchantsOfGrant,
  TOKENS_MAX,
  type Token,
  tokenLimitReached,
} from "./token.ts";
import { tokenFact } from "./token-fact.ts";
import {
  countTokens,
  countTokensOfMerchants,
  deleteFirstEnded,
  insertToken,
  lockTokens,
} from "./tokens-sql.ts";

/** Whether who gives a right has it still: null, or the problem. It is called before tokens are locked (decision 0154). */
export type GrantCheck = (tx: Queryable, grant: Grant) => Promise<Problem | null>;

/** A new token, with its text, which is shown only once. */
export type CreatedToken = { readonly token: string; readonly created: Token };

/**
 * Creates a token. Only its hash is stored. Changes of tokens wait for each other, so that concurrent requests cannot
 * exceed a limit.
 * @param ownMerchantIds the merchants of the caller, who may create tokens for these alone; null: for all
 * @param check whether the caller may still give the rights, in the transaction
 */
export async function createToken(
  context: Context,
  fields: Pick<Token, "name" | "grant" | "expiresAt">,
  ownMerchantIds: readonly string[] | null,
  check: GrantCheck,
  by: Initiator,
): Promise<CreatedToken | Problem> {
  const now = context.clock.now();
  return inTransaction(context, async (tx) => {
    const rejected = await check(tx, fields.grant);
    if (rejected !== null) return rejected;
    await lockTokens(tx);
    const isFull =
      ownMerchantIds !== null &&
      (await countTokensOfMerchants(tx, merchantsOfGrant(fields.grant), now)) >= MERCHANT_TOKENS_MAX;
    if (isFull) return tokenLimitReached("merchantTokens", MERCHANT_TOKENS_MAX);
    if (!(await makeRoom(tx, now))) return tokenLimitReached("tokens", TOKENS_MAX);
    const made = await storeToken(tx, context, { ...fields, replacesId: null }, by);
    await recordAudit(tx, context, by, tokenFact(made.created));
    return made;
  });
}

/** Whether there is room for one more token, after the one that ended first was deleted if necessary. */
export const makeRoom = async (tx: Queryable, now: Date): Promise<boolean> =>
  (await countTokens(tx)) < TOKENS_MAX || (await deleteFirstEnded(tx, now));

/** Makes and stores a token. The caller has locked the tokens and made room. */
export async function storeToken(
  tx: Queryable,
  { clock, newId }: Context,
  fields: Pick<Token, "name" | "grant" | "expiresAt" | "replacesId">,
  by: Initiator,
): Promise<CreatedToken> {
  const { token, prefix, hash } = makeToken(fields.grant.role);
  const created: Token = {
    ...fields,
    id: newId(),
    prefix,
    createdBy: by.actor,
    createdAt: clock.now(),
    revokedAt: null,
    lastUsedAt: null,
    replacedById: null,
  };
  await insertToken(tx, created, hash);
  return { token, created };
}
