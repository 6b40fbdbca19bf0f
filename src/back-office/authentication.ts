import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { bearerToken, unauthorized } from "../http/bearer.ts";
import type { Problem } from "../http/problems.ts";

/** Who a request of the back office acts as. */
export type BackOfficeCaller = { readonly kind: "operator" };

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Machines show the operator token. It is compared by digest, so that the time taken tells nothing of it. */
export function operatorAuthentication(operatorToken: string) {
  const expected = digest(operatorToken);
  return async ({ headers }: FastifyRequest): Promise<BackOfficeCaller | Problem> => {
    const sent = headers.authorization === undefined ? null : bearerToken(headers.authorization);
    const valid = sent !== null && timingSafeEqual(digest(sent), expected);
    return valid ? { kind: "operator" } : unauthorized(headers);
  };
}
