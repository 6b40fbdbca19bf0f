import type { KeyObject } from "node:crypto";
import type { Config } from "../../../platform/config.ts";
import type { Context } from "../../../platform/context.ts";
import type { ClaimedDelivery, Completion, Verdict } from "../claimed-delivery.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { Sender, SendOutcome } from "./sender.ts";
import { signedHeaders } from "./signature.ts";

/** Where and how to send. */
export type Destination = { readonly url: string; readonly keys: readonly KeyObject[] };

/** What came of a delivery, with the answer's status where there was one: 410 says more than failure. */
export type Sent = { readonly completion: Completion; readonly responseStatus: number | null };

/** A send must end this long before its lease does, so that its outcome can still be stored. */
const LEASE_MARGIN_MS = 10_000;
/** Claims that may be lost beyond the schedule: one whose outcome can never be stored is not sent again for ever. */
const LOST_MAX = 5;

/** Sends a claimed delivery once, if it still may be sent. It never rejects. */
export async function sendDelivery(
  { config, clock, log }: Pick<Context, "config" | "clock" | "log">,
  sender: Sender,
  delivery: ClaimedDelivery,
  { url, keys }: Destination,
): Promise<Sent> {
  const startedAt = clock.now();
  const unsent = (verdict: Verdict): Sent => ({
    completion: { delivery, attempt: null, verdict },
    responseStatus: null,
  });
  const { event } = delivery;
  if (event === null || isPast(delivery.notAfter, startedAt)) return unsent({ is: "failed" });
  if (delivery.attemptCount > scheduleOf(delivery, config).length + LOST_MAX) return unsent({ is: "failed" });
  const leaseLeftMs = delivery.leasedUntil.getTime() - startedAt.getTime();
  if (leaseLeftMs < config.webhookTimeoutMs + LEASE_MARGIN_MS) return unsent({ is: "returned" });
  const { wireId: id, body } = event;
  const headers = signedHeaders({ id, timestamp: startedAt, body, keys });
  const outcome = await sender.send({ url, headers, body });
  if (outcome.error !== null)
    log.debug({ delivery: delivery.deliveryId, error: outcome.error }, "a delivery failed");
  const { durationMs, responseStatus, responseBody, error } = outcome;
  return {
    completion: {
      delivery,
      attempt: {
        startedAt,
        durationMs,
        responseStatus,
        responseBody,
        error: error ?? (isSuccess(outcome) ? null : `HTTP ${responseStatus}`),
      },
      verdict: verdictOf(delivery, outcome, config, clock.now()),
    },
    responseStatus,
  };
}

/** From the event to its first attempt; null when this was a later one. */
export const firstDelayMs = ({
  delivery: { event, attemptCount, trigger },
  attempt,
}: Completion): number | null =>
  event !== null && attempt !== null && attemptCount === 0 && trigger === "schedule"
    ? attempt.startedAt.getTime() - event.happenedAt.getTime()
    : null;

const scheduleOf = ({ notAfter }: ClaimedDelivery, config: Config): readonly number[] =>
  notAfter === null ? config.webhookRetryMs : config.webhookTestRetryMs;

const isPast = (moment: Date | null, now: Date): boolean => moment !== null && moment <= now;

/** Decision 0037: 2xx, read within the deadline, and nothing else. */
export const isSuccess = ({
  responseStatus,
  error,
}: Pick<SendOutcome, "responseStatus" | "error">): boolean =>
  error === null && responseStatus !== null && responseStatus >= 200 && responseStatus < 300;

function verdictOf(delivery: ClaimedDelivery, outcome: SendOutcome, config: Config, now: Date): Verdict {
  if (isSuccess(outcome)) return { is: "succeeded" };
  // Cut off by our own stop: on record, but no try of the schedule is used up.
  if (outcome.error === "canceled") return { is: "returned" };
  if (delivery.trigger === "manual") return { is: "failed" };
  const at = nextAttemptAt({
    attemptCount: delivery.attemptCount + 1,
    now,
    retryMs: scheduleOf(delivery, config),
    random: Math.random(),
    retryAfter: outcome.retryAfter,
    responseStatus: outcome.responseStatus,
    notAfter: delivery.notAfter,
  });
  return at === null ? { is: "failed" } : { is: "retry", at };
}
