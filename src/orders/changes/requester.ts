import type { AuditFact } from "../../audit/audit-entry.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type AppliedTransition, PARTNER, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import type { Context } from "../../platform/context.ts";
import type { RequestedChange } from "./change-order.ts";

/**
 * Who requests an operation that partners and the back office share: a partner, known by the id of its request, or a
 * caller of the back office. The timeline names both. What the back office changes is in the audit log too.
 */
export type Requester = Initiator | { readonly partnersRequestId: string | null };

export const byPartner = (requestId: string | null = null): Requester => ({ partnersRequestId: requestId });

export const causedBy = (by: Requester, operation: string): TransitionCause =>
  "action" in by
    ? { actor: by.actor, operation, requestId: by.requestId }
    : { actor: PARTNER, operation, requestId: by.partnersRequestId };

/** Records the change in its transaction, if the back office has requested it. */
export const auditedIfStaff = (context: Context, by: Requester): Pick<RequestedChange, "alongside"> => ({
  async alongside(tx, change) {
    if ("action" in by && change.after !== change.before)
      await recordAudit(tx, context, by, orderFact(change));
    return null;
  },
});

/** A change of an order for the audit log. The actor's own text stays in the timeline: it may name the buyer. */
export function orderFact({ before, after }: Pick<AppliedTransition, "before" | "after">): AuditFact {
  const { merchantId, connectionId, id, testMode, status, holdReasons } = after;
  const isChanged = String(before.holdReasons) !== String(holdReasons);
  const details = { status, ...(isChanged && { holdReasons }) };
  return { merchantId, connectionId, subject: testMode ? "test" : "ord", ids: [id], details };
}
