import { useTranslation } from "react-i18next";
import type { Actor, Check, KnownHoldReason } from "../api/schema.d.ts";
import { formatDuration } from "./format.ts";

// Values of the API in words. Most are open: one that has no words here is shown as it is.

const KINDS = ["partner", "service", "operator", "warehouse", "merchant", "support"] as const;

/** What someone was who did something. */
export function useActorKind(): (kind: string) => string {
  const { t } = useTranslation();
  return (kind) => {
    const known = KINDS.find((each) => each === kind);
    return known === undefined ? kind : t(`actors.${known}`);
  };
}

/** Who did something: by name, or what it was. */
export function useActor(): (actor: Actor) => string {
  const kindText = useActorKind();
  return ({ kind, name }) => {
    const what = kindText(kind);
    return name === null || name === kind ? what : `${name} (${what})`;
  };
}

const HOLD_REASONS = [
  "payment_failed",
  "out_of_stock",
  "address_unserviceable",
  "merchant_request",
] as const satisfies readonly KnownHoldReason[];

/** A hold reason in words. The reasons are open: one that is not known is shown as it is. */
export function useHoldReason(): (reason: string) => string {
  const { t } = useTranslation();
  return (reason) => {
    const known = HOLD_REASONS.find((each) => each === reason);
    return known === undefined ? reason.replaceAll("_", " ") : t(`holdReasons.${known}`);
  };
}

/** The operations of timelines that have texts. The operations are open: others are shown by their names. */
export const OPERATIONS = [
  "create",
  "accept",
  "approve",
  "reject",
  "cancel",
  "complete",
  "hold",
  "addHold",
  "releaseHold",
  "route",
  "ship",
  "updateShipment",
  "voidShipment",
  "cancelLines",
  "returnShipment",
  "updateShippingAddress",
  "retryPayment",
  "refund",
  "erasePersonalData",
  "process",
  "note",
] as const;

/** The codes of declines that have texts. The codes are the gateways' own, so others can occur. */
const DECLINES = [
  "credit_limit_exceeded",
  "card_declined",
  "insufficient_funds",
  "expired_card",
  "authentication_required",
] as const;

/** Why a payment was declined, in words. A code that is not known is shown as it is. */
export function useDeclineReason(): (code: string) => string {
  const { t } = useTranslation();
  return (code) => {
    const known = DECLINES.find((each) => each === code);
    return known === undefined ? code.replaceAll("_", " ") : t(`declineReasons.${known}`);
  };
}

/** The fixed phrases of the service for an attempt that failed. `HTTP 503` is the same in every language. */
const ATTEMPT_ERRORS = {
  timeout: "timeout",
  "DNS lookup failed": "dnsFailed",
  "address is not public": "notPublic",
  "name has no public address": "noPublicAddress",
  "connection refused": "refused",
  "connection reset": "reset",
  "connection closed": "closed",
  "host unreachable": "unreachable",
  "invalid HTTP response": "invalidResponse",
  "response too large": "tooLarge",
  "too many interim responses": "interimResponses",
  "URL is not https": "notHttps",
  canceled: "canceled",
  "dropped by a rehearsed fault": "dropped",
  "cut off by a rehearsed fault": "cutOff",
  "request not sent": "notSent",
  "not fetched: no program leases the deliveries": "notFetched",
  "outcome unknown: the worker ended during the attempt": "workerEnded",
  "outcome unknown: not acknowledged before the lease ended": "leaseEnded",
  "TLS: certificate expired": "certificateExpired",
  "TLS: certificate is not valid yet": "certificateNotYetValid",
  "TLS: certificate revoked": "certificateRevoked",
  "TLS: self-signed certificate": "selfSigned",
  "TLS: unknown issuer": "unknownIssuer",
  "TLS: certificate name mismatch": "nameMismatch",
  "TLS: invalid certificate": "invalidCertificate",
  "TLS: handshake failed": "handshakeFailed",
} as const;

/** Why an attempt failed, in words. A phrase that is not known is shown as it is. */
export function useAttemptError(): (phrase: string) => string {
  const { t } = useTranslation();
  return (phrase) =>
    Object.hasOwn(ATTEMPT_ERRORS, phrase)
      ? t(`attemptErrors.${ATTEMPT_ERRORS[phrase as keyof typeof ATTEMPT_ERRORS]}`)
      : phrase;
}

type SystemKind = "queues" | "checks" | "jobs";

/** The name of a queue, check or job in words. One that has no text yet is shown by its name. */
export function useSystemName(): (kind: SystemKind, name: string) => string {
  const { t } = useTranslation();
  // A check of a queue has the name of the queue. Names of the API are any text to TypeScript.
  const keyOf = (kind: SystemKind, name: string) =>
    `systemNames.${kind}.${name}` as "systemNames.checks.clock";
  return (kind, name) => t([keyOf(kind, name), keyOf("queues", name)], { defaultValue: name });
}

/** What a check has found, in words. A reason without a text is said by the service. */
export function useFindingText(): (check: Check) => string {
  const { t } = useTranslation();
  return ({ reason, values, message }) =>
    reason === null
      ? message
      : // A German duration ends with the period of its unit.
        t(`systemNames.reasons.${reason}`, { ...wordsOf(values), defaultValue: message }).replaceAll(
          "..",
          ".",
        );
}

/** Times are in milliseconds, and their names say so. */
const wordsOf = (values: Check["values"]) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      name.endsWith("Ms") && typeof value === "number" ? formatDuration(value) : value,
    ]),
  );

// The first that matches: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari.
const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
] as const;

/** A browser and its system in a few words. Null if the text names neither. */
export function browserName(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([sign]) => userAgent.includes(sign))?.[1];
  const words = [find(BROWSERS), find(SYSTEMS)].filter((word) => word !== undefined);
  return words.length === 0 ? userAgent.slice(0, 60) : words.join(", ");
}
