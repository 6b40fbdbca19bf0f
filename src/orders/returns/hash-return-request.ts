import { createHash } from "node:crypto";
import type { RefundRequest } from "../../ledger/refunds/refund.ts";
import type { ReturnFacts } from "./order-return.ts";

/** What two requests have in common if one is a retry of the other. */
export type ComparableReturn = Pick<ReturnFacts, "reason" | "condition"> & {
  readonly shipmentId?: string | undefined;
  readonly lines?: readonly { readonly lineId: string; readonly quantity: number }[] | undefined;
  readonly restock: boolean;
  readonly refund: RefundRequest | null;
};

/**
 * SHA-256 of a return (decision 0105). The note is left out, as it is for refunds: it is erased with the personal data. So
 * are absent members: a new one does not change the hash of an earlier request.
 */
export function hashReturnRequest({
  shipmentId,
  lines,
  reason,
  condition,
  restock,
  refund,
}: ComparableReturn): Buffer {
  const said = {
    shipmentId,
    lines: lines?.map(({ lineId, quantity }) => [lineId, quantity]),
    reason: reason ?? undefined,
    condition: condition ?? undefined,
    restock: restock || undefined,
    refund: refund === null ? undefined : [String(refund.amountMinor), refund.reason, refund.reference],
  };
  return createHash("sha256").update(JSON.stringify(said)).digest();
}
