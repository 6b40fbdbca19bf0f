import type { ClaimedPayment } from "../ledger/claim-payments-sql.ts";
import type { GatewayName } from "../ledger/ledger.ts";

/** A gateway's response to a charge or a refund. */
export type GatewayResponse =
  /** The money has moved. `reference` is the gateway's id of the payment. A refund of the charge needs it. */
  | { readonly status: "succeeded"; readonly reference: string }
  /** The money has not moved and never will under this entry's id. `reason` is the gateway's code. */
  | { readonly status: "declined"; readonly reason: string }
  /** No outcome yet. The payment is checked again at `recheckAt`, or earlier if the gateway sends an event about it. */
  | { readonly status: "pending"; readonly reference: string; readonly recheckAt: Date };

/**
 * Moves money. The entry's id is the idempotency key: however often the same entry is sent, even concurrently, its
 * money moves at most once. An exception means that the outcome is unknown: the same entry is sent again later, and
 * never counts as failed (decision 0041).
 */
export type Gateway = {
  readonly name: GatewayName;
  /** Payments in one batch, which are sent at the same time. Connections share it. */
  readonly batchSize: number;
  /** Batches that are sent at the same time. */
  readonly concurrency: number;
  charge(payment: ClaimedPayment): Promise<GatewayResponse>;
  refund(payment: ClaimedPayment): Promise<GatewayResponse>;
};
