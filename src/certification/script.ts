import { after, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import {
  type AnsweredOrders,
  type CheckResult,
  isOver,
  judgeCreation,
  judgeScenario,
  judgeState,
  judgeThroughput,
  type LostCreation,
  SCENARIOS,
  type ScenarioCheck,
  type SeenDelivery,
  skipped,
  type TrueOrder,
} from "./checks.ts";

// What a run does next, by what has been seen. Nothing here is done: src/certification/advance-runs.ts does it in the transaction
// that stores the decision (docs/design/certification.md, "A run is a row").

/** `deliveries`: the scenarios of the checks with faults, all at the same time. */
export const PHASES = ["challenge", "deliveries", "state", "throughput", "lost-creation"] as const;
export type Phase = (typeof PHASES)[number];

/** How far a run has come. */
export type Progress = {
  readonly phase: Phase;
  /** When the phase began. */
  readonly phaseAt: Date;
  /** The question that was sent last. Null: none in this phase. */
  readonly question: Question | null;
  /** How many questions the phase has sent. */
  readonly asked: number;
  /** The orders of the scenarios. */
  readonly orders: Readonly<Partial<Record<ScenarioCheck, string>>>;
  /** The orders whose events come at 20 a second, and how many of their events have been published. */
  readonly burst: { readonly orders: readonly string[]; readonly published: number };
};

type Question = {
  readonly eventId: string;
  /** What the receiver must sign. */
  readonly challenge: string;
  readonly askedAt: Date;
};

/** What the receiver has answered to a question. */
export type Answer =
  | { readonly is: "pending" }
  /** The first attempt was not answered with 2xx. Later ones do not count: by then, anyone who reads the log knows the question. */
  | { readonly is: "none"; readonly seen: string }
  | { readonly is: "unproven"; readonly seen: string }
  | { readonly is: "proven"; readonly orders: AnsweredOrders };

export type Facts = {
  readonly now: Date;
  readonly startedAt: Date;
  readonly isPull: boolean;
  readonly inFlightMax: number;
  /** Of the question of the progress. */
  readonly answer: Answer;
  /** The deliveries of the run's orders to the endpoint. */
  readonly deliveriesOf: (orderId: string) => readonly SeenDelivery[];
  /** The orders that the receiver is asked for. */
  readonly orders: readonly TrueOrder[];
  readonly creation: LostCreation;
};

export type Decision = {
  readonly progress: Progress;
  readonly results: readonly CheckResult[];
  /**
   * `ask`: send a question. `rehearse`: place the orders of the scenarios, with their faults. `publish`: publish the next events of the
   * burst. `wait`: look again later. `end`: the run is over.
   */
  readonly next: "ask" | "rehearse" | "publish" | "wait" | "end";
  readonly lookAgainAt: Date;
};

/** How often a run looks at what it waits for. */
const LOOK_MS = SECOND_MS;
/** How long a question waits for its answer. It is not sent later than that. */
export const QUESTION_MS = 20 * SECOND_MS;
/** After an answer that does not come, or is not right yet, the question is asked again. */
const ASK_AGAIN_MS = 5 * SECOND_MS;
const CHALLENGES_MAX = 3;
const STATE_QUESTIONS_MAX = 4;
/** A receiver that has not accepted an event of a scenario by then has failed. */
const SCENARIOS_MS = 2 * MINUTE_MS;
/** After the last event of the burst. */
const BURST_MS = 30 * SECOND_MS;
/** Each order of the burst has three events, one a second. */
const BURST_EVENTS = 3;
/** From the start of the run. */
export const CREATION_MS = 10 * MINUTE_MS;

export const firstProgress = (now: Date, isPull: boolean): Progress => ({
  phase: isPull ? "deliveries" : "challenge",
  phaseAt: now,
  question: null,
  asked: 0,
  orders: {},
  burst: { orders: [], published: 0 },
});

export function decide(progress: Progress, facts: Facts): Decision {
  switch (progress.phase) {
    case "challenge":
      return challenge(progress, facts);
    case "deliveries":
      return deliveries(progress, facts);
    case "state":
      return state(progress, facts);
    case "throughput":
      return throughput(progress, facts);
    case "lost-creation":
      return lostCreation(progress, facts);
    default:
      return progress.phase satisfies never;
  }
}

function challenge(progress: Progress, facts: Facts): Decision {
  const { answer } = facts;
  if (progress.question === null) return ask(progress, facts);
  switch (answer.is) {
    case "pending":
      return isLate(progress.question, facts) ? again("No answer came in time.") : wait(progress, facts);
    case "none":
      return again(answer.seen);
    case "unproven":
      return ending(progress, facts, { check: "challenge", result: "failed", seen: answer.seen });
    case "proven":
      return enter("deliveries", progress, facts, [
        { check: "challenge", result: "passed", seen: "It answered with the proof." },
      ]);
    default:
      return answer satisfies never;
  }

  function again(seen: string): Decision {
    return progress.asked < CHALLENGES_MAX
      ? askAgain(progress, facts)
      : ending(progress, facts, { check: "challenge", result: "failed", seen });
  }
}

function deliveries(progress: Progress, facts: Facts): Decision {
  const results: CheckResult[] = facts.isPull
    ? [
        skipped(
          "challenge",
          "A pull endpoint is read with the key of its connection, so nothing is sent to a stranger.",
        ),
      ]
    : [];
  if (Object.keys(progress.orders).length === 0)
    return { progress, results, next: "rehearse", lookAgainAt: after(facts.now, LOOK_MS) };
  const ofScenarios = SCENARIOS.map((scenario) => ({
    scenario,
    seen: facts.deliveriesOf(progress.orders[scenario.check] ?? ""),
  }));
  const isDone = ofScenarios.every(({ seen }) => isOver(seen));
  if (!isDone && facts.now < after(progress.phaseAt, SCENARIOS_MS)) return wait(progress, facts);
  return enter(
    "state",
    progress,
    facts,
    ofScenarios.map(({ scenario, seen }) => judgeScenario(scenario, seen)),
  );
}

function state(progress: Progress, facts: Facts): Decision {
  const { answer, orders } = facts;
  if (progress.question === null) return ask(progress, facts);
  if (answer.is === "pending" && !isLate(progress.question, facts)) return wait(progress, facts);
  const result = judgeState(orders, answer.is === "proven" ? answer.orders : null);
  // It may process events after it has accepted them.
  if (result.result === "failed" && progress.asked < STATE_QUESTIONS_MAX) return askAgain(progress, facts);
  return enter("throughput", progress, facts, [result]);
}

function throughput(progress: Progress, facts: Facts): Decision {
  const { burst } = progress;
  const valid = facts.deliveriesOf(progress.orders.valid ?? "");
  if (burst.published === 0 && !valid.every(({ status }) => status === "succeeded"))
    return enter("lost-creation", progress, facts, [
      skipped("throughput", "It does not accept valid events, so no more were sent."),
    ]);
  if (burst.published < BURST_EVENTS)
    return { progress, results: [], next: "publish", lookAgainAt: after(facts.now, SECOND_MS) };
  const seen = burst.orders.flatMap(facts.deliveriesOf);
  if (!isOver(seen) && facts.now < after(progress.phaseAt, BURST_EVENTS * SECOND_MS + BURST_MS))
    return wait(progress, facts);
  return enter("lost-creation", progress, facts, [judgeThroughput(seen, facts.inFlightMax)]);
}

function lostCreation(progress: Progress, facts: Facts): Decision {
  const result = judgeCreation(facts.creation, facts.now >= after(facts.startedAt, CREATION_MS));
  return result === null ? wait(progress, facts) : ending(progress, facts, result);
}

const isLate = ({ askedAt }: Question, { now }: Facts): boolean => now >= after(askedAt, QUESTION_MS);

const wait = (progress: Progress, { now }: Facts): Decision => ({
  progress,
  results: [],
  next: "wait",
  lookAgainAt: after(now, LOOK_MS),
});

const ask = (progress: Progress, { now }: Facts): Decision => ({
  progress: { ...progress, asked: progress.asked + 1 },
  results: [],
  next: "ask",
  lookAgainAt: after(now, LOOK_MS),
});

const askAgain = (progress: Progress, { now }: Facts): Decision => ({
  progress: { ...progress, question: null },
  results: [],
  next: "wait",
  lookAgainAt: after(now, ASK_AGAIN_MS),
});

const enter = (
  phase: Phase,
  progress: Progress,
  { now }: Facts,
  results: readonly CheckResult[],
): Decision => ({
  progress: { ...progress, phase, phaseAt: now, question: null, asked: 0 },
  results,
  next: "wait",
  lookAgainAt: now,
});

const ending = (progress: Progress, { now }: Facts, result: CheckResult): Decision => ({
  progress,
  results: [result],
  next: "end",
  lookAgainAt: now,
});
