/** What a certification examines, in the order of its report. */
export const CHECKS = [
  "challenge",
  "valid",
  "wrong-signature",
  "stale-timestamp",
  "duplicate",
  "two-at-once",
  "reordered",
  "unknown-type",
  "unknown-field",
  "largest-body",
  "cut-body",
  "outage",
  "state",
  "throughput",
  "lost-creation",
] as const;
export type Check = (typeof CHECKS)[number];

type CheckText = {
  /** What is examined, as the end of "The receiver …". */
  readonly examines: string;
  /** What happens in production if it fails. */
  readonly why: string;
  /** How to pass. */
  readonly remedy: string;
};

/** docs/partners/certification.md explains the same to partners. */
export const CHECK_TEXTS: Readonly<Record<Check, CheckText>> = {
  challenge: {
    examines: "proves that it has the signing secret of the endpoint",
    why: "Test orders and faults are sent only to a receiver whose owner has asked for them, and never to a stranger.",
    remedy:
      "Answer a webhook.ping that has data.certification with 200 and the JSON of webhooks.answer of the SDK, or compute it as the page Certification shows.",
  },
  valid: {
    examines: "accepts valid events",
    why: "An event that is not accepted is retried for days, and the later events of its order wait for it.",
    remedy: "Verify the signature over the raw body, store the event, and return 200 within 15 seconds.",
  },
  "wrong-signature": {
    examines: "rejects a request that is signed with another secret",
    why: "Anyone who knows the address could otherwise report shipments and cancellations that never happened.",
    remedy: "Compare webhook-signature before anything else, and return 401 if it does not fit.",
  },
  "stale-timestamp": {
    examines: "rejects a request that was signed an hour ago",
    why: "A request that was recorded once could otherwise be sent again at any later time.",
    remedy: "Return 401 if webhook-timestamp is more than five minutes from now.",
  },
  duplicate: {
    examines: "accepts an event that it has had before",
    why: "Events are delivered at least once. One that is rejected the second time is sent again and again.",
    remedy: "Remember each webhook-id, and return 200 without acting when it comes again.",
  },
  "two-at-once": {
    examines: "accepts the same event twice at the same time",
    why: "A retry can arrive while the first request is still being processed.",
    remedy:
      "Let a unique constraint on webhook-id decide which of both requests acts, and return 200 to both.",
  },
  reordered: {
    examines: "accepts an older event after a newer one",
    why: "After a redelivery or a recovery an order's events can arrive out of order.",
    remedy: "Keep the highest sequence of each order, and return 200 to an older event without acting.",
  },
  "unknown-type": {
    examines: "accepts an event of a type that it does not know",
    why: "New types of events are added without a new version of the API.",
    remedy: "Return 200 for types that your program does not use.",
  },
  "unknown-field": {
    examines: "accepts an event with a member that it does not know",
    why: "New members are added to events without a new version of the API.",
    remedy: "Ignore members that your program does not know.",
  },
  "largest-body": {
    examines: "accepts the largest event",
    why: "An order can have 200 lines in as many shipments. Many servers reject such a body by default.",
    remedy: "Raise the limit of request bodies to 1 MiB, also in the proxy before your program.",
  },
  "cut-body": {
    examines: "accepts an event whose first request broke off",
    why: "Connections break. A part of an event must leave nothing behind that rejects the whole one.",
    remedy: "Act only when the whole body has arrived and its signature fits.",
  },
  outage: {
    examines: "accepts events that come late and together after an outage",
    why: "After an outage the events of hours arrive within seconds.",
    remedy:
      "Compare webhook-timestamp with the clock, not the time of the event, and store events before you process them.",
  },
  state: {
    examines: "has stored each order as it is, and acted on each event once",
    why: "A program that acts twice on a duplicate ships or refunds twice. One that lets the last message win shows a completed order as in progress.",
    remedy: "Remember each webhook-id, and keep the order of the highest sequence.",
  },
  throughput: {
    examines: "answers at 20 events a second",
    why: "On a busy day events come in bursts. A slow receiver falls behind, and learns of cancellations late.",
    remedy: "Return 200 as soon as the event is stored, and process it afterwards; or raise maxInFlight.",
  },
  "lost-creation": {
    examines: "creates one order although the response to its request is lost",
    why: "A program that cannot repeat a creation loses orders or places them twice.",
    remedy:
      "Store the externalOrderId before the request, and after an error without a response send the same request again.",
  },
};

export type CheckResult = {
  readonly check: Check;
  readonly result: "passed" | "failed" | "advice" | "skipped";
  /** What was observed, in sentences. */
  readonly seen: string;
};

const passed = (check: Check, seen: string): CheckResult => ({ check, result: "passed", seen });
const failed = (check: Check, seen: string): CheckResult => ({ check, result: "failed", seen });
export const skipped = (check: Check, seen: string): CheckResult => ({ check, result: "skipped", seen });

/** An attempt of a delivery. */
export type SeenAttempt = {
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  /** The fault that it rehearsed. Null if it was as usual. */
  readonly fault: string | null;
};

/** A delivery of the run to the endpoint. */
export type SeenDelivery = {
  readonly streamId: string;
  readonly eventType: string;
  readonly sequence: number | null;
  readonly status: "pending" | "succeeded" | "failed";
  readonly fault: string | null;
  readonly happenedAt: Date;
  readonly attempts: readonly SeenAttempt[];
};

const isSuccess = ({ responseStatus, error }: SeenAttempt): boolean =>
  error === null && responseStatus !== null && responseStatus >= 200 && responseStatus < 300;

const is2xx = ({ responseStatus }: SeenAttempt): boolean =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300;

/** How an attempt ended, for people. */
const outcomeOf = ({ responseStatus, error }: SeenAttempt): string =>
  error ?? (responseStatus === null ? "no response" : `HTTP ${responseStatus}`);

/** What rehearses a check with a test order: its transitions, and the fault of the delivery of one of them. */
export type Scenario = {
  readonly check: ScenarioCheck;
  readonly transitions: readonly ("hold" | "releaseHold" | "ship" | "complete")[];
  /** It happens to the event of the first transition. Null: none. */
  readonly fault: Fault | null;
};
export type ScenarioCheck = Exclude<Check, "challenge" | "state" | "throughput" | "lost-creation">;
type Fault =
  | { readonly fault: Exclude<ScenarioCheck, "valid" | "outage"> }
  | { readonly fault: "outage"; readonly seconds: number };

const OUTAGE_SECONDS = 10;

/** Their orders are independent, so all of them are rehearsed at the same time. */
export const SCENARIOS: readonly Scenario[] = [
  { check: "valid", fault: null, transitions: ["hold", "releaseHold", "ship", "complete"] },
  ...(["wrong-signature", "stale-timestamp", "duplicate", "two-at-once"] as const).map((fault) => ({
    check: fault,
    fault: { fault },
    transitions: ["ship"] as const,
  })),
  { check: "reordered", fault: { fault: "reordered" }, transitions: ["ship", "complete"] },
  ...(["unknown-type", "unknown-field", "largest-body", "cut-body"] as const).map((fault) => ({
    check: fault,
    fault: { fault },
    transitions: ["ship"] as const,
  })),
  {
    check: "outage",
    fault: { fault: "outage", seconds: OUTAGE_SECONDS },
    transitions: ["ship", "complete"],
  },
];

/** The events that the script needs. */
export const NEEDED_TYPES = ["order.created", "order.shipmentCreated", "order.completed"] as const;

/** Whether nothing more happens to these deliveries. */
export const isOver = (deliveries: readonly SeenDelivery[]): boolean =>
  deliveries.length > 0 && deliveries.every(({ status }) => status !== "pending");

/** The result of a scenario, from the deliveries of its order. */
export function judgeScenario({ check, fault }: Scenario, deliveries: readonly SeenDelivery[]): CheckResult {
  const rehearsed = deliveries.find((delivery) => delivery.fault !== null);
  const faulty = rehearsed?.attempts.find((attempt) => attempt.fault !== null);
  switch (check) {
    case "wrong-signature":
    case "stale-timestamp":
      // What must be rejected comes first: a receiver that accepts everything also accepts the right request.
      if (faulty !== undefined && is2xx(faulty))
        return failed(
          check,
          `It returned ${faulty.responseStatus} to a request that it had to reject: ${FORGED[check]}.`,
        );
      break;
    case "cut-body":
      if (faulty !== undefined && is2xx(faulty))
        return failed(check, `It returned ${faulty.responseStatus} before the whole body had arrived.`);
      break;
    default:
      break;
  }
  const notAccepted = deliveries.find(({ status }) => status !== "succeeded");
  const wrong = notAccepted ?? (RETRIED.includes(check) ? undefined : deliveries.find(hasFailed));
  if (wrong !== undefined) return failed(check, `It did not accept ${nameOf(wrong)}: ${endOf(wrong)}.`);
  if (deliveries.length === 0) return failed(check, "The order had no delivery to the endpoint.");
  if (fault !== null && rehearsed === undefined)
    return failed(check, "The fault was not sent: the test order was erased or changed during the run.");
  if (faulty !== undefined && FORGED[check] !== undefined)
    return passed(check, `It rejected it (${outcomeOf(faulty)}), and accepted the right request.`);
  return passed(
    check,
    `It accepted ${deliveries.length} events of the order${fault === null ? "" : `, one of them with the fault ${fault.fault}`}.`,
  );
}

const FORGED: Readonly<Partial<Record<Check, string>>> = {
  "wrong-signature": "its signature was made with another secret",
  "stale-timestamp": "it was signed an hour ago",
};

/** Their first attempts fail, so a failed one says nothing about the receiver. */
const RETRIED: readonly Check[] = ["wrong-signature", "stale-timestamp", "cut-body", "outage"];

const hasFailed = ({ attempts }: SeenDelivery): boolean => attempts.some((attempt) => !isSuccess(attempt));

const nameOf = ({ eventType, sequence, fault }: SeenDelivery): string =>
  `${eventType}${sequence === null ? "" : ` (sequence ${sequence})`}${fault === null ? "" : ` with the fault ${fault}`}`;

function endOf({ attempts }: SeenDelivery): string {
  const wrong = attempts.filter((attempt) => !isSuccess(attempt));
  const [first] = wrong;
  if (first === undefined)
    return "it was not sent in time, because the endpoint has not accepted earlier events";
  return wrong.length === 1 ? outcomeOf(first) : `${outcomeOf(first)}, after ${wrong.length} attempts`;
}

/** An order as the service has it. */
export type TrueOrder = {
  /** What it was placed for. */
  readonly check: ScenarioCheck;
  /** As the receiver knows it. */
  readonly wireId: string;
  readonly status: string;
  /** Events that were published to the endpoint. */
  readonly sequence: number;
};

/** Those whose orders the receiver is asked for. */
export const ASKED_CHECKS: readonly ScenarioCheck[] = ["valid", "duplicate", "two-at-once", "reordered"];

/** What the receiver has answered to the question for its orders. Null: nothing that can be read. */
export type AnsweredOrders = Readonly<
  Record<string, { readonly status: string; readonly sequence: number; readonly handled: number } | undefined>
> | null;

/** The result of the question for what the receiver has stored. */
export function judgeState(orders: readonly TrueOrder[], answer: AnsweredOrders): CheckResult {
  if (answer === null)
    return failed(
      "state",
      "It did not say what it has stored, so duplicates and late events may have changed anything.",
    );
  const wrong = orders.flatMap(({ check, wireId, status, sequence }) => {
    const found = answer[wireId];
    const named = `the order of ${check} (${wireId})`;
    if (found === undefined) return `it does not know ${named}`;
    return [
      ...(found.sequence === sequence && found.status === status
        ? []
        : [
            `it has ${named} as ${found.status} with sequence ${found.sequence}, and it is ${status} with sequence ${sequence}`,
          ]),
      ...(found.handled > sequence
        ? [`it acted ${found.handled} times on ${named}, which has had ${sequence} events`]
        : []),
    ];
  });
  return wrong.length === 0
    ? passed("state", `It has all ${orders.length} orders as they are, and acted on no event twice.`)
    : failed("state", `${sentence(wrong.join("; "))}.`);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const RATE_PER_SECOND = 20;

/**
 * How fast the receiver answered. Only advice: it depends on the network and on the machine of a test.
 * @param inFlightMax requests that the endpoint takes at the same time
 */
export function judgeThroughput(deliveries: readonly SeenDelivery[], inFlightMax: number): CheckResult {
  const accepted = deliveries.filter(({ status }) => status === "succeeded");
  const durations = deliveries
    .flatMap(({ attempts }) => attempts.flatMap(({ durationMs }) => durationMs ?? []))
    .sort((a, b) => a - b);
  const meanMs = durations.reduce((sum, ms) => sum + ms, 0) / Math.max(1, durations.length);
  const perSecond = meanMs === 0 ? Number.POSITIVE_INFINITY : (inFlightMax * 1_000) / meanMs;
  const seen = `It accepted ${accepted.length} of ${deliveries.length} events. A response took ${Math.round(meanMs)} ms on average and ${durations.at(-1) ?? 0} ms at most; with ${inFlightMax} requests at a time that is ${perSecond > 1_000 ? "more than 1000" : `about ${Math.floor(perSecond)}`} events a second.`;
  const isFast =
    deliveries.length > 0 && accepted.length === deliveries.length && perSecond >= RATE_PER_SECOND;
  return { check: "throughput", result: isFast ? "passed" : "advice", seen };
}

/** What has become of the creation whose response is lost. */
export type LostCreation = {
  readonly externalOrderId: string;
  /** When the request arrived whose response was lost. Null: none has. */
  readonly lostAt: Date | null;
  /** When it arrived again. */
  readonly repeatedAt: Date | null;
  /** What a later request did instead of the same once more. */
  readonly otherwise: string | null;
};

/** Null: there is nothing to say yet. */
export function judgeCreation(
  { lostAt, repeatedAt, otherwise }: LostCreation,
  isLate: boolean,
): CheckResult | null {
  if (otherwise !== null)
    return failed("lost-creation", `After the lost response came another request: ${otherwise}.`);
  if (repeatedAt !== null)
    return passed(
      "lost-creation",
      "The same request came again after the lost response, and there is one order.",
    );
  if (!isLate) return null;
  return lostAt === null
    ? failed("lost-creation", "No test order was created with the externalOrderId and the header Test-Fault.")
    : failed(
        "lost-creation",
        "The order was created, and after the lost response the request did not come again.",
      );
}
