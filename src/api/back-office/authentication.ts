import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Problem } from "../../platform/wire/problems.ts";
import { bearerToken, unauthorized } from "../http/bearer.ts";
import type { BackOfficeCaller } from "./access.ts";

/** Returns the caller, or an error. */
export type BackOfficeAuthentication = (request: FastifyRequest) => Promise<BackOfficeCaller | Problem>;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Programs send the operator token. Its digests are compared, so that the time taken reveals nothing about it. */
export function operatorAuthentication(operatorToken: string): BackOfficeAuthentication {
  const expected = digest(operatorToken);
  return async ({ headers }) => {
    const sent = headers.authorization === undefined ? null : bearerToken(headers.authorization);
    const valid = sent !== null && timingSafeEqual(digest(sent), expected);
    return valid ? { kind: "operator", name: "operator" } : unauthorized(headers);
  };
}
