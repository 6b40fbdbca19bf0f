import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { before } from "../../platform/time.ts";

export type WarningFacts = {
  /** 1 after a day without a success, 2 after three, 3 when the endpoint is paused. */
  readonly stage: 1 | 2 | 3;
  readonly endpointUrl: string;
  readonly connectionName: string;
  /** The first failure since the last success. */
  readonly failingSince: Date;
  readonly now: Date;
};

/** The mail about an endpoint that takes no events. It may be passed on: there is no secret in it. */
export function warningMail(facts: WarningFacts): { subject: string; body: string } {
  const name = oneLine(facts.connectionName);
  const paragraphs = [
    [
      `An endpoint of the connection "${name}" has taken no events since ${utc(facts.failingSince)}:`,
      `  ${withoutSecrets(facts.endpointUrl)}`,
    ],
    ...(facts.stage === 3 ? paused(facts) : stillTried(facts.stage)),
    [
      "Each attempt, with the response or the error, is in the delivery log:",
      "  GET /v1/deliveries?endpointId={id}",
      "The endpoint's id is in GET /v1/webhook-endpoints. Both need a key of the connection.",
    ],
    [`This is the state of ${utc(facts.now)}.`],
  ];
  return {
    subject: `${SUBJECTS[facts.stage]}: ${name}`,
    body: `${paragraphs.map((lines) => lines.join("\n")).join("\n\n")}\n`,
  };
}

const SUBJECTS: Record<WarningFacts["stage"], string> = {
  1: "A webhook endpoint has been failing for a day",
  2: "A webhook endpoint has been failing for three days",
  3: "A webhook endpoint was paused",
};

const stillTried = (stage: 1 | 2): string[][] => [
  [
    stage === 1
      ? "Events are still being sent and retried. There will be another mail after three days."
      : "Events are still being sent and retried, but some deliveries may have failed by now.",
    "An endpoint without a success for five days is paused.",
  ],
  [
    "Please make sure that the address returns a status from 200 to 299 within the time limit.",
    "Nothing else needs to be done: pending events are then sent automatically. Failed deliveries are sent again by",
    "  POST /v1/webhook-endpoints/{id}/recover",
  ],
];

function paused({ failingSince, now }: WarningFacts): string[][] {
  const keptSince = before(now, EVENTS_KEPT_MS);
  const since = failingSince > keptSince ? failingSince : keptSince;
  return [
    ["Nothing is sent to it any more. Its events are still recorded, and each is kept for 30 days."],
    [
      "When the address works again, resume the endpoint. Pending events are then sent:",
      "  POST /v1/webhook-endpoints/{id}/resume",
      "What was given up before the pause is sent again by",
      "  POST /v1/webhook-endpoints/{id}/recover",
      `  {"since": "${since.toISOString()}"}`,
    ],
  ];
}

const utc = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** A name is free text, and a subject is one line. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

/** Partners put tokens into user names and queries; the rest is enough to know the endpoint by. */
function withoutSecrets(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === "" ? "" : "?…"}`;
}
