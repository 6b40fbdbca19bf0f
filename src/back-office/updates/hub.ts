import type { Readable } from "node:stream";
import { type BackOfficeCaller, merchantScope, orderScope } from "../../audit/grant.ts";
import { limitReached } from "../../merchants/limits.ts";
import { readMerchantMaximum } from "../../merchants/merchants-sql.ts";
import { readFacilitiesOfOrders } from "../../orders/owners-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { uuidAt } from "../../platform/ids.ts";
import { pause } from "../../platform/run-in-turn.ts";
import type { ChangedOrder, ChangedOrders } from "../../platform/signals.ts";
import { before, HOUR_MS, SECOND_MS } from "../../platform/time.ts";
import { type Problem, unavailable } from "../../platform/wire/problems.ts";
import {
  listNewEvents,
  NEW_EVENTS_MAX,
  NEW_EVENTS_OF_MERCHANT_MAX,
  type NewEvent,
} from "../../webhooks/events/number-events.ts";
import { ownerKind } from "../../webhooks/owner.ts";
import { type Changes, type StreamEndReason, stillAdmitted, UpdateStream } from "./stream.ts";

/** Orders, connections and merchants that are kept between two rounds. */
const KEPT_MAX = 500;

/** What signals and the newest events report, until the next round passes it on. */
export class GatheredChanges {
  #orders = new Map<string, ChangedOrder>();
  #connections = new Map<string, ConnectionKey>();
  /** Merchants of which more has changed than is kept. Null: any. */
  #moreOf: Set<string> | null = new Set();
  /** The events of the last reading. Null before the first one. */
  #seen: ReadonlySet<string> | null = null;

  addOrders(changed: ChangedOrders): void {
    if ("merchantIds" in changed) {
      this.#addMore(changed.merchantIds);
      return;
    }
    for (const { id, merchantId, connectionId, testMode } of changed.orders) {
      this.#orders.set(id, { id, merchantId, connectionId, testMode });
      if (this.#orders.size > KEPT_MAX) this.#forgetNames();
    }
  }

  addConnections(connections: Iterable<ConnectionKey>): void {
    for (const { merchantId, connectionId } of connections) {
      this.#connections.set(connectionId, { merchantId, connectionId });
      if (this.#connections.size > KEPT_MAX) this.#forgetNames();
    }
  }

  /**
   * Adds the events that the last reading did not find. The first reading only shows what had happened before. Readings
   * overlap, because events commit in another order than that of their ids.
   */
  addEvents(events: readonly NewEvent[]): void {
    const seen = this.#seen;
    this.#seen = new Set(events.map(({ id }) => id));
    if (seen === null) return;
    const fresh = events.filter(({ id }) => !seen.has(id));
    this.addConnections(fresh);
    this.addOrders({
      orders: fresh.flatMap(({ orderId, ...event }) => (orderId === null ? [] : [{ ...event, id: orderId }])),
    });
    this.#addMore(merchantsCut(events, fresh));
  }

  take(): Changes {
    const changes = {
      orders: [...this.#orders.values()],
      connections: [...this.#connections.values()],
      moreOf: this.#moreOf,
    };
    this.#orders = new Map();
    this.#connections = new Map();
    this.#moreOf = new Set();
    return changes;
  }

  /** No stream is open any more. */
  clear(): void {
    this.take();
    this.#seen = null;
  }

  /** @param merchantIds null: any */
  #addMore(merchantIds: Iterable<string> | null): void {
    if (merchantIds === null) this.#moreOf = null;
    else for (const id of merchantIds) this.#moreOf?.add(id);
    if (this.#moreOf !== null && this.#moreOf.size > KEPT_MAX) this.#moreOf = null;
  }

  /** Keeps the merchants alone. */
  #forgetNames(): void {
    const kept = [...this.#orders.values(), ...this.#connections.values()];
    this.#orders = new Map();
    this.#connections = new Map();
    this.#addMore(kept.map(({ merchantId }) => merchantId));
  }
}

/** Merchants of which a reading may have left out new events: all that it read of one are new. Null, if it is full: any. */
function merchantsCut(events: readonly NewEvent[], fresh: readonly NewEvent[]): string[] | null {
  if (fresh.length > 0 && events.length >= NEW_EVENTS_MAX) return null;
  const ofMerchants = Map.groupBy(fresh, ({ merchantId }) => merchantId);
  return [...ofMerchants].flatMap(([id, own]) => (own.length >= NEW_EVENTS_OF_MERCHANT_MAX ? [id] : []));
}

/**
 * Open streams of a process: of the callers of merchants, and of all others, so that merchants take no room of the operator and the
 * warehouse. A merchant has a limit of its own (docs/design/console.md, "Live updates").
 */
const MERCHANT_STREAMS_MAX = 1_000;
const OTHER_STREAMS_MAX = 200;
export const STREAMS_OF_CALLER_MAX = 10;
/** A stream writes at most one message in this time. */
const ROUND_MS = 500;
const READ_EVERY_MS = SECOND_MS;
const READ_EVERY_MAX_MS = 10 * SECOND_MS;
/** The part of the time in which the process reads events. */
const READING_PART = 0.02;
/** Older events are not new. Readings overlap by more than a transaction takes, and than clocks of processes differ. */
const NEW_MS = 2 * READ_EVERY_MAX_MS;
const CHECK_EVERY_MS = 2 * SECOND_MS;
/** Then the client connects again, perhaps to another process. */
const LIFETIME_MS = HOUR_MS;

/**
 * The streams of a process (docs/design/console.md, "Live updates"). While there is one, the process watches the signals and
 * reads the newest events: once for all streams. No stream holds a connection to the database.
 */
export class UpdateHub {
  readonly #context: Context;
  readonly #streams = new Set<UpdateStream>();
  readonly #gathered = new GatheredChanges();
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #readAtMs = 0;
  #checkedAtMs = 0;

  /** @param stopping is aborted when the process begins to stop. Open streams would delay its end. */
  constructor(context: Context, stopping?: AbortSignal) {
    this.#context = context;
    stopping?.addEventListener("abort", () => void this.close(), { once: true });
  }

  /** Opens a stream for a caller, which the row has admitted. */
  async open(caller: BackOfficeCaller): Promise<Readable | Problem> {
    const stream = new UpdateStream(caller);
    const merchantIds = stream.merchantIds === null ? null : [...stream.merchantIds];
    const maximumFor =
      merchantIds === null
        ? () => OTHER_STREAMS_MAX
        : await readMerchantMaximum(this.#context.db, merchantIds, "merchantStreams");
    // Nothing is awaited from here on, so that concurrent requests cannot exceed a limit.
    if (this.#stopping.signal.aborted) return unavailable;
    const own = [...this.#streams].filter((open) => keyOf(open.caller) === keyOf(caller));
    if (own.length >= STREAMS_OF_CALLER_MAX) return tooMany;
    const countOf = this.#countByMerchant();
    const full = merchantIds?.find((id) => countOf(id) >= maximumFor(id));
    if (full !== undefined) return limitReached("merchantStreams", maximumFor(full));
    const hasRoom = merchantIds === null ? this.#hasRoomForOthers() : this.#makeRoom(merchantIds, countOf);
    if (!hasRoom) return unavailable;
    this.#streams.add(stream);
    stream.body.once("close", () => this.#streams.delete(stream));
    this.#start();
    return stream.body;
  }

  /** How many open streams show something of a merchant, of callers who see some merchants only. */
  #countByMerchant(): (merchantId: string) => number {
    const counts = new Map<string, number>();
    for (const { merchantIds } of this.#streams)
      for (const id of merchantIds ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
    return (merchantId) => counts.get(merchantId) ?? 0;
  }

  #hasRoomForOthers(): boolean {
    return [...this.#streams].filter(({ merchantIds }) => merchantIds === null).length < OTHER_STREAMS_MAX;
  }

  /** If merchants have as many streams as they may, ends the oldest of the merchant that has the most, unless that is this one. */
  #makeRoom(merchantIds: readonly string[], countOf: (merchantId: string) => number): boolean {
    const ofMerchants = [...this.#streams].filter((stream) => stream.merchantIds !== null);
    if (ofMerchants.length < MERCHANT_STREAMS_MAX) return true;
    const most = (ids: Iterable<string>): number => Math.max(0, ...[...ids].map(countOf));
    const [largest] = ofMerchants.toSorted((a, b) => most(b.merchantIds ?? []) - most(a.merchantIds ?? []));
    if (largest === undefined || most(largest.merchantIds ?? []) <= most(merchantIds) + 1) return false;
    this.#end(largest, "unavailable");
    return true;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#streams.size === 0 || this.#stopping.signal.aborted) return;
      // They were opened after the last round. Nothing has been watched since.
      for (const stream of this.#streams) stream.missed();
      this.#start();
    });
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#endAll("stopping");
    await this.#running;
  }

  /** Until the last stream has ended. */
  async #run(): Promise<void> {
    const gathered = this.#gathered;
    this.#readAtMs = 0; // At once: what the first reading finds counts as having happened before the streams were opened.
    const unwatch = this.#context.signals.watch({
      onSignal: (signal, connections) => {
        if (signal !== "deliveries_due") return;
        // No page shows what merchants and facilities receive.
        gathered.addConnections([...connections].filter((owner) => ownerKind(owner) === "connection"));
      },
      onOrders: (changed) => gathered.addOrders(changed),
    });
    try {
      while (this.#streams.size > 0 && !this.#stopping.signal.aborted) {
        await this.#round();
        await pause(ROUND_MS, this.#stopping.signal);
      }
    } finally {
      gathered.clear();
      await unwatch();
    }
  }

  async #round(): Promise<void> {
    try {
      if (performance.now() >= this.#readAtMs) await this.#read();
      if (performance.now() >= this.#checkedAtMs + CHECK_EVERY_MS) await this.#check();
      await this.#passOn();
    } catch (err) {
      // Whether the callers still have their access is not known.
      this.#context.log.warn({ err }, "updates not read, streams ended");
      this.#endAll("unavailable");
    }
    for (const stream of this.#streams) {
      if (performance.now() - stream.openedAtMs > LIFETIME_MS) this.#end(stream, "lifetime");
      else stream.write();
    }
  }

  async #check(): Promise<void> {
    const streams = [...this.#streams];
    const isAdmitted = await stillAdmitted(
      this.#context,
      streams.map(({ caller }) => caller),
    );
    for (const stream of streams) if (!isAdmitted(stream.caller)) this.#end(stream, "access-changed");
    this.#checkedAtMs = performance.now();
  }

  /** Events of connections without endpoints are not signaled, and a signal may be lost. */
  async #read(): Promise<void> {
    const { db, clock } = this.#context;
    const startedAtMs = performance.now();
    const events = await listNewEvents(db, uuidAt(before(clock.now(), NEW_MS)), this.#merchants());
    this.#gathered.addEvents(events);
    const endedAtMs = performance.now();
    const pauseMs = Math.min(READ_EVERY_MAX_MS, (endedAtMs - startedAtMs) / READING_PART);
    this.#readAtMs = endedAtMs + Math.max(READ_EVERY_MS, pauseMs);
  }

  /** The merchants that any of the streams shows something of. Null: all. */
  #merchants(): string[] | null {
    const ids = new Set<string>();
    for (const { caller } of this.#streams) {
      if (merchantScope(caller.grants) === null) return null;
      const scope = orderScope(caller.grants);
      for (const id of scope?.merchantIds ?? []) ids.add(id);
      for (const { merchantId } of scope?.connections ?? []) ids.add(merchantId);
    }
    return [...ids];
  }

  async #passOn(): Promise<void> {
    const changes = this.#gathered.take();
    if (changes.orders.length + changes.connections.length === 0 && changes.moreOf?.size === 0) return;
    const needsFacilities = [...this.#streams].some(
      ({ caller }) => (orderScope(caller.grants)?.facilityIds.length ?? 0) > 0,
    );
    const facilities = needsFacilities
      ? await readFacilitiesOfOrders(this.#context.db, changes.orders)
      : new Map<string, string>();
    for (const stream of this.#streams) stream.note(changes, facilities);
  }

  #endAll(reason: StreamEndReason): void {
    for (const stream of this.#streams) this.#end(stream, reason);
  }

  #end(stream: UpdateStream, reason: StreamEndReason): void {
    this.#streams.delete(stream);
    stream.end(reason);
  }
}

/** Sessions of one person count together, and so do programs with `OPERATOR_TOKEN`. */
const keyOf = ({ id }: BackOfficeCaller): string => id ?? "operator";

const tooMany: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${STREAMS_OF_CALLER_MAX} open streams is reached. Close one first.`,
  members: { limit: "streams", maximum: STREAMS_OF_CALLER_MAX },
};
