import type { LedgerEntry } from "../../src/ledger/ledger.ts";

export const NOW = new Date("2026-03-02T09:00:00.000Z");

let count = 0;

/** An entry in a few words: `goods 1 failed`; for a refund, the id of its charge follows, and of its request. */
export function entry(words: string, id?: string): LedgerEntry {
  count += 1;
  const [kind, attempt, status, refundOf = null, refundId = null] = words.split(" ");
  return {
    id: id ?? `other-${count}`,
    kind: kind as LedgerEntry["kind"],
    attempt: Number(attempt),
    refundOf,
    refundId,
    amountMinor: 1_000n,
    currency: "EUR",
    status: status as LedgerEntry["status"],
    gateway: status === "pending" || status === "canceled" ? null : "stripe",
    failureReason: status === "failed" ? "declined" : null,
    requestId: null,
    createdAt: NOW,
  };
}

/** A ledger of such entries, with the ids `entry-1`, `entry-2` and so on. */
export const ledgerOf = (...all: readonly string[]): LedgerEntry[] =>
  all.map((words, index) => entry(words, `entry-${index + 1}`));
