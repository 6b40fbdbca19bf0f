import type { KeyObject } from "node:crypto";
import type { Config } from "../../platform/config.ts";
import type { Context } from "../../platform/context.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS, signingTime } from "../../platform/time.ts";
import type { StaticHeaders } from "../endpoints/static-headers.ts";
import {
  attemptRequest,
  BODY_MAX_BYTES,
  type FaultName,
  faultOfAttempt,
  followedAt,
  heldUntil,
} from "../faults/delivery-fault.ts";
import {
  type ClaimedDelivery,
  type Completion,
  type DeliveryAttempt,
  type DeliveryOutcome,
  releasedClaim,
  type SendableEvent,
} from "./claimed-delivery.ts";
import type { SendResult } from "./exchange.ts";
import type { Sender, SendRequest } from "./sender.ts";

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

/** Where to send, the headers to add, and the keys to sign with, newest first. */
export type Destination = {
  readonly url: UrlParts;
  readonly headers: StaticHeaders;
  readonly keys: readonly KeyObject[];
};

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
  { url, headers, keys }: Destination,
): Promise<Completion> {
  const { config, clock } = context;
  const startedAt = clock.now();
  if (!isSendable(delivery, config, startedAt)) return { delivery, attempt: null, outcome: { is: "failed" } };
  const unsent = unsentCompletion(context, delivery, startedAt);
  if (unsent !== null) return unsent;
  const leaseLeftMs = delivery.leasedUntil.getTime() - startedAt.getTime();
  if (leaseLeftMs < config.webhookTimeoutMs + LEASE_MARGIN_MS) return releasedClaim(delivery);
  const fault = faultOfAttempt(delivery);
  const { wireId: id, body: eventBody } = delivery.event;
  const parts = { attemptId: delivery.claimId, id, timestamp: signingTime(clock), body: eventBody, keys };
  const { headers: signed, body } = attemptRequest(fault, parts);
  const request = { connectionId: delivery.connectionId, url, headers: { ...headers, ...signed }, body };
  const result = await sendWith(fault, sender, request);
  // Cut off because this process stops. The attempt is recorded, but uses up none of the schedule.
  if (result.error === "canceled")
    return { delivery, attempt: attemptOf(delivery, startedAt, result), outcome: { is: "released" } };
  return completionOf(context, delivery, startedAt, result);
}

async function sendWith(fault: FaultName | null, sender: Sender, request: SendRequest): Promise<SendResult> {
  if (fault === "cut-body") return sender.send({ ...request, isCutOff: true });
  if (fault !== "two-at-once") return sender.send(request);
  const [one, other] = await Promise.all([sender.send(request), sender.send(request)]);
  return isSuccess(one) ? other : one;
}

/** The bytes of the body that the next attempt sends. */
export const bodyBytesOf = (delivery: ClaimedDelivery): number =>
  faultOfAttempt(delivery) === "largest-body" ? BODY_MAX_BYTES : (delivery.event?.body.length ?? 0);

/** How a claim ends for which a rehearsed fault lets nothing be sent. Null: something is sent. */
export function unsentCompletion(
  context: SendContext,
  delivery: ClaimedDelivery,
  now: Date,
): Completion | null {
  if (delivery.fault === null) return null;
  const until = heldUntil(delivery, now);
  if (until !== null) return { delivery, attempt: null, outcome: { is: "held", at: until } };
  return faultOfAttempt(delivery) === "dropped" ? completionOf(context, delivery, now, DROPPED) : null;
}

const DROPPED: SendResult = {
  durationMs: 0,
  responseStatus: null,
  responseBody: null,
  error: "dropped by a rehearsed fault",
  retryAfter: null,
};

/** Whether the delivery may be sent at all. If not, it fails without an attempt. */
export const isSendable = (
  delivery: ClaimedDelivery,
  config: Config,
  now: Date,
): delivery is ClaimedDelivery & { readonly event: SendableEvent } =>
  delivery.event !== null && !isPast(delivery.notAfter, now) && !isLostTooOften(delivery, config);

/** How a claim ends whose attempt has had this result. */
export const completionOf = (
  context: SendContext,
  delivery: ClaimedDelivery,
  startedAt: Date,
  result: SendResult,
): Completion => ({
  delivery,
  attempt: attemptOf(delivery, startedAt, result),
  outcome: outcomeOf(delivery, result, context),
});

/** docs/design/deliveries.md, "Retry schedule": a 2xx response that was read within the deadline, and nothing else. */
export const isSuccess = ({ responseStatus, error }: Pick<SendResult, "responseStatus" | "error">): boolean =>
  error === null && responseStatus !== null && responseStatus >= 200 && responseStatus < 300;

/** The endpoint rejects all further events. */
export const isGone = ({ responseStatus }: Pick<DeliveryAttempt, "responseStatus">): boolean =>
  responseStatus === 410;

/** The time from the event to its first attempt. Null for later attempts. */
export const firstDelayMs = ({
  delivery: { event, attemptCount, trigger, fault },
  attempt,
}: Completion): number | null =>
  event !== null && attempt !== null && attemptCount === 0 && trigger === "schedule" && fault === null
    ? attempt.startedAt.getTime() - event.happenedAt.getTime()
    : null;

const scheduleOf = ({ notAfter }: ClaimedDelivery, config: Config): readonly number[] =>
  notAfter === null ? config.webhookRetryMs : config.webhookTestRetryMs;

const isPast = (moment: Date | null, now: Date): boolean => moment !== null && moment <= now;

const isLostTooOften = (delivery: ClaimedDelivery, config: Config): boolean =>
  delivery.attemptCount > scheduleOf(delivery, config).length + LOST_MAX;

const attemptOf = (
  delivery: ClaimedDelivery,
  startedAt: Date,
  { durationMs, responseStatus, responseBody, ...result }: SendResult,
): DeliveryAttempt => ({
  startedAt,
  durationMs,
  responseStatus,
  responseBody,
  error: result.error ?? (isSuccess({ responseStatus, error: null }) ? null : `HTTP ${responseStatus}`),
  fault: faultOfAttempt(delivery),
});

function outcomeOf(
  delivery: ClaimedDelivery,
  result: SendResult,
  { config, clock, random }: SendContext,
): DeliveryOutcome {
  const fault = faultOfAttempt(delivery);
  const followed = fault && followedAt(fault, delivery, isSuccess(result), clock.now());
  if (followed) return { is: "retry", at: followed };
  if (isSuccess(result)) return { is: "succeeded" };
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

const JITTER = 0.2;
/** A `Retry-After` up to this long is always obeyed. */
const ALWAYS_OBEYED_MS = MINUTE_MS;
const OBEYED_MAX_MS = DAY_MS;

type FailedAttempt = {
  /** Failed attempts so far: 1 after the first. */
  attemptCount: number;
  now: Date;
  /** The wait after each failed attempt, in milliseconds. */
  retryMs: readonly number[];
  /** From 0 to 1. Spreads attempts that failed together. */
  random: number;
  /** The header of the response, unchanged. */
  retryAfter: string | null;
  responseStatus: number | null;
  /** No attempt at or after this time: the erasure of a test order. */
  notAfter: Date | null;
};

/**
 * Returns when to make the next attempt. Null when the schedule is used up, or the time would not be before `notAfter`.
 *
 * The wait after the n-th failed attempt is `retryMs[n - 1]`, varied by up to ±20 % according to `random`. A response of
 * 429 or 503 may extend it by `Retry-After`, in seconds or as an HTTP date, but never shorten it. The header is obeyed up
 * to twice the interval, or up to 60 s if that is more, because early intervals are short and a rate limit often lasts a
 * minute; and never beyond 24 h, so that no receiver can postpone a delivery without limit. Any other value is ignored.
 */
export function nextAttemptAt(failed: FailedAttempt): Date | null {
  const { attemptCount, now, retryMs, random, notAfter } = failed;
  const intervalMs = retryMs[attemptCount - 1];
  if (intervalMs === undefined) return null;
  const scheduledMs = Math.round(intervalMs * (1 + JITTER * (2 * random - 1)));
  const obeyedMaxMs = Math.min(Math.max(2 * intervalMs, ALWAYS_OBEYED_MS), OBEYED_MAX_MS);
  const waitMs = Math.max(scheduledMs, Math.min(requestedMs(failed), obeyedMaxMs));
  const next = new Date(now.getTime() + waitMs);
  return notAfter !== null && next >= notAfter ? null : next;
}

/** The wait that the receiver requests, 0 if none. */
function requestedMs({ retryAfter, responseStatus, now }: FailedAttempt): number {
  if (retryAfter === null || (responseStatus !== 429 && responseStatus !== 503)) return 0;
  const text = retryAfter.trim();
  if (/^\d+$/.test(text)) return SECOND_MS * Number(text);
  // Date.parse accepts more than HTTP dates, such as a bare number, and reads a date without GMT as local time.
  const at = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
