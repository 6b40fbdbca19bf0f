import { createHmac, timingSafeEqual } from "node:crypto";
import { signingKey } from "../webhooks/endpoints/secrets.ts";
import type { AnsweredOrders, SeenAttempt } from "./checks.ts";
import type { Answer } from "./script.ts";

export const pendingAnswer: Answer = { is: "pending" };

/**
 * Reads the answer to a question. A stranger's server cannot compute it, and cannot return what it received: the signature of the
 * request is over another text (docs/design/certification.md, "The challenge").
 * @param secrets the signing secrets of the endpoint, one of which it must be made with
 */
export function answerIn(attempt: SeenAttempt, challenge: string, secrets: readonly string[]): Answer {
  const { responseStatus, responseBody, error } = attempt;
  if (error !== null || responseStatus === null)
    return { is: "none", seen: `It did not answer the question: ${error ?? "no response"}.` };
  const answer = objectIn(responseBody ?? "");
  const proof = answer?.["challenge"];
  if (typeof proof !== "string")
    return {
      is: "unproven",
      seen: `It returned ${responseStatus} without the proof: the response must be JSON with the member challenge.`,
    };
  const isProven = secrets.some((secret) => isEqual(proof, proofOf(challenge, secret)));
  return isProven
    ? { is: "proven", orders: ordersIn(answer?.["orders"]) }
    : { is: "unproven", seen: "The proof is not that of a signing secret of the endpoint." };
}

export const proofOf = (challenge: string, secret: string): string =>
  createHmac("sha256", signingKey(secret)).update(`certification.${challenge}`).digest("hex");

function isEqual(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The log keeps 1 KiB of a response, which is enough for all that is asked. */
function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** What is no order as it was asked for is left out, as if the receiver did not know it. */
function ordersIn(value: unknown): AnsweredOrders {
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([id, order]) => {
      const { status, sequence, handled } = (order ?? {}) as Record<string, unknown>; // Any JSON: its members are checked.
      return typeof status === "string" && Number.isSafeInteger(sequence) && Number.isSafeInteger(handled)
        ? [
            [
              id,
              { status: status.slice(0, STATUS_MAX), sequence: Number(sequence), handled: Number(handled) },
            ],
          ]
        : [];
    }),
  );
}

/** A report names it. */
const STATUS_MAX = 40;
