import type { Logger } from "pino";
import { type ConnectionKey, distinctConnections } from "./connection-key.ts";
import type { Database } from "./database/database.ts";
import { pause } from "./pause.ts";
import { inBatches } from "./run-in-turn.ts";

/** What changed for a connection: deliveries became due, or its webhook endpoints changed. */
export type Signal = "deliveries_due" | "endpoints_changed";

type SignalHandler = (signal: Signal, connections: Iterable<ConnectionKey>) => void;

/**
 * Hints to the workers of this process and of others that something changed for a connection. Send one after the
 * commit. Correctness never depends on a signal: a worker that misses one finds the work by polling.
 */
export type Signals = {
  send(signal: Signal, connections: Iterable<ConnectionKey>): void;
};

export type SignalChannel = Signals & {
  /** Calls `handle` for the signals of this process and of others. Returns a function that stops it. */
  listen(handle: SignalHandler): () => Promise<void>;
};

const SIGNALS: readonly Signal[] = ["deliveries_due", "endpoints_changed"];
const CHANNEL = "partner_orders_signals";
const SEND_EVERY_MS = 25;
/** A notification holds at most 8000 bytes. */
const CONNECTIONS_PER_NOTIFICATION_MAX = 100;
/** Notifications at a time. Connections beyond these are found by polling. */
const NOTIFICATIONS_MAX = 10;
const RECONNECT_MS = 1_000;

type Notification = {
  readonly from: string;
  readonly signal: Signal;
  /** Merchant and connection ids, joined by a slash. */
  readonly connections: readonly string[];
};

/**
 * Signals by PostgreSQL's notifications. A notification within an order's transaction would queue all commits behind
 * each other, so it is sent afterwards, alone, and at most once in `SEND_EVERY_MS` for any number of orders.
 */
export function openSignalChannel(db: Database, log: Logger, processId: string): SignalChannel {
  const unsent: Record<Signal, ConnectionKey[]> = { deliveries_due: [], endpoints_changed: [] };
  let timer: NodeJS.Timeout | null = null;
  let handleHere: SignalHandler | null = null;

  function notifyOthers(): void {
    timer = null;
    for (const signal of SIGNALS) {
      const batches = inBatches(distinctConnections(unsent[signal]), CONNECTIONS_PER_NOTIFICATION_MAX);
      unsent[signal] = [];
      const notifications = batches
        .slice(0, NOTIFICATIONS_MAX)
        .map((connections) => ({ from: processId, signal, connections: connections.map(toText) }));
      if (notifications.length > 0) notify(notifications);
    }
  }

  function notify(notifications: readonly Notification[]): void {
    const values = [CHANNEL, notifications.map((each) => JSON.stringify(each))];
    const text = "select pg_notify($1, payload) from unnest($2::text[]) as payload";
    db.query({ name: "notify", text, values }).catch((err: unknown) =>
      log.debug({ err }, "signal not sent to other processes, work is found by polling"),
    );
  }

  function receive(payload: string | undefined): void {
    const { from, signal, connections } = JSON.parse(payload ?? "{}") as Notification; // Written by `notify`.
    if (from !== processId) handleHere?.(signal, connections.map(fromText));
  }

  return {
    send(signal, connections) {
      const keys = [...connections];
      if (keys.length === 0) return;
      handleHere?.(signal, keys);
      unsent[signal].push(...keys);
      if (timer === null) timer = setTimeout(notifyOthers, SEND_EVERY_MS).unref();
    },
    listen(handle) {
      handleHere = handle;
      const stopping = new AbortController();
      const ended = listenUntil(db, stopping.signal, receive, log);
      return async () => {
        handleHere = null;
        stopping.abort();
        await ended;
      };
    },
  };
}

const toText = ({ merchantId, connectionId }: ConnectionKey): string => `${merchantId}/${connectionId}`;

function fromText(text: string): ConnectionKey {
  const [merchantId = "", connectionId = ""] = text.split("/");
  return { merchantId, connectionId };
}

async function listenUntil(
  db: Database,
  stopping: AbortSignal,
  receive: (payload: string | undefined) => void,
  log: Logger,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await listenOnce(db, stopping, receive);
    } catch (err) {
      log.warn({ err }, "signals of other processes not received, will reconnect");
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
    client.on("notification", onNotification);
    try {
      const lost = new Promise<never>((_resolve, reject) => client.once("error", reject));
      await client.query(`listen ${CHANNEL}`);
      await Promise.race([lost, aborted(stopping)]);
      await client.query(`unlisten ${CHANNEL}`);
    } finally {
      client.off("notification", onNotification);
    }
  });

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
