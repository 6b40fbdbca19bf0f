import { oneLine, subjectWith } from "../../mail/one-line.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { toTypeId } from "../../platform/ids.ts";
import { before, DAY_MS, EVENTS_KEPT_MS, HOUR_MS, MINUTE_MS } from "../../platform/time.ts";
import { type OwnerKind, ownerKind } from "../owner.ts";
import { type EndpointKey, type PauseReason, urlWithoutQuery, wireEndpointId } from "./endpoint.ts";

/** The health of an endpoint (docs/design/deliveries.md, "Backoff and pause"). */
export type EndpointHealth = {
  readonly consecutiveFailures: number;
  /** The first failure since the last success. Null when there was none. */
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  /** Why the attempt of `lastFailureAt` failed, as attempts have it. */
  readonly lastError: string | null;
  /** Updated at most once an hour. Initially the time of the creation, and then of each resume. */
  readonly lastSuccessAt: Date;
  /** As partners see it: null before the first success (docs/design/deliveries.md, "Endpoints"). */
  readonly succeededAt: Date | null;
  /** Nothing is sent until this time. Then a single delivery probes the endpoint. */
  readonly backoffUntil: Date | null;
  readonly warningsSent: number;
};

export type HealthChange = {
  readonly health: EndpointHealth;
  readonly pause: PauseReason | null;
  /** The warning to send now: 1 after a day, 2 after three days, 3 at the pause. */
  readonly warning: 1 | 2 | 3 | null;
};

/** A change of an endpoint's health that is to be stored. */
export type HealthReport = HealthChange & {
  readonly endpoint: EndpointKey;
  /** When the attempt began. A backoff does not begin if a recovery was requested since. Null if it is no failure. */
  readonly failedSince?: Date | null;
  /** True if a success has ended the backoff of the endpoint: deliveries that wait for a retry become due. */
  readonly endsBackoff?: boolean;
  /** The host and port, when it has returned 2xx to the endpoint for the first time. */
  readonly provenHost?: string | undefined;
};

/** Consecutive failures after which an endpoint backs off. */
const BACKOFF_AFTER_FAILURES = 10;
const BACKOFF_MAX_MS = 5 * MINUTE_MS;
const PAUSE_AFTER_MS = 5 * DAY_MS;
const SPREAD_MS = 12 * HOUR_MS;
const FIRST_WARNING_AFTER_MS = DAY_MS;
const SECOND_WARNING_AFTER_MS = 3 * DAY_MS;
/** How old the stored time of the last success may be: it is updated at most once an hour. */
const SUCCESS_STORED_EVERY_MS = HOUR_MS;

/** True if the endpoint has failed so often that only one delivery at a time is sent to it. */
export const isOnProbation = ({ consecutiveFailures }: EndpointHealth): boolean =>
  consecutiveFailures >= BACKOFF_AFTER_FAILURES;

/** Returns null if the success changes nothing that must be stored. */
export function afterSuccess(health: EndpointHealth, at: Date): EndpointHealth | null {
  const stored =
    health.succeededAt === null
      ? null
      : Math.min(health.succeededAt.getTime(), health.lastSuccessAt.getTime());
  const isStored = stored !== null && at.getTime() - stored < SUCCESS_STORED_EVERY_MS;
  if (health.failingSince === null && isStored) return null;
  return {
    consecutiveFailures: 0,
    failingSince: null,
    lastFailureAt: health.lastFailureAt,
    lastError: health.lastError,
    lastSuccessAt: at,
    succeededAt: at,
    backoffUntil: null,
    warningsSent: 0,
  };
}

/**
 * @param error why the attempt failed
 * @param gone the endpoint returned 410: it rejects all further events
 * @param retryMs the retry schedule. The first backoff takes its first interval. Each further one is twice as long, up to
 *   the longest interval and to five minutes.
 */
export function afterFailure(
  health: EndpointHealth,
  { at, error, gone, retryMs }: { at: Date; error: string | null; gone: boolean; retryMs: readonly number[] },
): HealthChange {
  // Requests that were in flight when the backoff began do not count.
  const isBackingOff = health.backoffUntil !== null && at < health.backoffUntil;
  const consecutiveFailures = health.consecutiveFailures + (isBackingOff ? 0 : 1);
  const failed: EndpointHealth = {
    ...health,
    consecutiveFailures,
    failingSince: health.failingSince ?? at,
    lastFailureAt: at,
    lastError: error,
    backoffUntil: isBackingOff ? health.backoffUntil : backoffEnd(consecutiveFailures, at, retryMs),
  };
  if (gone) return { health: failed, pause: "gone", warning: 3 };
  return withWarning(failed, at);
}

function backoffEnd(consecutiveFailures: number, at: Date, retryMs: readonly number[]): Date | null {
  if (consecutiveFailures < BACKOFF_AFTER_FAILURES) return null;
  const longest = Math.min(BACKOFF_MAX_MS, Math.max(0, ...retryMs));
  const doubled = (retryMs[0] ?? 0) * 2 ** Math.min(consecutiveFailures - BACKOFF_AFTER_FAILURES, 30);
  return new Date(at.getTime() + Math.min(longest, doubled));
}

/** The error of a pull endpoint that no program leases from. */
export const NOT_FETCHED = "not fetched: no program leases the deliveries";

/**
 * Of a pull endpoint from which nothing was leased for a day, although something was due. It counts as one failure since then, so it is
 * warned about and paused as one whose attempts fail. There is no backoff: nothing is sent that could be spared.
 * @param dueSince when the oldest delivery became due
 */
export function afterSilence(
  health: EndpointHealth,
  { at, dueSince }: { at: Date; dueSince: Date },
): HealthChange {
  const { lastSuccessAt } = health;
  const failingSince = health.failingSince ?? dueSince;
  const failing: EndpointHealth = {
    ...health,
    consecutiveFailures: Math.max(1, health.consecutiveFailures),
    failingSince,
    lastFailureAt: at,
    lastError: NOT_FETCHED,
    // For the warning alone: before something was due, there was nothing to fetch.
    lastSuccessAt: lastSuccessAt > failingSince ? lastSuccessAt : failingSince,
  };
  const change = withWarning(failing, at);
  return { ...change, health: { ...change.health, lastSuccessAt } };
}

function withWarning(health: EndpointHealth, at: Date): HealthChange {
  const silentMs = at.getTime() - health.lastSuccessAt.getTime() - SUCCESS_STORED_EVERY_MS;
  const spreadMs = at.getTime() - (health.failingSince ?? at).getTime();
  if (silentMs >= PAUSE_AFTER_MS && spreadMs >= SPREAD_MS)
    return { health: { ...health, warningsSent: 3 }, pause: "failing", warning: 3 };
  // There is no warning at the first failure of an endpoint that merely had no events for days.
  const stage = spreadMs < SPREAD_MS ? null : warningStage(silentMs);
  if (stage === null || stage <= health.warningsSent) return { health, pause: null, warning: null };
  return { health: { ...health, warningsSent: stage }, pause: null, warning: stage };
}

function warningStage(silentMs: number): 1 | 2 | null {
  if (silentMs < FIRST_WARNING_AFTER_MS) return null;
  return silentMs < SECOND_WARNING_AFTER_MS ? 1 : 2;
}

export type WarningFacts = {
  /** 1 after a day without a success, 2 after three days, 3 when the endpoint is paused. */
  readonly stage: 1 | 2 | 3;
  /** Null of a pull endpoint. */
  readonly endpointUrl: string | null;
  readonly endpointId: string;
  readonly owner: ConnectionKey;
  /** The name of the connection, or of the merchant or the facility whose own endpoint it is. */
  readonly ownerName: string;
  /** The first failure since the last success. */
  readonly failingSince: Date;
  readonly now: Date;
};

/**
 * The mail about an endpoint that accepts no events, to people who work with it. It contains no secret, so it may be forwarded.
 */
export function warningMail(facts: WarningFacts): { subject: string; body: string } {
  const { kind, path } = shownOwner(facts.owner);
  const name = oneLine(facts.ownerName);
  const paragraphs = [
    [
      `An endpoint of the ${kind} "${name}" has accepted no events since ${utc(facts.failingSince)}:`,
      `  ${endpointName(facts)}`,
    ],
    ...whatToDo(facts, path),
    [
      "Each attempt, with its response or error, is in the delivery log:",
      `  GET ${path}/deliveries?endpointId={id}`,
      `GET ${path}/webhook-endpoints returns the id of the endpoint. Both need a ${kind === "connection" ? "key of the connection" : `token of the ${kind}`}.`,
    ],
  ];
  return { subject: subjectWith(`${SUBJECTS[facts.stage]}: `, name), body: asBody(paragraphs, facts) };
}

/**
 * The same to the address that the endpoint names. That it belongs to them is not proven, so the mail has nothing that a person has
 * chosen, such as a name or a URL: it cannot carry a message or a link to a stranger.
 */
export function warningToNamedAddress(facts: WarningFacts): { subject: string; body: string } {
  const { kind, path, id } = shownOwner(facts.owner);
  const endpointId = wireEndpointId(facts.endpointId);
  const withId = (text: string) => text.replaceAll("{id}", endpointId);
  const paragraphs = [
    [
      `The webhook endpoint ${endpointId} of the ${kind} ${id} has accepted no events since ${utc(facts.failingSince)}.`,
    ],
    ...whatToDo(facts, path).map((lines) => lines.map(withId)),
    [
      "Each attempt, with its response or error, is in the delivery log:",
      `  GET ${path}/deliveries?endpointId=${endpointId}`,
    ],
    [
      "You get this mail because the endpoint names this address in its field alertEmail. To stop such mails, remove it:",
      `  PATCH ${path}/webhook-endpoints/${endpointId}`,
      '  {"alertEmail": null}',
      "If you do not know the endpoint, another person has entered your address. Then reply to this mail: the operator of the service can remove the address, and no further mail is sent.",
    ],
  ];
  return { subject: `${SUBJECTS[facts.stage]}: ${endpointId}`, body: asBody(paragraphs, facts) };
}

const asBody = (paragraphs: readonly (readonly string[])[], { now }: WarningFacts): string =>
  `${[...paragraphs, [`Written at ${utc(now)}.`]].map((lines) => lines.join("\n")).join("\n\n")}\n`;

function shownOwner(owner: ConnectionKey): { kind: OwnerKind; path: string; id: string } {
  const kind = ownerKind(owner);
  switch (kind) {
    case "connection":
      return { kind, path: "/v1", id: toTypeId("con", owner.connectionId) };
    case "merchant": {
      const id = toTypeId("mer", owner.merchantId);
      return { kind, path: `/api/merchants/${id}`, id };
    }
    case "facility": {
      const id = toTypeId("fac", owner.connectionId);
      return { kind, path: `/api/facilities/${id}`, id };
    }
  }
}

const whatToDo = (facts: WarningFacts, path: string): string[][] =>
  facts.stage === 3 ? paused(facts, path) : stillTried(facts, path);

const SUBJECTS: Record<WarningFacts["stage"], string> = {
  1: "A webhook endpoint has been failing for a day",
  2: "A webhook endpoint has been failing for three days",
  3: "A webhook endpoint was paused",
};

/** Its address, or what a pull endpoint is known by. */
export const endpointName = ({
  endpointUrl,
  endpointId,
}: Pick<WarningFacts, "endpointUrl" | "endpointId">): string =>
  endpointUrl === null ? `${wireEndpointId(endpointId)} (a pull endpoint)` : urlWithoutQuery(endpointUrl);

const WORKS = {
  push: "Make sure that the URL responds with a status from 200 to 299 within the time limit.",
  pull: "Make sure that the program that leases its deliveries runs, and acknowledges them with a status from 200 to 299.",
};

const stillTried = ({ stage, endpointUrl }: WarningFacts, path: string): string[][] => [
  [
    stage === 1
      ? "Events are still sent and retried. There will be another mail after three days."
      : "Events are still sent and retried, but some deliveries may have failed for good.",
    "An endpoint without a success for five days is paused.",
  ],
  [
    endpointUrl === null ? WORKS.pull : WORKS.push,
    "Pending deliveries are then sent automatically. To send everything at once, also what has failed for good, call",
    `  POST ${path}/webhook-endpoints/{id}/recover`,
  ],
];

function paused({ failingSince, now, endpointUrl }: WarningFacts, path: string): string[][] {
  const keptSince = before(now, EVENTS_KEPT_MS);
  const since = failingSince > keptSince ? failingSince : keptSince;
  return [
    ["Nothing is sent to it any more. Its events are still recorded, and each is kept for 30 days."],
    [
      `When the ${endpointUrl === null ? "program" : "URL"} works again, resume the endpoint. Pending deliveries are then sent:`,
      `  POST ${path}/webhook-endpoints/{id}/resume`,
      "To send deliveries again that failed before the pause, call",
      `  POST ${path}/webhook-endpoints/{id}/recover`,
      `  {"since": "${since.toISOString()}"}`,
    ],
  ];
}

const utc = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
