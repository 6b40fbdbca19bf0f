import type { ClaimedPayment } from "../ledger/due-payments-sql.ts";
import type { GatewayName } from "../ledger/ledger.ts";

/** What a gateway says of a charge or a refund. */
export type GatewayResponse =
  /** The money has moved. `reference` is the gateway's name of it, which a refund of a charge goes by. */
  | { readonly answer: "succeeded"; readonly reference: string }
  /** The money has not moved and never will under this id. `reason` is the gateway's code. */
  | { readonly answer: "declined"; readonly reason: string }
  /** It may still go either way. To be looked at again at `recheckAt`, or earlier when the gateway tells of news. */
  | { readonly answer: "pending"; readonly reference: string; readonly recheckAt: Date };

/**
 * Moves money. The entry's id is the idempotency key: however often the same entry is sent, even at the same time, its
 * money moves at most once. To throw means that nobody knows what happened: the same entry is sent again later, and is
 * never taken to have failed (decision 0041).
 */
export type Gateway = {
  readonly name: GatewayName;
  /** Payments that it is asked about at the same time, for one connection. */
  readonly batchSize: number;
  /** Connections that it is asked for at the same time. */
  readonly concurrency: number;
  charge(payment: ClaimedPayment): Promise<GatewayResponse>;
  refund(payment: ClaimedPayment): Promise<GatewayResponse>;
};
