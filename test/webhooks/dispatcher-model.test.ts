import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { notFound } from "../../src/http/problems.ts";
import { fromTypeId } from "../../src/ids.ts";
import { changeOrder } from "../../src/orders/change-order.ts";
import { eraseExpiredTestOrders } from "../../src/orders/erase-test-orders.ts";
import { applyTransition } from "../../src/orders/lifecycle.ts";
import { SERVICE } from "../../src/orders/order-step.ts";
import { parseOrderRef } from "../../src/orders/order-wire.ts";
import type { Transition } from "../../src/orders/transition.ts";
import { recoverDeliveries } from "../../src/webhooks/sending/recover-deliveries.ts";
import type { SendOutcome } from "../../src/webhooks/sending/sender.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  type Activity,
  type FaultyWorker,
  type InFlight,
  quiet,
  startFaultyWorker,
} from "../support/faulty-worker.ts";
import { connectionUuid } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

/**
 * The real dispatchers under random histories: orders and their steps, receivers that answer as they like, workers
 * that die between any two statements, pauses, resumes, redeliveries, erasures, and a clock that is moved. Only the
 * network is a model. What must hold at every moment is checked while it happens, the rest when all has healed.
 */
let test: TestService;
beforeAll(async () => {
  test = await startTestService({
    config: {
      webhookAllowPrivateNetworks: true,
      webhookRetryMs: [5_000, 30_000, 120_000],
      webhookTestRetryMs: [5_000, 30_000],
      testOrderLifetimeMs: LIFETIME_MS,
    },
  });
});
afterAll(() => test.close());
afterEach(() => vi.restoreAllMocks());

const LIFETIME_MS = 600_000;
/** As many requests as each of the two endpoints takes at the same time. */
const IN_FLIGHT_MAX = [2, 8] as const;

const OUTCOMES = {
  ok: { responseStatus: 200 },
  failed: { responseStatus: 500 },
  busy: { responseStatus: 429, retryAfter: "20" },
  hangUp: { error: "connection closed" },
  gone: { responseStatus: 410 },
} as const satisfies Record<string, Partial<SendOutcome>>;
type OutcomeName = keyof typeof OUTCOMES;

const outcome = (fields: Partial<SendOutcome>): SendOutcome => ({
  durationMs: 1,
  responseStatus: null,
  responseBody: null,
  error: null,
  retryAfter: null,
  ...fields,
});

const MOVES = [
  { name: "hold", reasons: ["out_of_stock"] },
  { name: "releaseHold" },
  { name: "cancel" },
] as const satisfies Transition[];

type Step =
  | { name: "place"; isTest: boolean }
  /** A step of an order, by place; what the order refuses is no step. */
  | { name: "move"; order: number; transition: (typeof MOVES)[number] }
  | { name: "look"; worker: number }
  | { name: "answer"; which: number; as: OutcomeName }
  | { name: "advance"; ms: number }
  | { name: "kill"; worker: number; statements: number; applied: boolean }
  | { name: "redeliver"; delivery: number }
  | { name: "resume"; endpoint: number }
  | { name: "recover"; endpoint: number }
  | { name: "work" };

const place = fc.nat(5);
const worker = fc.nat(1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant("place" as const), isTest: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant("move" as const),
      order: place,
      transition: fc.constantFrom(...MOVES),
    }),
  },
  { weight: 8, arbitrary: fc.record({ name: fc.constant("look" as const), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constant("answer" as const),
      which: place,
      as: fc.constantFrom<OutcomeName>("ok", "ok", "failed", "busy", "hangUp", "gone"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 4_000, 6_000, 20_000, 61_000, LIFETIME_MS / 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant("kill" as const),
      worker,
      statements: fc.nat(4),
      applied: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant("redeliver" as const), delivery: place }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("resume" as const), endpoint: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("recover" as const), endpoint: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ name: "work" }) },
);
/** Steps that happen at the same time, mostly one alone. */
const anySteps = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(anyStep) },
  { weight: 1, arbitrary: fc.array(anyStep, { minLength: 2, maxLength: 4 }) },
);
/** What receivers answer by themselves, request after request; "hold" leaves it to a step, or to the deadline. */
const anyManner = fc.array(fc.constantFrom<OutcomeName | "hold">("ok", "ok", "hold", "failed", "hangUp"), {
  minLength: 1,
  maxLength: 6,
});

/** A request as a receiver saw it. */
type Arrival = {
  endpoint: number;
  eventId: string;
  orderId: string;
  sequence: number;
  answered: OutcomeName | null;
};

/** One history on a connection of its own. */
class History {
  readonly #partner: Partner;
  readonly #connectionId: string;
  readonly #endpointIds: string[];
  readonly #manner: readonly (OutcomeName | "hold")[];
  readonly #startedAt = test.clock.now();
  readonly #activity: Activity = { count: 0 };
  readonly #workers: FaultyWorker[] = [];
  readonly #orders: { id: string; isTest: boolean; expiresAt: Date | null }[] = [];
  readonly #arrivals: Arrival[] = [];
  readonly #arrivalOf = new Map<InFlight, Arrival>();
  readonly #violations: string[] = [];
  /** Endpoints that were paused when the present step began. */
  #paused = new Set<number>();
  /** By endpoint and event: sent out of turn because somebody asked for it. */
  readonly #byHand = new Set<string>();
  /** Deliveries that were given up may come back to life, after later ones. */
  #isRecovered = false;
  #sentCount = 0;
  #isHealing = false;

  private constructor(partner: Partner, endpointIds: string[], manner: readonly (OutcomeName | "hold")[]) {
    this.#partner = partner;
    this.#connectionId = connectionUuid(partner);
    this.#endpointIds = endpointIds;
    this.#manner = manner;
    for (let count = 0; count < 2; count += 1) this.#workers.push(this.#startWorker());
  }

  static async begin(manner: readonly (OutcomeName | "hold")[]): Promise<History> {
    const partner = await createPartner(test);
    const endpointIds: string[] = [];
    for (const [index, maxInFlight] of IN_FLIGHT_MAX.entries())
      endpointIds.push((await createEndpoint(partner, { url: `http://receiver/${index}`, maxInFlight })).id);
    return new History(partner, endpointIds, manner);
  }

  #startWorker(): FaultyWorker {
    return startFaultyWorker(test, this.#activity, (sent) => this.#onSent(sent));
  }

  /** All that must hold at the moment in which a request goes out. */
  #onSent(sent: InFlight): void {
    const endpoint = Number(sent.url.at(-1));
    const { id: eventId, sequence, data } = JSON.parse(String(sent.body));
    const arrival: Arrival = { endpoint, eventId, orderId: data.order.id, sequence, answered: null };
    const inFlight = this.#inFlight().filter(({ url }) => url === sent.url).length;
    if (inFlight > (IN_FLIGHT_MAX[endpoint] ?? 0))
      this.#violations.push(`${inFlight} in flight to ${endpoint}`);
    if (this.#paused.has(endpoint)) this.#violations.push(`sent to ${endpoint} while it is paused`);
    const expiresAt = this.#orders.find(({ id }) => id === arrival.orderId)?.expiresAt ?? null;
    if (expiresAt !== null && sent.sentAt >= expiresAt) this.#violations.push("sent after the erasure");
    if (!this.#byHand.has(keyOf(arrival)) && !this.#isRecovered) this.#checkTurn(arrival);
    this.#arrivals.push(arrival);
    this.#answerByItself(sent, arrival);
  }

  /** Nothing that comes first is overtaken: what has arrived already of the same order is not later than this. */
  #checkTurn({ endpoint, orderId, sequence }: Arrival): void {
    const later = this.#arrivals.find(
      (one) =>
        one.endpoint === endpoint &&
        one.orderId === orderId &&
        one.sequence > sequence &&
        !this.#byHand.has(keyOf(one)),
    );
    if (later !== undefined)
      this.#violations.push(`${sequence} sent to ${endpoint} after ${later.sequence} of the same order`);
  }

  #answerByItself(sent: InFlight, arrival: Arrival): void {
    this.#arrivalOf.set(sent, arrival);
    const manner = this.#isHealing ? "ok" : (this.#manner[this.#sentCount % this.#manner.length] ?? "ok");
    this.#sentCount += 1;
    if (manner === "hold") return;
    this.#activity.count += 1;
    setImmediate(() => {
      this.#activity.count -= 1;
      this.#answer(sent, manner);
    });
  }

  #answer(sent: InFlight, as: OutcomeName): void {
    const arrival = this.#arrivalOf.get(sent);
    if (sent.answer(outcome(OUTCOMES[as])) && arrival !== undefined) arrival.answered = as;
  }

  /** A connection to a dead worker is cut, so what was on it is not in flight. */
  #inFlight(): InFlight[] {
    return this.#workers.filter((one) => !one.isDead()).flatMap(({ inFlight }) => inFlight);
  }

  async step(...steps: readonly Step[]): Promise<void> {
    for (const step of steps)
      if (step.name === "resume" || step.name === "recover") this.#paused.delete(step.endpoint);
    await Promise.all(steps.map((step) => this.#do(step)));
    await quiet(this.#activity);
    for (const [index, one] of this.#workers.entries())
      if (one.isDead()) this.#workers[index] = this.#startWorker();
    await this.#noticePauses();
    expect(this.#violations).toEqual([]);
  }

  async #do(step: Step): Promise<void> {
    switch (step.name) {
      case "place": {
        const { id, createdAt } = await (step.isTest ? placeTestOrder : placeOrder)(this.#partner);
        const expiresAt = step.isTest ? new Date(Date.parse(createdAt) + LIFETIME_MS) : null;
        this.#orders.push({ id, isTest: step.isTest, expiresAt });
        return;
      }
      case "move":
        return this.#move(step.order, step.transition);
      case "look":
        return this.#workers[step.worker]?.dispatcher.wake([this.#connectionId]);
      case "answer": {
        const sent = this.#inFlight()[step.which];
        if (sent !== undefined) this.#answer(sent, step.as);
        return;
      }
      case "advance":
        return this.#advance(step.ms);
      case "kill":
        return this.#workers[step.worker]?.killAfter(step.statements, step.applied);
      case "redeliver":
        return this.#redeliver(step.delivery);
      case "resume":
        return this.#resume(step.endpoint);
      case "recover": {
        this.#isRecovered = true;
        const path = endpointPath(this.#endpointIds[step.endpoint] ?? "", "recover");
        const { status } = await this.#partner.client.post(path, { since: this.#startedAt.toISOString() });
        expect(status).toBe(202);
        return;
      }
      case "work":
        return this.#work();
    }
  }

  /** Its transaction takes long to commit, so that workers meet it under way. */
  async #move(place: number, transition: Transition): Promise<void> {
    const { id } = this.#orders[place] ?? {};
    if (id === undefined) return;
    const { db } = test;
    const transaction: Database["transaction"] = (work) =>
      db.transaction(async (tx) => {
        const answer = await work(tx);
        for (let count = 0; count < 10; count += 1)
          await db.query({ name: "test-pass-time", text: "select 1", values: [] });
        return answer;
      });
    await changeOrder(
      { ...test.service, db: { ...db, transaction } },
      {
        connectionId: this.#connectionId,
        ref: parseOrderRef(id),
        missing: notFound("order"),
        actor: SERVICE,
        action: transition.name,
        decide: (order, now) => applyTransition(order, transition, now),
      },
    );
  }

  async #redeliver(place: number): Promise<void> {
    const { body } = await this.#partner.client.get("/v1/deliveries");
    const delivery = body.data[place];
    if (delivery === undefined) return;
    this.#byHand.add(keyOf({ endpoint: this.#endpointIds.indexOf(delivery.endpointId), ...delivery }));
    const { status } = await this.#partner.client.post(`/v1/deliveries/${delivery.id}/redeliver`);
    expect([202, 404, 409]).toContain(status); // 404 when it is erased meanwhile, 409 while the endpoint is paused.
  }

  async #resume(endpoint: number): Promise<void> {
    const path = endpointPath(this.#endpointIds[endpoint] ?? "", "resume");
    expect((await this.#partner.client.post(path)).status).toBe(200);
  }

  /** The chores that are about deliveries. */
  async #work(): Promise<void> {
    while ((await recoverDeliveries(test.service, this.#connectionId)) > 0);
    while ((await eraseExpiredTestOrders(test.service, this.#connectionId)) > 0);
  }

  /** Moves the clock, but never past the deadline of a request: the sender ends that in time, whatever happens. */
  async #advance(ms: number): Promise<void> {
    const until = test.clock.now().getTime() + ms;
    for (;;) {
      const now = test.clock.now().getTime();
      const deadlineOf = ({ sentAt }: InFlight) => sentAt.getTime() + test.service.config.webhookTimeoutMs;
      for (const sent of this.#inFlight().filter((one) => deadlineOf(one) <= now))
        sent.answer(outcome({ error: "timeout" }));
      await quiet(this.#activity);
      if (now >= until) return;
      test.clock.advance({ ms: Math.min(until, ...this.#inFlight().map(deadlineOf)) - now });
    }
  }

  async #noticePauses(): Promise<void> {
    this.#paused = new Set();
    for (const [index, id] of this.#endpointIds.entries()) {
      const { body } = await this.#partner.client.get(endpointPath(id));
      if (body.status === "paused") this.#paused.add(index);
    }
  }

  /** Receivers, workers and partners all do as they should, for as long as the schedule may take. */
  async heal(): Promise<void> {
    this.#isHealing = true;
    for (const sent of this.#inFlight()) this.#answer(sent, "ok");
    await quiet(this.#activity);
    for (let round = 0; round < 14; round += 1) {
      for (const index of this.#endpointIds.keys()) await this.step({ name: "resume", endpoint: index });
      await this.step({ name: "work" });
      for (const index of this.#workers.keys()) await this.step({ name: "look", worker: index });
      await this.step({ name: "advance", ms: 61_000 });
    }
    await this.step({ name: "work" });
  }

  /** What must be true in the end. */
  async check(): Promise<void> {
    await this.#expectNothingLeft();
    await this.#expectDelivered();
  }

  /** Each event is owed to each endpoint that wants it; nothing is due any more, or left of what was erased. */
  async #expectNothingLeft(): Promise<void> {
    const { db } = test;
    const values = [this.#connectionId];
    const owed = await db.query<{ missing: string }>({
      name: "test-model-owed",
      text: `
        select e.type || ' to ' || w.number as missing
        from events e
        join webhook_endpoints w on w.connection_id = e.connection_id
        where e.connection_id = $1 and e.order_id is not null and e.type = any(w.event_types)
          and not exists (
            select from deliveries d
            where d.connection_id = $1 and d.event_id = e.id and d.endpoint_id = w.id)`,
      values,
    });
    expect(owed).toEqual([]);
    const orphans = await db.query<{ id: string }>({
      name: "test-model-orphans",
      text: `
        select d.id from deliveries d
        where d.connection_id = $1 and not exists (
          select from orders o where o.connection_id = $1 and o.id = d.order_id)
        union all
        select a.id from attempts a
        where a.connection_id = $1 and not exists (
          select from deliveries d where d.connection_id = $1 and d.id = a.delivery_id)
        union all
        select q.delivery_id from due_deliveries q where q.connection_id = $1`,
      values,
    });
    expect(orphans).toEqual([]);
  }

  /** What succeeded was accepted, nothing waits any more, and the log has every attempt. */
  async #expectDelivered(): Promise<void> {
    const values = [this.#connectionId];
    const deliveries = await test.db.query<{
      endpoint: number;
      event_id: string;
      status: string;
      known: number;
      unknown: number;
    }>({
      name: "test-model-deliveries",
      text: `
        select w.number - 1 as endpoint, d.event_id, d.status,
               (count(a.id) filter (where a.duration_ms is not null))::integer as known,
               (count(a.id) filter (where a.duration_ms is null))::integer as unknown
        from deliveries d
        join webhook_endpoints w on w.connection_id = d.connection_id and w.id = d.endpoint_id
        left join attempts a on a.connection_id = d.connection_id and a.delivery_id = d.id
        where d.connection_id = $1
        group by 1, 2, 3, d.id`,
      values,
    });
    for (const { endpoint, event_id, status, known, unknown } of deliveries) {
      const arrived = this.#arrivals.filter(
        (one) => one.endpoint === endpoint && fromTypeId("evt", one.eventId) === event_id,
      );
      const told = JSON.stringify({ endpoint, event_id, status, known, unknown, arrived });
      expect(["succeeded", "failed"], told).toContain(status);
      if (status === "succeeded")
        expect(
          arrived.map(({ answered }) => answered),
          told,
        ).toContain("ok");
      // A claim whose worker died counts, whether its request had gone out or not.
      expect(known, told).toBeLessThanOrEqual(arrived.length);
      expect(known + unknown, told).toBeGreaterThanOrEqual(arrived.length);
    }
  }
}

const keyOf = ({ endpoint, eventId }: Pick<Arrival, "endpoint" | "eventId">) => `${endpoint} ${eventId}`;

describe("dispatchers", () => {
  it("keep their promises whatever happens", { timeout: 300_000 }, async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5); // The schedule without its spread, so that a seed tells all.
    await fc.assert(
      fc.asyncProperty(
        anyManner,
        fc.array(anySteps, { minLength: 8, maxLength: 40, size: "max" }),
        async (manner, steps) => {
          const history = await History.begin(manner);
          for (const together of steps) await history.step(...together);
          await history.heal();
          await history.check();
        },
      ),
      { numRuns: 60 },
    );
  });
});
