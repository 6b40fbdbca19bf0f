import type { Logger } from "pino";
import { type ConnectionKey, distinctConnections } from "./connection-key.ts";
import type { Database } from "./database/database.ts";
import { atMostEvery } from "./log.ts";
import { inBatches, pause } from "./run-in-turn.ts";

/**
 * What changed for a connection: deliveries became due, leases of a pull endpoint have ended, its webhook endpoints changed, or one
 * of its keys did.
 */
export type Signal = "deliveries_due" | "leases_ended" | "endpoints_changed" | "keys_changed";

type SignalHandler = (signal: Signal, connections: Iterable<ConnectionKey>) => void;

/**
 * Hints to the workers of this process and of others that something changed for a connection. Send one after the
 * commit. Correctness never depends on a signal: a worker that misses one finds the work by polling.
 */
export type Signals = {
  send(signal: Signal, connections: Iterable<ConnectionKey>): void;
  /**
   * These orders have changed. For pages that show them: nothing else depends on it (docs/design/console.md, "Live updates").
   */
  sendOrders(orders: Iterable<ChangedOrder>): void;
  /** Calls the handlers for the signals of this process and of others. Returns a function that stops it. */
  watch(handlers: SignalHandlers): () => Promise<void>;
};

export type SignalChannel = Signals & {
  /** As `watch`, for signals about connections. */
  listen(handle: SignalHandler): () => Promise<void>;
};

/** An order that has changed, and who may see it. */
export type ChangedOrder = ConnectionKey & { readonly id: string; readonly testMode: boolean };

/** Orders that have changed. If they are more than a notification holds, their merchants; null: more merchants, too. */
export type ChangedOrders =
  | { readonly orders: readonly ChangedOrder[] }
  | { readonly merchantIds: readonly string[] | null };

type SignalHandlers = {
  readonly onSignal: SignalHandler;
  readonly onOrders?: (changed: ChangedOrders) => void;
};

/** For a process, or a test, that signals nothing. */
export const NO_SIGNALS: Signals = {
  send: () => undefined,
  sendOrders: () => undefined,
  watch: () => async () => undefined,
};

const SIGNALS: readonly Signal[] = ["deliveries_due", "leases_ended", "endpoints_changed", "keys_changed"];
const CHANNEL = "partner_orders_signals";
const SEND_EVERY_MS = 25;
/**
 * It does not wait: other processes may still admit a key that was revoked (docs/design/isolation-and-limits.md, "Known keys").
 */
const URGENT: Signal = "keys_changed";
/** A notification holds at most 8000 bytes. */
const CONNECTIONS_PER_NOTIFICATION_MAX = 100;
/** Notifications at a time. Connections beyond these are found by polling. */
const NOTIFICATIONS_MAX = 10;
const RECONNECT_MS = 1_000;
/** While the database is unavailable, each attempt to reconnect fails: one line in this time has their number. */
const LOST_LINE_MS = 10_000;
/** Pages wait longer than workers. */
const SEND_ORDERS_EVERY_MS = 250;
const ORDERS_PER_NOTIFICATION_MAX = 50;
const MERCHANTS_PER_NOTIFICATION_MAX = 100;

type Notification = { readonly from: string } & (
  | {
      readonly signal: Signal;
      /** Merchant and connection ids, joined by a slash. */
      readonly connections: readonly string[];
    }
  /**
   * Merchant, connection and order ids and `t` for a test order, joined by slashes. If there are too many, their merchants, or
   * null if those are too many as well.
   */
  | { readonly orders: readonly string[] }
  | { readonly orders: null; readonly merchantIds: readonly string[] | null }
);

/**
 * Signals by PostgreSQL's notifications. A notification within an order's transaction would queue all commits behind
 * each other, so it is sent afterwards, alone, and at most once in `SEND_EVERY_MS` for any number of orders.
 */
export function openSignalChannel(db: Database, log: Logger, processId: string): SignalChannel {
  const unsent = new UnsentSignals(processId, (notifications) => notify(notifications));
  const watching = new Set<SignalHandlers>();
  let stopListening: (() => Promise<void>) | null = null;

  function notify(notifications: readonly Notification[]): void {
    const values = [CHANNEL, notifications.map((each) => JSON.stringify(each))];
    const text = "select pg_notify($1, payload) from unnest($2::text[]) as payload";
    db.query({ name: "notify", text, values }).catch((err: unknown) =>
      log.debug({ err }, "signal not sent to other processes, work is found by polling"),
    );
  }

  function handleHere(signal: Signal, connections: readonly ConnectionKey[]): void {
    for (const { onSignal } of watching) onSignal(signal, connections);
  }

  function handleOrders(changed: ChangedOrders): void {
    for (const { onOrders } of watching) onOrders?.(changed);
  }

  function receive(payload: string | undefined): void {
    if (payload === undefined) return;
    const notification = JSON.parse(payload) as Notification; // Written by `notify`.
    if (notification.from === processId) return;
    if ("orders" in notification)
      handleOrders(
        notification.orders === null
          ? { merchantIds: notification.merchantIds }
          : { orders: notification.orders.map(orderFromText) },
      );
    else handleHere(notification.signal, notification.connections.map(fromText));
  }

  /** One connection to the database for all that watch. */
  function watch(handlers: SignalHandlers): () => Promise<void> {
    watching.add(handlers);
    stopListening ??= startListening(db, receive, log);
    return async () => {
      watching.delete(handlers);
      if (watching.size > 0) return;
      const stop = stopListening;
      stopListening = null;
      await stop?.();
    };
  }

  return {
    send(signal, connections) {
      const keys = [...connections];
      if (keys.length === 0) return;
      handleHere(signal, keys);
      unsent.add(signal, keys);
    },
    sendOrders(changed) {
      const orders = [...changed];
      if (orders.length === 0) return;
      handleOrders({ orders });
      unsent.addOrders(orders);
    },
    watch,
    listen: (onSignal) => watch({ onSignal }),
  };
}

/** What a process has not sent to the others yet. */
class UnsentSignals {
  readonly #processId: string;
  readonly #notify: (notifications: readonly Notification[]) => void;
  readonly #connections: Record<Signal, ConnectionKey[]> = {
    deliveries_due: [],
    leases_ended: [],
    endpoints_changed: [],
    keys_changed: [],
  };
  /** By id. One more than a notification holds means too many. */
  readonly #orders = new Map<string, ChangedOrder>();
  /** Of all orders. One more than a notification holds means too many. */
  readonly #merchantIds = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #ordersTimer: NodeJS.Timeout | null = null;

  constructor(processId: string, notify: (notifications: readonly Notification[]) => void) {
    this.#processId = processId;
    this.#notify = notify;
  }

  add(signal: Signal, keys: readonly ConnectionKey[]): void {
    this.#connections[signal].push(...keys);
    if (signal === URGENT) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), SEND_EVERY_MS).unref();
  }

  addOrders(orders: readonly ChangedOrder[]): void {
    for (const order of orders) {
      if (this.#orders.size <= ORDERS_PER_NOTIFICATION_MAX) this.#orders.set(order.id, order);
      if (this.#merchantIds.size <= MERCHANTS_PER_NOTIFICATION_MAX) this.#merchantIds.add(order.merchantId);
    }
    this.#ordersTimer ??= setTimeout(() => this.#sendOrders(), SEND_ORDERS_EVERY_MS).unref();
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const signal of SIGNALS) {
      const batches = inBatches(
        distinctConnections(this.#connections[signal]),
        CONNECTIONS_PER_NOTIFICATION_MAX,
      );
      this.#connections[signal] = [];
      const notifications = batches
        .slice(0, NOTIFICATIONS_MAX)
        .map((connections) => ({ from: this.#processId, signal, connections: connections.map(toText) }));
      if (notifications.length > 0) this.#notify(notifications);
    }
  }

  #sendOrders(): void {
    this.#ordersTimer = null;
    const isFull = this.#orders.size > ORDERS_PER_NOTIFICATION_MAX;
    const merchantIds =
      this.#merchantIds.size > MERCHANTS_PER_NOTIFICATION_MAX ? null : [...this.#merchantIds];
    const orders = [...this.#orders.values()].map(orderToText);
    this.#orders.clear();
    this.#merchantIds.clear();
    this.#notify([{ from: this.#processId, ...(isFull ? { orders: null, merchantIds } : { orders }) }]);
  }
}

const orderToText = (order: ChangedOrder): string =>
  [toText(order), order.id, ...(order.testMode ? ["t"] : [])].join("/");

function orderFromText(text: string): ChangedOrder {
  const [merchantId = "", connectionId = "", id = "", mode] = text.split("/");
  return { merchantId, connectionId, id, testMode: mode === "t" };
}

const toText = ({ merchantId, connectionId }: ConnectionKey): string => `${merchantId}/${connectionId}`;

function fromText(text: string): ConnectionKey {
  const [merchantId = "", connectionId = ""] = text.split("/");
  return { merchantId, connectionId };
}

function startListening(
  db: Database,
  receive: (payload: string | undefined) => void,
  log: Logger,
): () => Promise<void> {
  const stopping = new AbortController();
  const ended = listenUntil(db, stopping.signal, receive, log);
  return () => {
    stopping.abort();
    return ended;
  };
}

async function listenUntil(
  db: Database,
  stopping: AbortSignal,
  receive: (payload: string | undefined) => void,
  log: Logger,
): Promise<void> {
  const logLost = atMostEvery<unknown>(LOST_LINE_MS, (err, count) =>
    log.warn({ err, count }, "signals of other processes not received, will reconnect"),
  );
  while (!stopping.aborted) {
    try {
      await listenOnce(db, stopping, receive);
    } catch (err) {
      logLost(err);
      await pause(RECONNECT_MS, stopping);
    }
  }
}

const listenOnce = (
  db: Database,
  stopping: AbortSignal,
  receive: (payload: string | undefined) => void,
): Promise<void> =>
  db.withClient(async (client) => {
    const onNotification = ({ payload }: { payload?: string | undefined }): void => receive(payload);
    const over = Promise.withResolvers<void>();
    const end = (): void => over.resolve();
    client.on("notification", onNotification);
    client.once("error", end);
    stopping.addEventListener("abort", end);
    if (stopping.aborted) end();
    try {
      await client.query(`listen ${CHANNEL}`);
      await over.promise;
      await client.query(`unlisten ${CHANNEL}`); // Fails if the session has ended.
    } finally {
      stopping.removeEventListener("abort", end);
      client.off("error", end);
      client.off("notification", onNotification);
    }
  });
