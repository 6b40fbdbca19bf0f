import { expect } from "vitest";
import type { Transition } from "../../src/lifecycle/order.ts";
import { eraseExpiredTestOrders } from "../../src/orders/deadlines/erase-test-orders.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { SendResult } from "../../src/webhooks/delivery/exchange.ts";
import { resendNextBatch } from "../../src/webhooks/resend/resend-deliveries.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "./builders.ts";
import { type Command, LIFETIME_MS, OUTCOMES, type OutcomeName } from "./dispatch-commands.ts";
import { HistoryEndpoints } from "./dispatch-endpoints.ts";
import { type Arrival, expectDelivered, expectNothingLeft } from "./dispatch-promises.ts";
import {
  type Activity,
  type FaultyWorker,
  type InFlight,
  quiet,
  startFaultyWorker,
} from "./faulty-worker.ts";
import { applyToOrder, connectionKey } from "./orders.ts";
import type { TestService } from "./test-service.ts";

/** As many requests as each of the two endpoints takes at the same time. */
const IN_FLIGHT_MAX = [2, 8] as const;

/** The longest time between two polls of a worker that has nothing to do. */
const POLL_MS = 2_500;

/** The default responses of the receivers, request after request. */
type Manner = readonly (OutcomeName | "hold")[];

const outcome = (fields: Partial<SendResult>): SendResult => ({
  durationMs: 1,
  responseStatus: null,
  responseBody: null,
  error: null,
  retryAfter: null,
  ...fields,
});

/** One history on a connection of its own. */
export class History {
  readonly #test: TestService;
  readonly #partner: Partner;
  readonly #connection: ConnectionKey;
  readonly #endpoints: HistoryEndpoints;
  readonly #manner: Manner;
  readonly #startedAt: Date;
  readonly #activity: Activity = { count: 0 };
  readonly #workers: FaultyWorker[] = [];
  readonly #orders: { id: string; isTest: boolean; expiresAt: Date | null }[] = [];
  readonly #arrivals: Arrival[] = [];
  readonly #arrivalOf = new Map<InFlight, Arrival>();
  readonly #violations: string[] = [];
  /** By endpoint and event: sent out of order because a redelivery was requested. */
  readonly #byHand = new Set<string>();
  /** Deliveries that were given up may come back to life, after later ones. */
  #isRecovered = false;
  #sentCount = 0;
  #isHealing = false;

  private constructor(test: TestService, partner: Partner, endpoints: HistoryEndpoints, manner: Manner) {
    this.#test = test;
    this.#startedAt = test.clock.now();
    this.#partner = partner;
    this.#connection = connectionKey(partner);
    this.#endpoints = endpoints;
    this.#manner = manner;
    for (let count = 0; count < 2; count += 1) this.#workers.push(this.#startWorker());
  }

  static async begin(test: TestService, manner: Manner): Promise<History> {
    const partner = await createPartner(test);
    return new History(test, partner, await HistoryEndpoints.create(test, partner, IN_FLIGHT_MAX), manner);
  }

  #startWorker(): FaultyWorker {
    return startFaultyWorker(this.#test, this.#activity, (sent) => this.#onSent(sent));
  }

  /** All that must hold at the moment in which a request goes out. */
  #onSent(sent: InFlight): void {
    const endpoint = Number(sent.url.pathname.at(-1));
    const { id: eventId, sequence, data } = JSON.parse(String(sent.body));
    const arrival: Arrival = { endpoint, eventId, orderId: data.order.id, sequence, answered: null };
    const inFlight = this.#inFlight().filter(({ url }) => url.pathname === sent.url.pathname).length;
    if (inFlight > (IN_FLIGHT_MAX[endpoint] ?? 0))
      this.#violations.push(`${inFlight} in flight to ${endpoint}`);
    if (this.#endpoints.isStopped(endpoint))
      this.#violations.push(`sent to ${endpoint} while it is paused or deleted`);
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

  async run(...commands: readonly Command[]): Promise<void> {
    for (const command of commands)
      if (command.name === "resume" || command.name === "recover")
        this.#endpoints.mayResume(command.endpoint);
    await Promise.all(commands.map((command) => this.#do(command)));
    await quiet(this.#activity);
    if (commands.some(({ name }) => name === "pause" || name === "delete")) await this.#signalChange();
    for (const [index, one] of this.#workers.entries())
      if (one.isDead()) this.#workers[index] = this.#startWorker();
    await this.#endpoints.noticeStopped();
    expect(this.#violations).toEqual([]);
  }

  async #do(command: Command): Promise<void> {
    switch (command.name) {
      case "place": {
        const { id, createdAt } = await (command.isTest ? placeTestOrder : placeOrder)(this.#partner);
        const expiresAt = command.isTest ? new Date(Date.parse(createdAt) + LIFETIME_MS) : null;
        this.#orders.push({ id, isTest: command.isTest, expiresAt });
        return;
      }
      case "move":
        return this.#move(command.order, command.transition);
      case "look":
        return this.#workers[command.worker]?.dispatcher.wake([this.#connection]);
      case "answer": {
        const sent = this.#inFlight()[command.which];
        if (sent !== undefined) this.#answer(sent, command.as);
        return;
      }
      case "advance":
        return this.#advance(command.ms);
      case "kill":
        return this.#workers[command.worker]?.killAfter(command.statements, command.applied);
      case "redeliver":
        return this.#redeliver(command.delivery);
      case "resume":
        return this.#endpoints.resume(command.endpoint);
      case "recover":
        this.#isRecovered = true;
        return this.#endpoints.recover(command.endpoint, this.#startedAt);
      case "pause":
        return this.#endpoints.pause(command.endpoint);
      case "delete":
        return this.#endpoints.delete(command.endpoint);
      case "clear":
        return this.#endpoints.clearOne(command.endpoint);
      case "work":
        return this.#work();
    }
  }

  /** Its transaction takes long to commit, so that workers meet it under way. */
  async #move(index: number, transition: Transition): Promise<void> {
    const { id } = this.#orders[index] ?? {};
    if (id === undefined) return;
    const { db } = this.#test;
    const transaction: Database["transaction"] = (work) =>
      db.transaction(async (tx) => {
        const answer = await work(tx);
        for (let count = 0; count < 10; count += 1)
          await db.query({ name: "test-pass-time", text: "select 1", values: [] });
        return answer;
      });
    await applyToOrder(
      { ...this.#test.context, db: { ...db, transaction } },
      this.#connection,
      id,
      transition,
    );
  }

  async #redeliver(index: number): Promise<void> {
    const { body } = await this.#partner.client.get("/v1/deliveries");
    const delivery = body.data[index];
    if (delivery === undefined) return;
    this.#byHand.add(keyOf({ endpoint: this.#endpoints.positionOf(delivery.endpointId), ...delivery }));
    const { status } = await this.#partner.client.post(`/v1/deliveries/${delivery.id}/redeliver`);
    expect([202, 404, 409]).toContain(status); // 404 if it has been erased, 409 while the endpoint is paused.
  }

  /** As a process does when an endpoint was changed. */
  async #signalChange(): Promise<void> {
    for (const { dispatcher, isDead } of this.#workers) if (!isDead()) dispatcher.refresh([this.#connection]);
    await quiet(this.#activity);
  }

  /** The jobs that are about deliveries. */
  async #work(): Promise<void> {
    while ((await resendNextBatch(this.#test.context, this.#connection)) > 0);
    while ((await eraseExpiredTestOrders(this.#test.context, this.#connection)).rows > 0);
  }

  /**
   * Moves the clock, but never past the deadline of a request: the sender must end that in time. While requests are in flight,
   * workers poll as often as in a process, because they renew their leases then (docs/design/deliveries.md, "Leases").
   */
  async #advance(ms: number): Promise<void> {
    const until = this.#test.clock.now().getTime() + ms;
    for (;;) {
      const now = this.#test.clock.now().getTime();
      const deadlineOf = ({ sentAt }: InFlight) =>
        sentAt.getTime() + this.#test.context.config.webhookTimeoutMs;
      for (const sent of this.#inFlight().filter((one) => deadlineOf(one) <= now))
        sent.answer(outcome({ error: "timeout" }));
      await quiet(this.#activity);
      if (now >= until) return;
      const inFlight = this.#inFlight();
      const pollAt = inFlight.length > 0 ? now + POLL_MS : until;
      this.#test.clock.advance({ ms: Math.min(until, pollAt, ...inFlight.map(deadlineOf)) - now });
      if (inFlight.length > 0) await this.#poll();
    }
  }

  async #poll(): Promise<void> {
    for (const { dispatcher, isDead } of this.#workers) {
      if (!isDead())
        await dispatcher.poll().catch((error: unknown) => {
          if (!isDead()) throw error;
        });
    }
    await quiet(this.#activity);
  }

  /** Receivers, workers and partners all do as they should, for as long as the schedule may take. */
  async heal(): Promise<void> {
    this.#isHealing = true;
    for (const sent of this.#inFlight()) this.#answer(sent, "ok");
    await quiet(this.#activity);
    for (let round = 0; round < 14; round += 1) {
      for (const index of this.#endpoints.positions()) await this.run({ name: "resume", endpoint: index });
      await this.run({ name: "work" });
      for (const index of this.#workers.keys()) await this.run({ name: "look", worker: index });
      await this.run({ name: "advance", ms: 61_000 });
    }
    await this.run({ name: "work" });
    await this.#endpoints.clearAll();
  }

  /** What must be true in the end. */
  async check(): Promise<void> {
    await expectNothingLeft(this.#test, this.#connection.connectionId);
    await expectDelivered(this.#test, this.#connection.connectionId, this.#arrivals);
  }
}

const keyOf = ({ endpoint, eventId }: Pick<Arrival, "endpoint" | "eventId">) => `${endpoint} ${eventId}`;
