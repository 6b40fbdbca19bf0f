import { randomBytes } from "node:crypto";
import type { Order } from "../lifecycle/order.ts";
import { markCertified } from "../merchants/connections-sql.ts";
import { limitReached } from "../merchants/limits.ts";
import { transitionTestOrderWithin } from "../orders/changes/transition-test-order.ts";
import { placementOf } from "../orders/creation/create-order.ts";
import { placeOrderWithin } from "../orders/creation/place-orders.ts";
import { readOrders } from "../orders/orders-sql.ts";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf, uuidAt, wireOrderId } from "../platform/ids.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { after, before, CLOCK_SKEW_MAX_MS } from "../platform/time.ts";
import { isProblem, type Problem } from "../platform/wire/problems.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { type Endpoint, wireEndpointId } from "../webhooks/endpoints/endpoint.ts";
import { shareEndpoint } from "../webhooks/endpoints/endpoints-sql.ts";
import { readSecrets } from "../webhooks/endpoints/secrets.ts";
import { armFault } from "../webhooks/faults/arm-fault.ts";
import { listAttempts, listDeliveriesOfStreams } from "../webhooks/log/delivery-log-sql.ts";
import { insertPing } from "../webhooks/resend/manual.ts";
import { answerIn, pendingAnswer } from "./answer.ts";
import {
  type Certification,
  type CertificationKey,
  externalIdOf,
  wireCertificationId,
} from "./certification.ts";
import { listDueCertifications, lockDueCertification, updateCertification } from "./certifications-sql.ts";
import {
  ASKED_CHECKS,
  RATE_PER_SECOND,
  SCENARIOS,
  type ScenarioCheck,
  type SeenDelivery,
  type TrueOrder,
} from "./checks.ts";
import { type Answer, type Decision, decide, type Facts, type Progress, QUESTION_MS } from "./script.ts";

/** Continues all open runs that are due. Returns how many steps it made. */
export function advanceCertifications(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listDueCertifications(context.db, context.clock.now())),
    (key) => advance(context, key),
    stopping,
  );
}

/**
 * Makes the next step of a run: looks at what has happened, decides, does it, and stores how far it has come, in one transaction. So a
 * worker that ends in the middle leaves nothing behind, and no step is made twice.
 */
async function advance(context: WebhookContext, key: CertificationKey): Promise<number> {
  const made = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const run = await lockDueCertification(tx, key, now);
    if (run === null) return false;
    const endpoint = await shareEndpoint(tx, run, run.endpointId);
    const reason = whyOver(run, endpoint);
    if (endpoint === null || reason !== null) {
      await endRun(tx, { ...run, reason }, now);
      return true;
    }
    const decision = decide(run.progress, await factsOf(tx, context, run, endpoint, now));
    const decided = { ...run, results: [...run.results, ...decision.results], progress: decision.progress };
    if (decision.next === "end") {
      await endRun(tx, decided, now);
      return true;
    }
    const progress = await carryOut(tx, context, decided, endpoint, decision);
    if (isProblem(progress))
      await endRun(tx, { ...run, reason: `A test order was rejected: ${progress.detail}` }, now);
    else await updateCertification(tx, { ...decided, progress }, decision.lookAgainAt);
    return true;
  });
  if (made) context.signals.send("deliveries_due", [key]);
  return made ? 1 : 0;
}

/** Why a run cannot continue. The challenge has proved this address, and no other one. */
function whyOver(run: Certification, endpoint: Endpoint | null): string | null {
  if (endpoint === null) return "The endpoint was deleted during the run.";
  if (endpoint.status === "paused") return "The endpoint was paused during the run.";
  return endpoint.updatedAt.getTime() === run.endpointUpdatedAt.getTime()
    ? null
    : "The endpoint was changed during the run. Start it again.";
}

/** Ends a run. It has passed if it came to its end and no check has failed. */
async function endRun(tx: Queryable, run: Certification, now: Date): Promise<void> {
  const isPassed = run.reason === null && run.results.every(({ result }) => result !== "failed");
  await updateCertification(tx, { ...run, status: isPassed ? "passed" : "failed", finishedAt: now }, now);
  if (isPassed) await markCertified(tx, run, now);
}

async function factsOf(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
  endpoint: Endpoint,
  now: Date,
): Promise<Facts> {
  const { progress } = run;
  const orderIds = [...Object.values(progress.orders), ...progress.burst.orders];
  const questionId = progress.question?.eventId;
  const streamIds = questionId === undefined ? orderIds : [...orderIds, questionId];
  const seen = await readSeen(tx, run, streamIds);
  const askedOrders = await readAskedOrders(tx, run);
  return {
    now,
    startedAt: run.createdAt,
    isPull: endpoint.kind === "pull",
    inFlightMax: endpoint.inFlightMax,
    answer: await answerOf(tx, context, run, seen),
    deliveriesOf: (orderId) => seen.get(orderId) ?? [],
    orders: askedOrders.map(([check, order]) => toTrueOrder(check, order, seen.get(order.id) ?? [])),
    creation: { ...run, externalOrderId: externalIdOf(run, "lost-creation") },
  };
}

async function readAskedOrders(
  tx: Queryable,
  run: Certification,
): Promise<(readonly [check: ScenarioCheck, order: Order])[]> {
  const ids = ASKED_CHECKS.flatMap((check) => run.progress.orders[check] ?? []);
  if (ids.length === 0) return [];
  const orders = new Map((await readOrders(tx, run, ids)).map((order) => [order.id, order]));
  return ASKED_CHECKS.flatMap((check) => {
    const order = orders.get(run.progress.orders[check] ?? "");
    return order === undefined ? [] : [[check, order] as const]; // Without one that the partner has erased.
  });
}

/** The highest sequence is that of the last event that was delivered: the endpoint may not receive all types. */
const toTrueOrder = (check: ScenarioCheck, order: Order, deliveries: readonly SeenDelivery[]): TrueOrder => ({
  check,
  wireId: wireOrderId(order),
  status: order.status,
  sequence: Math.max(0, ...deliveries.map(({ sequence }) => sequence ?? 0)),
});

async function answerOf(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
  seen: ReadonlyMap<string, readonly SeenDelivery[]>,
): Promise<Answer> {
  const { question } = run.progress;
  const [attempt] = (question && seen.get(question.eventId)?.[0]?.attempts) ?? [];
  if (question === null || attempt === undefined) return pendingAnswer;
  const { secrets } = await readSecrets(tx, { ...run, id: run.endpointId });
  const now = context.clock.now();
  const valid = secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  const opened = valid.map(({ sealed }) => context.secrets.open(sealed, run.endpointId));
  return answerIn(attempt, question.challenge, opened);
}

/** Attempts of a delivery that a report can name. */
const ATTEMPTS_MAX = 20;

async function readSeen(
  tx: Queryable,
  run: Certification,
  streamIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SeenDelivery[]>> {
  if (streamIds.length === 0) return new Map();
  const { merchantId, connectionId } = run;
  const deliveries = await listDeliveriesOfStreams(tx, run, run.endpointId, streamIds);
  const attempts = Map.groupBy(
    await listAttempts(
      tx,
      deliveries.map(({ id }) => ({ merchantId, connectionId, id })),
      { oldestId: uuidAt(before(run.createdAt, CLOCK_SKEW_MAX_MS)), limit: ATTEMPTS_MAX },
    ),
    ({ deliveryId }) => deliveryId,
  );
  return Map.groupBy(
    deliveries.map((delivery) => ({
      ...delivery,
      happenedAt: momentOf(delivery.id),
      attempts: attempts.get(delivery.id) ?? [],
    })),
    ({ streamId }) => streamId,
  );
}

/** Does what was decided. Returns how far the run has come with it, or why it could not be done. */
async function carryOut(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
  endpoint: Endpoint,
  { next, progress }: Decision,
): Promise<Progress | Problem> {
  switch (next) {
    case "ask":
      return ask(tx, context, run, endpoint);
    case "rehearse":
      return rehearse(tx, context, run);
    case "publish":
      return publishBurst(tx, context, run);
    default:
      return progress;
  }
}

async function ask(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
  endpoint: Endpoint,
): Promise<Progress> {
  const { progress } = run;
  const now = context.clock.now();
  const challenge = randomBytes(32).toString("hex");
  const orderIds = ASKED_CHECKS.flatMap((check) => progress.orders[check] ?? []).map((id) =>
    wireOrderId({ id, testMode: true }),
  );
  const { eventId } = await insertPing(tx, context, endpoint, null, {
    data: { id: wireCertificationId(run), challenge, orderIds },
    notAfter: after(now, QUESTION_MS),
  });
  return { ...progress, question: { eventId, challenge, askedAt: now } };
}

/** Places the orders of all scenarios. Each fault is there before the event that it happens to. */
async function rehearse(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
): Promise<Progress | Problem> {
  const orders: Record<string, string> = {};
  const endpointId = wireEndpointId(run.endpointId);
  for (const { check, transitions, fault } of SCENARIOS) {
    const id = await place(tx, context, run, check);
    if (typeof id !== "string") return id;
    const { merchantId, connectionId } = run;
    const order = { merchantId, connectionId, id };
    const armed =
      fault === null
        ? null
        : await armFault(tx, context, order, { ...fault, endpointId }, context.clock.now());
    if (armed !== null && isProblem(armed)) return armed;
    for (const transition of transitions) {
      const moved = await transitionTestOrderWithin(tx, context, run, id, { transition });
      if (isProblem(moved)) return moved;
    }
    orders[check] = id;
  }
  return { ...run.progress, orders };
}

/** What happens to the orders of the burst after their creation: with it, BURST_EVENTS. */
const BURST_TRANSITIONS = ["ship", "complete"] as const;

/** Publishes an event of each order of the burst: its creation, and then a transition in each further second. */
async function publishBurst(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
): Promise<Progress | Problem> {
  const { burst } = run.progress;
  const orders: string[] = [...burst.orders];
  if (burst.published === 0)
    for (let number = 1; number <= RATE_PER_SECOND; number += 1) {
      const id = await place(tx, context, run, `throughput-${number}`);
      if (typeof id !== "string") return id;
      orders.push(id);
    }
  const transition = BURST_TRANSITIONS[burst.published - 1];
  if (transition !== undefined)
    for (const id of orders) {
      const moved = await transitionTestOrderWithin(tx, context, run, id, { transition });
      if (isProblem(moved)) return moved;
    }
  return { ...run.progress, burst: { orders, published: burst.published + 1 } };
}

const RECEIVER = {
  firstName: "Certification",
  lastName: "Run",
  address1: "1 Sample Street",
  city: "London",
  zip: "N1 1AA",
  countryCode: "GB",
};

/** Places a test order of the run by the code of POST /v1/orders. Returns its id. */
async function place(
  tx: Queryable,
  context: WebhookContext,
  run: Certification,
  name: string,
): Promise<string | Problem> {
  const externalOrderId = externalIdOf(run, name);
  const body = {
    externalOrderId,
    testMode: true,
    lines: [{ productId: run.productId, quantity: 1 }],
    shippingAddress: RECEIVER,
  };
  const placed = await placeOrderWithin(tx, context, placementOf(run, externalOrderId, body, undefined));
  switch (placed.outcome) {
    case "created":
      return placed.order.id;
    case "limit-reached":
      return limitReached("testOrders", placed.maximum);
    case "content-rejected":
      return { code: "certification-not-possible", detail: "The product can no longer be ordered." };
    default:
      return { code: "certification-not-possible", detail: `${externalOrderId} is taken by another order.` };
  }
}
