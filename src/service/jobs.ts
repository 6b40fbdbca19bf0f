import { purgeAuditEntries } from "../audit/record-audit.ts";
import { publishBackOfficeEvents } from "../back-office/publish-events.ts";
import { advanceCertifications } from "../certification/advance-runs.ts";
import { purgePickLists } from "../fulfilment/pick-lists.ts";
import { routeAllOrders } from "../fulfilment/routing/waiting-orders.ts";
import { purgeMails } from "../mail/mails-sql.ts";
import { sendDueMails } from "../mail/send-mails.ts";
import { resealAll } from "../operations/keyring.ts";
import { dropOldPartitions, gatherFirstStatistics, makePartitions } from "../operations/partitions.ts";
import { purgeProcesses } from "../operations/processes.ts";
import { acceptAllDueOrders } from "../orders/deadlines/accept-orders.ts";
import { completeAllShippedOrders } from "../orders/deadlines/complete-shipped-orders.ts";
import { eraseAllExpiredTestOrders } from "../orders/deadlines/erase-test-orders.ts";
import { eraseOldPersonalData } from "../orders/personal-data.ts";
import { indexNewOrders } from "../orders/reading/list-orders.ts";
import { countOrderDays } from "../orders/reading/orders-by-day.ts";
import { processAccountPayments } from "../payments/account/account.ts";
import { mailPaymentFailures } from "../payments/failure-mails.ts";
import { retryDeclinedCharges } from "../payments/retry-payments.ts";
import { processStripePayments } from "../payments/stripe/process-stripe-payments.ts";
import { endGrantsOfEndedTokens } from "../people/manage.ts";
import { purgePeopleRecords } from "../people/purge-people-records.ts";
import { HOUR_MS, MINUTE_MS } from "../platform/time.ts";
import { removeEndedConnections } from "../self-service/remove-ended-connections.ts";
import { purgeStockMovements } from "../stock/stock-movements-sql.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { removeDeletedEndpoints } from "../webhooks/endpoints/change-endpoints.ts";
import { clearEndpoints } from "../webhooks/endpoints/clearings.ts";
import { pauseEndedEndpoints } from "../webhooks/endpoints/ended-access.ts";
import { purgeDeliveryLog } from "../webhooks/log/retention.ts";
import { endPullLeases, reportSilentEndpoints } from "../webhooks/pull/record-pulled.ts";
import { resendDeliveries } from "../webhooks/resend/resend-deliveries.ts";

/** Recurring background work of the worker. */
export type Job = {
  name: string;
  /** The pause between two runs. */
  everyMs: number;
  /** Returns how many items it processed. If `stopping` is aborted, it returns after the current batch. */
  run(context: WebhookContext, stopping?: AbortSignal): Promise<number>;
};

/** Also runs in `api` processes without the role `worker`. */
export const GATHER_FIRST_STATISTICS: Job = {
  name: "gather-first-statistics",
  everyMs: 2_000,
  run: ({ db }) => gatherFirstStatistics(db),
};

/** What tokens have made that were revoked or have expired. */
const endWithTokens: Job["run"] = async (context, stopping) =>
  (await endGrantsOfEndedTokens(context)) + (await pauseEndedEndpoints(context, stopping));

/** Any number of workers may run these: each row is claimed or locked by one of them. */
export const JOBS: readonly Job[] = [
  { name: "accept-orders", everyMs: 500, run: acceptAllDueOrders },
  { name: "route-orders", everyMs: 500, run: routeAllOrders },
  { name: "complete-shipped-orders", everyMs: 5_000, run: completeAllShippedOrders },
  { name: "retry-declined-charges", everyMs: 500, run: retryDeclinedCharges },
  { name: "process-payments", everyMs: 500, run: processAccountPayments },
  { name: "process-stripe-payments", everyMs: 1_000, run: processStripePayments },
  { name: "mail-payment-failures", everyMs: 5_000, run: mailPaymentFailures },
  { name: "erase-test-orders", everyMs: 1_000, run: eraseAllExpiredTestOrders },
  { name: "publish-events", everyMs: 500, run: publishBackOfficeEvents },
  { name: "end-with-tokens", everyMs: 1_000, run: endWithTokens },
  { name: "end-pull-leases", everyMs: 1_000, run: endPullLeases },
  { name: "report-silent-endpoints", everyMs: HOUR_MS, run: reportSilentEndpoints },
  { name: "advance-certifications", everyMs: 1_000, run: advanceCertifications },
  { name: "clear-endpoints", everyMs: 1_000, run: clearEndpoints },
  { name: "resend-deliveries", everyMs: 1_000, run: resendDeliveries },
  { name: "make-partitions", everyMs: HOUR_MS, run: makePartitions },
  { name: "drop-old-partitions", everyMs: HOUR_MS, run: dropOldPartitions },
  { name: "purge-delivery-log", everyMs: HOUR_MS, run: purgeDeliveryLog },
  { name: "remove-deleted-endpoints", everyMs: HOUR_MS, run: removeDeletedEndpoints },
  { name: "remove-ended-connections", everyMs: 10_000, run: removeEndedConnections },
  { name: "reseal-secrets", everyMs: HOUR_MS, run: resealAll },
  { name: "send-mails", everyMs: 5_000, run: sendDueMails },
  { name: "purge-mails", everyMs: HOUR_MS, run: purgeMails },
  { name: "erase-personal-data", everyMs: HOUR_MS, run: eraseOldPersonalData },
  { name: "purge-pick-lists", everyMs: HOUR_MS, run: purgePickLists },
  { name: "purge-stock-movements", everyMs: HOUR_MS, run: purgeStockMovements },
  { name: "purge-people-records", everyMs: HOUR_MS, run: purgePeopleRecords },
  { name: "purge-audit-entries", everyMs: HOUR_MS, run: purgeAuditEntries },
  { name: "count-order-days", everyMs: MINUTE_MS, run: countOrderDays },
  { name: "sort-in-new-words", everyMs: 2_000, run: indexNewOrders },
  { name: "purge-processes", everyMs: HOUR_MS, run: purgeProcesses },
  GATHER_FIRST_STATISTICS,
];
