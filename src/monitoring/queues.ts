import { readOldestDuePayment } from "../ledger/claim-payments-sql.ts";
import { countQueuedMails, readOldestDueMail } from "../mail/backlog-sql.ts";
import {
  readOldestDueOrder,
  readOldestExpiredOrder,
  readOldestUnroutedOrder,
} from "../orders/backlog-sql.ts";
import { readOldestPaymentRetry } from "../payments/backlog-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { readDueDeliveries, readOldestRecovery } from "../webhooks/backlog-sql.ts";

/** What waits for the workers in one queue. */
export type Backlog = {
  /** Null: this queue is not counted, because that would read too much. */
  readonly count: number | null;
  /** Since when the oldest of it is due. Null: none is. */
  readonly oldestDueAt: Date | null;
};

export type Queue = {
  readonly name: string;
  read(db: Queryable, now: Date): Promise<Backlog>;
};

const ageOnly =
  (readOldest: (db: Queryable, now: Date) => Promise<Date | null>) =>
  async (db: Queryable, now: Date): Promise<Backlog> => ({
    count: null,
    oldestDueAt: await readOldest(db, now),
  });

/** The work of the workers. Each read is along an index, or of a small table. */
export const QUEUES: readonly Queue[] = [
  { name: "orders to accept", read: ageOnly(readOldestDueOrder) },
  { name: "orders to route", read: ageOnly(readOldestUnroutedOrder) },
  { name: "declined charges to retry", read: ageOnly(readOldestPaymentRetry) },
  { name: "payments to process", read: ageOnly(readOldestDuePayment) },
  { name: "test orders to erase", read: ageOnly(readOldestExpiredOrder) },
  { name: "webhooks to send", read: readDueDeliveries },
  { name: "recoveries", read: ageOnly(readOldestRecovery) },
  {
    name: "mails to send",
    read: async (db, now) => ({
      count: await countQueuedMails(db),
      oldestDueAt: await readOldestDueMail(db, now),
    }),
  },
];
