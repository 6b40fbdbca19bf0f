import { oneLine, subjectWith } from "../../mail/one-line.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { before } from "../../platform/time.ts";
import { urlWithoutQuery } from "../endpoints/url-without-query.ts";

export type WarningFacts = {
  /** 1 after a day without a success, 2 after three days, 3 when the endpoint is paused. */
  readonly stage: 1 | 2 | 3;
  readonly endpointUrl: string;
  readonly connectionName: string;
  /** The first failure since the last success. */
  readonly failingSince: Date;
  readonly now: Date;
};

/** The mail about an endpoint that accepts no events. It contains no secret, so it may be forwarded. */
export function warningMail(facts: WarningFacts): { subject: string; body: string } {
  const name = oneLine(facts.connectionName);
  const paragraphs = [
    [
      `An endpoint of the connection "${name}" has accepted no events since ${utc(facts.failingSince)}:`,
      `  ${urlWithoutQuery(facts.endpointUrl)}`,
    ],
    ...(facts.stage === 3 ? paused(facts) : stillTried(facts.stage)),
    [
      "Each attempt, with its response or error, is in the delivery log:",
      "  GET /v1/deliveries?endpointId={id}",
      "GET /v1/webhook-endpoints returns the id of the endpoint. Both need a key of the connection.",
    ],
    [`Written at ${utc(facts.now)}.`],
  ];
  return {
    subject: subjectWith(`${SUBJECTS[facts.stage]}: `, name),
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
      ? "Events are still sent and retried. There will be another mail after three days."
      : "Events are still sent and retried, but some deliveries may have failed for good.",
    "An endpoint without a success for five days is paused.",
  ],
  [
    "Make sure that the URL responds with a status from 200 to 299 within the time limit.",
    "Pending deliveries are then sent automatically. To send failed deliveries again, call",
    "  POST /v1/webhook-endpoints/{id}/recover",
  ],
];

function paused({ failingSince, now }: WarningFacts): string[][] {
  const keptSince = before(now, EVENTS_KEPT_MS);
  const since = failingSince > keptSince ? failingSince : keptSince;
  return [
    ["Nothing is sent to it any more. Its events are still recorded, and each is kept for 30 days."],
    [
      "When the URL works again, resume the endpoint. Pending deliveries are then sent:",
      "  POST /v1/webhook-endpoints/{id}/resume",
      "To send deliveries again that failed before the pause, call",
      "  POST /v1/webhook-endpoints/{id}/recover",
      `  {"since": "${since.toISOString()}"}`,
    ],
  ];
}

const utc = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
