import { routeAllOrders } from "../fulfilment/routing/route-all-orders.ts";
import { forgetOldMails, sendDueMails } from "../mail/send-mails.ts";
import { dropOldPartitions } from "../maintenance/drop-partitions.ts";
import { gatherFirstStatistics } from "../maintenance/first-statistics.ts";
import { makePartitions } from "../maintenance/make-partitions.ts";
import { acceptDueOrders } from "../orders/deadlines/accept-orders.ts";
import { listConnectionsWithDueOrders } from "../orders/deadlines/acceptance-sql.ts";
import { completeShippedOrders } from "../orders/deadlines/complete-shipped-orders.ts";
import {
  eraseExpiredTestOrders,
  listConnectionsWithExpiredOrders,
} from "../orders/deadlines/erase-test-orders.ts";
import { listConnectionsWithShippedOrders } from "../orders/deadlines/shipped-orders-sql.ts";
import { accountGateway } from "../payments/account/account-gateway.ts";
import { processPayments } from "../payments/process-payments.ts";
import { processStripePayments } from "../payments/stripe/process-stripe-payments.ts";
import { inTurn } from "../platform/in-turn.ts";
import type { Metrics } from "../platform/metrics.ts";
import { HOUR_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/context.ts";
import { forgetOldLog } from "../webhooks/log/forget-old-log.ts";
import { recoverDeliveries } from "../webhooks/recovery/recover-deliveries.ts";
import { listConnectionsWithRecoveries } from "../webhooks/recovery/recovery-sql.ts";
import { resealSecrets } from "../webhooks/secrets/reseal-secrets.ts";

/**
 * A piece of work that is there again and again; `run` answers how many things it did. Once `stopping` is aborted it
 * ends after the batch it is at.
 */
export type Chore = {
  name: string;
  everyMs: number;
  run(context: WebhookContext, stopping?: AbortSignal): Promise<number>;
};

/** What the worker does by itself. Any number of workers may run: rows are claimed, never shared. */
export const CHORES: readonly Chore[] = [
  { name: "accept-orders", everyMs: 500, run: acceptAllDueOrders },
  { name: "route-orders", everyMs: 500, run: routeAllOrders },
  { name: "complete-shipped-orders", everyMs: 5_000, run: completeAllShippedOrders },
  { name: "settle-payments", everyMs: 500, run: settleAccountPayments },
  { name: "settle-stripe-payments", everyMs: 1_000, run: processStripePayments },
  { name: "erase-test-orders", everyMs: 1_000, run: eraseExpiredOrders },
  { name: "recover-deliveries", everyMs: 1_000, run: recoverAllDeliveries },
  { name: "make-partitions", everyMs: HOUR_MS, run: makePartitions },
  { name: "drop-old-partitions", everyMs: HOUR_MS, run: dropOldPartitions },
  { name: "forget-old-log", everyMs: HOUR_MS, run: forgetOldLog },
  { name: "reseal-secrets", everyMs: HOUR_MS, run: resealSecrets },
  { name: "send-mails", everyMs: 5_000, run: sendDueMails },
  { name: "forget-old-mails", everyMs: HOUR_MS, run: forgetOldMails },
  { name: "gather-first-statistics", everyMs: 2_000, run: ({ db }) => gatherFirstStatistics(db) },
];

async function acceptAllDueOrders(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return inTurn(
    () => listConnectionsWithDueOrders(context.db, context.clock.now()),
    (connectionId, failures) => acceptDueOrders(context, connectionId, failures),
    stopping,
  );
}

async function settleAccountPayments(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return processPayments(context, accountGateway(context), stopping);
}

async function completeAllShippedOrders(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return inTurn(
    () => listConnectionsWithShippedOrders(context.db),
    (connectionId, failures) => completeShippedOrders(context, connectionId, failures),
    stopping,
  );
}

async function eraseExpiredOrders(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return inTurn(
    () => listConnectionsWithExpiredOrders(context.db, context.clock.now()),
    (connectionId) => eraseExpiredTestOrders(context, connectionId),
    stopping,
  );
}

async function recoverAllDeliveries(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  return inTurn(
    () => listConnectionsWithRecoveries(context.db, context.clock.now()),
    (connectionId) => recoverDeliveries(context, connectionId),
    stopping,
  );
}

export type Worker = { stop(): Promise<void> };

/** Runs the chores until it is stopped. A round that fails is logged and tried again at the next turn. */
export function startWorker(
  context: WebhookContext,
  metrics: Metrics,
  chores: readonly Chore[] = CHORES,
): Worker {
  const stopping = new AbortController();
  const loops = chores.map((chore) => repeat(context, metrics, chore, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function repeat(
  context: WebhookContext,
  metrics: Metrics,
  chore: Chore,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      metrics.choreDone(chore.name, await chore.run(context, stopping));
    } catch (error) {
      metrics.choreFailed(chore.name);
      context.log.error(
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
