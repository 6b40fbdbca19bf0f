import { ensureEventPartitions } from "../database/event-partitions.ts";
import type { Metrics } from "../metrics.ts";
import { acceptDueOrders } from "../orders/accept-orders.ts";
import { listConnectionsWithDueOrders } from "../orders/acceptance-sql.ts";
import { eraseTestOrders, listExpiredOrders } from "../sandbox/erase-test-orders.ts";
import type { Service } from "../service.ts";

/** A piece of work that is there again and again; `run` answers how many things it did. */
export type Chore = { name: string; everyMs: number; run(service: Service): Promise<number> };

const ERASED_AT_ONCE_MAX = 1_000;

/** What the worker does by itself. Any number of workers may run: rows are claimed, never shared. */
export const CHORES: readonly Chore[] = [
  { name: "accept-orders", everyMs: 500, run: acceptAllDueOrders },
  { name: "erase-test-orders", everyMs: 1_000, run: eraseExpiredOrders },
  { name: "make-event-partitions", everyMs: 3_600_000, run: makeEventPartitions },
];

/** In turn, a batch of each connection at a time, so that a busy connection never keeps the others waiting. */
async function acceptAllDueOrders(service: Service): Promise<number> {
  let count = 0;
  let connectionIds = await listConnectionsWithDueOrders(service.db, service.clock.now());
  while (connectionIds.length > 0) {
    const unfinished: string[] = [];
    for (const connectionId of connectionIds) {
      const accepted = await acceptDueOrders(service, connectionId);
      count += accepted;
      if (accepted > 0) unfinished.push(connectionId);
    }
    connectionIds = unfinished;
  }
  return count;
}

async function eraseExpiredOrders({ db, clock }: Service): Promise<number> {
  let count = 0;
  for (;;) {
    const now = clock.now();
    const expired = await listExpiredOrders(db, now, ERASED_AT_ONCE_MAX);
    const before = count;
    for (const { connectionId, orderIds } of expired)
      count += await eraseTestOrders(db, connectionId, orderIds, now);
    if (count === before) return count;
  }
}

async function makeEventPartitions({ db, clock }: Service): Promise<number> {
  await ensureEventPartitions(db, clock.now());
  return 0;
}

export type Worker = { stop(): Promise<void> };

/** Runs the chores until it is stopped. A round that fails is logged and tried again at the next turn. */
export function startWorker(service: Service, metrics: Metrics, chores: readonly Chore[] = CHORES): Worker {
  const stopping = new AbortController();
  const loops = chores.map((chore) => repeat(service, metrics, chore, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function repeat(
  service: Service,
  metrics: Metrics,
  chore: Chore,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      metrics.choreDone(chore.name, await chore.run(service));
    } catch (error) {
      metrics.choreFailed(chore.name);
      service.log.error(
        { err: error, chore: chore.name },
        "a chore failed; it is tried again at its next turn",
      );
    }
    await pause(chore.everyMs, stopping);
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve();
    const timer = setTimeout(done, ms);
    stopping.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", done);
      resolve();
    }
  });
}
