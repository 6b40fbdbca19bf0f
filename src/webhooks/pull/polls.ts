import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { type Grouped, groupCalls } from "../../platform/database/group.ts";
import { pause } from "../../platform/run-in-turn.ts";
import type { Signal } from "../../platform/signals.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { FairShare } from "../delivery/admission.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import { leaseDeliveries, type PulledDelivery } from "./lease-deliveries.ts";
import { readWhenDue } from "./pull-sql.ts";
import { returnLeases } from "./record-pulled.ts";

/** Polls that wait in one process (docs/design/deliveries.md, "Pull endpoints"). */
export const POLLS_MAX = { endpoint: 2, connection: 20, merchant: 200, process: 2_000 } as const;

/** Finds what no signal announced. All polls look at the same time, so that few statements serve them. */
const CHECK_EVERY_MS = 5 * SECOND_MS;
/** A poll looks no more often, however many signals arrive for its connection. */
const CHECK_GAP_MS = 100;
/** After this time a key is looked up again before anything is leased, as it is for each request. */
const KEY_KNOWN_MS = SECOND_MS;

export type Poll = {
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the client has left. */
  readonly left: AbortSignal;
  /** Null while the key of the client is valid. */
  readonly readRevocation: () => Promise<Problem | null>;
};

/** The polls of pull endpoints in one process. */
export class PullPolls {
  readonly #signals: Context["signals"];
  readonly #stopping: AbortSignal;
  readonly #readWhenDue: Grouped<EndpointKey, Date | null>;
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #counts = new Map<string, number>();
  readonly #share = new FairShare(POLLS_MAX.process);
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => Promise<void>) | null = null;

  /** @param stopping is aborted when the process begins to stop */
  constructor({ db, clock, signals }: Pick<Context, "db" | "clock" | "signals">, stopping: AbortSignal) {
    this.#signals = signals;
    this.#stopping = stopping;
    this.#readWhenDue = groupCalls<EndpointKey, Date | null>({
      name: "read when deliveries are due",
      run: async (endpoints) => {
        const due = await readWhenDue(db, endpoints, clock.now());
        return endpoints.map(({ id }) => due.get(id) ?? null);
      },
      sizeMax: 512,
      concurrencyMax: 1,
      ownerOf: (endpoint) => endpoint,
    });
  }

  /**
   * Leases deliveries as soon as some are due. None after the time to wait, or if the process stops or the client has left. What does
   * not reach the client is to be returned (`returnPulled`).
   */
  async poll(
    context: WebhookContext,
    key: EndpointKey,
    poll: Poll,
  ): Promise<readonly PulledDelivery[] | Problem> {
    if (poll.waitMs === 0) return this.#leaseDue(context, key, poll);
    const reached = this.#begin(key);
    if (reached !== null) return reached;
    const waiter = new Waiter();
    this.#add(key, waiter);
    try {
      return await this.#leaseWhenDue(context, key, poll, waiter);
    } finally {
      this.#remove(key, waiter);
      this.#end(key);
    }
  }

  async #leaseWhenDue(
    context: WebhookContext,
    key: EndpointKey,
    poll: Poll,
    waiter: Waiter,
  ): Promise<readonly PulledDelivery[] | Problem> {
    const beganMs = performance.now();
    const endsMs = beganMs + poll.waitMs;
    for (;;) {
      const hasKeyChange = waiter.takeKeyChange();
      const checkedMs = performance.now();
      const dueAt = await this.#readWhenDue(key);
      const dueInMs =
        dueAt === null ? Number.POSITIVE_INFINITY : dueAt.getTime() - context.clock.now().getTime();
      const isOld = checkedMs - beganMs > KEY_KNOWN_MS;
      const revoked = hasKeyChange || (dueInMs <= 0 && isOld) ? await poll.readRevocation() : null;
      if (revoked !== null) return revoked;
      if (dueInMs <= 0 && !poll.left.aborted) {
        const leased = await leaseDeliveries(context, key, poll.limit);
        if (isProblem(leased) || leased.length > 0) return leased;
      }
      const leftMs = endsMs - performance.now();
      if (leftMs <= 0 || poll.left.aborted || this.#stopping.aborted) return [];
      const gapMs = Math.max(0, checkedMs + CHECK_GAP_MS - performance.now());
      await waiter.wait(
        { gapMs: Math.min(gapMs, leftMs), maxMs: Math.min(leftMs, Math.max(gapMs, dueInMs)) },
        AbortSignal.any([poll.left, this.#stopping]),
      );
      if (performance.now() >= endsMs) return []; // Not a further look: the client polls again.
    }
  }

  async #leaseDue(
    context: WebhookContext,
    key: EndpointKey,
    poll: Poll,
  ): Promise<readonly PulledDelivery[] | Problem> {
    const dueAt = await this.#readWhenDue(key);
    return dueAt === null || dueAt > context.clock.now() ? [] : leaseDeliveries(context, key, poll.limit);
  }

  /** Counts a poll that waits. Returns the limit that is reached. */
  #begin({ merchantId, connectionId, id }: EndpointKey): Problem | null {
    const countOf = (name: string): number => this.#counts.get(name) ?? 0;
    if (countOf(id) >= POLLS_MAX.endpoint) return tooMany("endpoint", "of the endpoint");
    if (countOf(connectionId) >= POLLS_MAX.connection) return tooMany("connection", "of the connection");
    if (countOf(merchantId) >= POLLS_MAX.merchant)
      return tooMany("merchant", "of the merchant's connections together");
    if (!this.#share.admits(merchantId)) return tooMany("process", "of all connections together");
    for (const name of [id, connectionId, merchantId]) this.#counts.set(name, countOf(name) + 1);
    this.#share.take(merchantId, 1);
    return null;
  }

  #end({ merchantId, connectionId, id }: EndpointKey): void {
    for (const name of [id, connectionId, merchantId]) {
      const count = (this.#counts.get(name) ?? 0) - 1;
      if (count > 0) this.#counts.set(name, count);
      else this.#counts.delete(name);
    }
    this.#share.giveBack(merchantId, 1);
  }

  #add({ connectionId }: ConnectionKey, waiter: Waiter): void {
    const waiters = this.#waiting.get(connectionId) ?? new Set();
    this.#waiting.set(connectionId, waiters.add(waiter));
    this.#timer ??= setInterval(() => this.#wakeAll(), CHECK_EVERY_MS).unref();
    this.#unwatch ??= this.#signals.watch({ onSignal: (signal, of) => this.#wake(signal, of) });
  }

  #remove({ connectionId }: ConnectionKey, waiter: Waiter): void {
    const waiters = this.#waiting.get(connectionId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(connectionId);
    if (this.#waiting.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    void this.#unwatch?.();
    this.#unwatch = null;
  }

  #wake(signal: Signal, connections: Iterable<ConnectionKey>): void {
    for (const { connectionId } of connections)
      for (const waiter of this.#waiting.get(connectionId) ?? []) waiter.wake(signal === "keys_changed");
  }

  #wakeAll(): void {
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.wake(false);
  }
}

/** Returns deliveries that did not reach their client. */
export const returnPulled = (
  context: Context,
  key: EndpointKey,
  leased: readonly PulledDelivery[],
): Promise<void> =>
  returnLeases(
    context,
    key,
    leased.map(({ delivery, number }) => ({ deliveryId: delivery.deliveryId, number })),
  );

const tooMany = (unit: keyof typeof POLLS_MAX, of: string): Problem => ({
  code: "rate-limited",
  detail: `At most ${POLLS_MAX[unit]} polls ${of} wait at the same time. Retry in 1 s.`,
  members: { limit: `${unit}-polls` },
  headers: { "retry-after": "1" },
});

/** A poll that waits for a signal, or for a time. */
class Waiter {
  #isWoken = false;
  #hasKeyChange = false;
  #resolve: (() => void) | null = null;

  wake(isKeyChange: boolean): void {
    this.#isWoken = true;
    this.#hasKeyChange ||= isKeyChange;
    this.#resolve?.();
  }

  /** Whether a key of the connection has changed since the last call. */
  takeKeyChange(): boolean {
    const hasChange = this.#hasKeyChange;
    this.#hasKeyChange = false;
    return hasChange;
  }

  /** Resolves after `gapMs` if it was woken, at the latest after `maxMs`, and at once if `ended` is aborted. */
  async wait({ gapMs, maxMs }: { gapMs: number; maxMs: number }, ended: AbortSignal): Promise<void> {
    if (gapMs > 0) await pause(gapMs, ended);
    if (!this.#isWoken && !ended.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
      const over = new AbortController();
      await Promise.race([
        woken,
        pause(Math.min(maxMs - gapMs, LONGEST_MS), AbortSignal.any([ended, over.signal])),
      ]);
      over.abort();
    }
    this.#resolve = null;
    this.#isWoken = false;
  }
}

/** Longer than any poll waits. */
const LONGEST_MS = 60 * SECOND_MS;
