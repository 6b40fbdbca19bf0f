import type { Logger } from "pino";
import type { Database } from "./database/database.ts";

/** What changed for a connection: deliveries became due, or its webhook endpoints changed. */
export type Signal = "deliveries_due" | "endpoints_changed";

type SignalHandler = (signal: Signal, connectionIds: Iterable<string>) => void;

/**
 * Hints to the workers of this process and of others that something changed for a connection. Send one after the
 * commit. Correctness never depends on a signal: a worker that misses one finds the work by polling.
 */
export type Signals = {
  send(signal: Signal, connectionIds: Iterable<string>): void;
};

export type SignalChannel = Signals & {
  /** Calls `handle` for the signals of this process and of others. Returns how to stop. */
  listen(handle: SignalHandler): () => Promise<void>;
};

const SIGNALS: readonly Signal[] = ["deliveries_due", "endpoints_changed"];
const CHANNEL = "partner_orders_signals";
const SEND_EVERY_MS = 25;
/** A notification holds at most 8000 bytes. Connections beyond this number are found by polling. */
const CONNECTIONS_PER_NOTIFICATION_MAX = 150;
const RECONNECT_MS = 1_000;

type Notification = {
  readonly from: string;
  readonly signal: Signal;
  readonly connectionIds: readonly string[];
};

/**
 * Signals by PostgreSQL's notifications. A notification within an order's transaction would queue all commits behind
 * each other, so it is sent afterwards, alone, and at most once in `SEND_EVERY_MS` for any number of orders.
 */
export function openSignalChannel(db: Database, log: Logger, processId: string): SignalChannel {
  const unsent: Record<Signal, Set<string>> = { deliveries_due: new Set(), endpoints_changed: new Set() };
  let timer: NodeJS.Timeout | null = null;
  let handleHere: SignalHandler | null = null;

  function notifyOthers(): void {
    timer = null;
    for (const signal of SIGNALS) {
      const connectionIds = [...unsent[signal]].slice(0, CONNECTIONS_PER_NOTIFICATION_MAX);
      unsent[signal].clear();
      if (connectionIds.length > 0) notify({ from: processId, signal, connectionIds });
    }
  }

  function notify(notification: Notification): void {
    const values = [CHANNEL, JSON.stringify(notification)];
    db.query({ name: "notify", text: "select pg_notify($1, $2)", values }).catch((err: unknown) =>
      log.debug({ err }, "signal not sent to other processes; they poll"),
    );
  }

  function receive(payload: string | undefined): void {
    const { from, signal, connectionIds } = JSON.parse(payload ?? "{}") as Notification; // Written by `notify`.
    if (from !== processId) handleHere?.(signal, connectionIds);
  }

  return {
    send(signal, connectionIds) {
      const ids = [...connectionIds];
      if (ids.length === 0) return;
      handleHere?.(signal, ids);
      for (const id of ids) unsent[signal].add(id);
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
      log.warn({ err }, "signals of other processes not received, will reconnect; work is found by polling");
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

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return Promise.race([new Promise<void>((resolve) => void setTimeout(resolve, ms)), aborted(stopping)]);
}
