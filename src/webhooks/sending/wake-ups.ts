import type { Logger } from "pino";
import type { Database } from "../../database/database.ts";

/**
 * Tells dispatchers, in this process and in others, that deliveries have become due. Nothing rests on it: a
 * dispatcher that is not told finds them by polling.
 *
 * A notification inside an order's transaction would make all commits queue behind each other, so it goes out
 * afterwards, by itself, and at most once in a short while however many orders there are.
 */
export type WakeUps = {
  tell(news: News, connectionIds: Iterable<string>): void;
  /** From now on calls `hear` with what this process and others tell. Answers how to stop. */
  listen(hear: Hear): () => Promise<void>;
};

/** What is told of connections: that deliveries have become due, or that endpoints have changed. */
export type News = "due" | "changed";
type Hear = (news: News, connectionIds: Iterable<string>) => void;

const CHANNEL = "partner_orders_deliveries_due";
const TOLD_EVERY_MS = 25;
/** A notification holds at most 8000 bytes; whoever is not named is found by polling. */
const NAMED_MAX = 150;
const LISTEN_AGAIN_MS = 1_000;

export function createWakeUps(db: Database, log: Logger, processId: string): WakeUps {
  const untold = { due: new Set<string>(), changed: new Set<string>() };
  let timer: NodeJS.Timeout | null = null;
  let hearHere: Hear | null = null;

  function tellOthers(): void {
    timer = null;
    for (const news of ["due", "changed"] as const) {
      const connectionIds = [...untold[news]].slice(0, NAMED_MAX);
      untold[news].clear();
      if (connectionIds.length > 0) notify({ from: processId, news, connectionIds });
    }
  }

  function notify(notification: Notification): void {
    const values = [CHANNEL, JSON.stringify(notification)];
    db.query({ name: "notify", text: "select pg_notify($1, $2)", values }).catch((err: unknown) =>
      log.debug({ err }, "other dispatchers could not be told; they poll"),
    );
  }

  function hear(payload: string | undefined): void {
    const { from, news, connectionIds } = JSON.parse(payload ?? "{}") as Notification; // Written by `notify`.
    if (from !== processId) hearHere?.(news, connectionIds);
  }

  return {
    tell(news, connectionIds) {
      const ids = [...connectionIds];
      if (ids.length === 0) return;
      hearHere?.(news, ids);
      for (const id of ids) untold[news].add(id);
      if (timer === null) timer = setTimeout(tellOthers, TOLD_EVERY_MS).unref();
    },
    listen(listener) {
      hearHere = listener;
      const stopping = new AbortController();
      const ended = listenUntil(db, stopping.signal, hear, log);
      return async () => {
        hearHere = null;
        stopping.abort();
        await ended;
      };
    },
  };
}

type Notification = { readonly from: string; readonly news: News; readonly connectionIds: readonly string[] };

async function listenUntil(
  db: Database,
  stopping: AbortSignal,
  hear: (payload: string | undefined) => void,
  log: Logger,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await listenOnce(db, stopping, hear);
    } catch (err) {
      log.warn(
        { err },
        "wake-ups of other processes are not heard for the moment; deliveries are found by polling",
      );
      await pause(LISTEN_AGAIN_MS, stopping);
    }
  }
}

const listenOnce = (
  db: Database,
  stopping: AbortSignal,
  hear: (payload: string | undefined) => void,
): Promise<void> =>
  db.withClient(async (client) => {
    const onNotification = ({ payload }: { payload?: string | undefined }): void => hear(payload);
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
