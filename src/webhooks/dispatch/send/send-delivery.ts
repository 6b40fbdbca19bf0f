import type { KeyObject } from "node:crypto";
import type { Config } from "../../../platform/config.ts";
import type { Context } from "../../../platform/context.ts";
import type { ClaimedDelivery, Completion, DeliveryAttempt, DeliveryOutcome } from "../claimed-delivery.ts";
import { releasedClaim } from "../claimed-delivery.ts";
import type { SendResult } from "./exchange.ts";
import { signedHeaders } from "./request-headers.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { Sender } from "./sender.ts";

/** The parts of a URL, as text: each access to one of a `URL` cuts it out again. */
export type UrlParts = Readonly<
  Pick<URL, "origin" | "protocol" | "hostname" | "port" | "pathname" | "search">
>;

export const urlPartsOf = ({ origin, protocol, hostname, port, pathname, search }: URL): UrlParts => ({
  origin,
  protocol,
  hostname,
  port,
  pathname,
  search,
});

/** Where to send, and the keys to sign with, newest first. */
export type Destination = { readonly url: UrlParts; readonly keys: readonly KeyObject[] };

/** A request must end this long before its lease does, so that its outcome can still be stored. */
export const LEASE_MARGIN_MS = 10_000;
/** Lost claims allowed beyond the schedule. After them, a delivery whose outcome cannot be stored fails. */
const LOST_MAX = 5;

export type SendContext = Pick<Context, "config" | "clock"> & {
  /** Returns a number from 0 to 1, for the jitter of retries. */
  readonly random: () => number;
};

/** Sends a claimed delivery once, if it may still be sent. Never rejects. */
export async function sendDelivery(
  context: SendContext,
  sender: Sender,
  delivery: ClaimedDelivery,
  { url, keys }: Destination,
): Promise<Completion> {
  const { config, clock } = context;
  const startedAt = clock.now();
  const { event } = delivery;
  if (event === null || isPast(delivery.notAfter, startedAt) || isLostTooOften(delivery, config))
    return { delivery, attempt: null, outcome: { is: "failed" } };
  const leaseLeftMs = delivery.leasedUntil.getTime() - startedAt.getTime();
  if (leaseLeftMs < config.webhookTimeoutMs + LEASE_MARGIN_MS) return releasedClaim(delivery);
  const { wireId: id, body } = event;
  const headers = signedHeaders({ id, timestamp: startedAt, body, keys });
  const result = await sender.send({ connectionId: delivery.connectionId, url, headers, body });
  return {
    delivery,
    attempt: attemptOf(startedAt, result),
    outcome: outcomeOf(delivery, result, context),
  };
}

/** Decision 0037: a 2xx response that was read within the deadline, and nothing else. */
export const isSuccess = ({ responseStatus, error }: Pick<SendResult, "responseStatus" | "error">): boolean =>
  error === null && responseStatus !== null && responseStatus >= 200 && responseStatus < 300;

/** The endpoint rejects all further events. */
export const isGone = ({ responseStatus }: Pick<DeliveryAttempt, "responseStatus">): boolean =>
  responseStatus === 410;

/** The time from the event to its first attempt. Null for later attempts. */
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

const isLostTooOften = (delivery: ClaimedDelivery, config: Config): boolean =>
  delivery.attemptCount > scheduleOf(delivery, config).length + LOST_MAX;

const attemptOf = (
  startedAt: Date,
  { durationMs, responseStatus, responseBody, ...result }: SendResult,
): DeliveryAttempt => ({
  startedAt,
  durationMs,
  responseStatus,
  responseBody,
  error: result.error ?? (isSuccess({ responseStatus, error: null }) ? null : `HTTP ${responseStatus}`),
});

function outcomeOf(
  delivery: ClaimedDelivery,
  result: SendResult,
  { config, clock, random }: SendContext,
): DeliveryOutcome {
  if (isSuccess(result)) return { is: "succeeded" };
  // Cut off because this process stops. The attempt is recorded, but uses up none of the schedule.
  if (result.error === "canceled") return { is: "released" };
  if (delivery.trigger === "manual") return { is: "failed" };
  const at = nextAttemptAt({
    attemptCount: delivery.attemptCount + 1,
    now: clock.now(),
    retryMs: scheduleOf(delivery, config),
    random: random(),
    retryAfter: result.retryAfter,
    responseStatus: result.responseStatus,
    notAfter: delivery.notAfter,
  });
  return at === null ? { is: "failed" } : { is: "retry", at };
}
