import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { BackOfficeCaller } from "../../access/grant.ts";
import { hashKey } from "../../merchants/api-key.ts";
import { isValid } from "../../merchants/keys/validity.ts";
import type { Context } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { noteTokenUse } from "../../tokens/note-token-use.ts";
import { isTokenText, type Token } from "../../tokens/token.ts";
import { readTokenByHash } from "../../tokens/tokens-sql.ts";
import { bearerToken, unauthorized } from "../http/bearer.ts";

/** A caller that is not known. `tokenId`: its token is known, but was revoked or has expired. */
export type Unauthenticated = Problem & { readonly tokenId?: string };

/** Returns the caller, or an error. */
export type BackOfficeAuthentication = (
  request: FastifyRequest,
) => Promise<BackOfficeCaller | Unauthenticated>;

/** The caller with `OPERATOR_TOKEN`. */
const OPERATOR: BackOfficeCaller = {
  type: "token",
  id: null,
  name: "operator",
  grants: [{ role: "operator" }],
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * `OPERATOR_TOKEN` alone. Its digests are compared, so that the time taken reveals nothing about it. It needs no database,
 * so it opens the back office also when no other token can be read (decision 0077).
 */
export function operatorAuthentication(operatorToken: string): BackOfficeAuthentication {
  const expected = digest(operatorToken);
  return async ({ headers }) => {
    const sent = headers.authorization === undefined ? null : bearerToken(headers.authorization);
    const valid = sent !== null && timingSafeEqual(digest(sent), expected);
    return valid ? OPERATOR : unauthorized(headers, "token");
  };
}

/**
 * Programs send `OPERATOR_TOKEN` or a named token. Named tokens are looked up by their hash and not cached, so a revoked
 * one is rejected by the very next request, in every process.
 */
export function tokenAuthentication(
  operatorToken: string,
  context: Pick<Context, "db" | "clock" | "log">,
): BackOfficeAuthentication {
  const authenticateOperator = operatorAuthentication(operatorToken);
  return async (request) => {
    const operator = await authenticateOperator(request);
    if (!isProblem(operator)) return operator;
    const { authorization = "" } = request.headers;
    const sent = bearerToken(authorization);
    const token =
      sent !== null && isTokenText(sent) ? await readTokenByHash(context.db, hashKey(sent)) : null;
    if (token === null) return operator;
    const now = context.clock.now();
    if (!isValid(token, now)) return { ...operator, tokenId: toTypeId("tok", token.id) };
    await noteTokenUse(context, token, now);
    return callerOf(token);
  };
}

const callerOf = (token: Token): BackOfficeCaller => ({
  type: "token",
  id: toTypeId("tok", token.id),
  name: token.name,
  grants: [token.grant],
});
