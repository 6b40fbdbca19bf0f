import type { AuditFact } from "../../audit/audit-sql.ts";
import { type Grant, roleOnOrder } from "../../audit/grant.ts";
import { type Initiator, recordAudits } from "../../audit/record-audit.ts";
import { PARTNER, type RecordContext, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import {
  appliedTransitions,
  applyTransition,
  isChange,
  isSettled,
  type Outcome,
} from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey, OrderRef } from "../../lifecycle/order.ts";
import type { KeyAccess } from "../../merchants/api-key.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isTimedOut, type Queryable } from "../../platform/database/database.ts";
import { notFound, type Problem, type Unproved } from "../../platform/wire/problems.ts";
import { findNamedOrder, lockOrder } from "../orders-sql.ts";
import { storeTransitions } from "./store-transitions.ts";

/**
 * POST /v1/orders/{orderId}/cancel. Specification, part 4. Cancel and acceptance can never both succeed
 * (docs/design/lifecycle.md, "The deadline decides"). A retry is safe: for a canceled order it returns the order again and
 * publishes nothing.
 */
export async function cancelOrder(
  context: Context,
  access: KeyAccess,
  ref: OrderRef,
  by: Requester = byPartner(),
): Promise<Order | Problem> {
  try {
    return await inOrderTransaction(context, access, ref, async (tx, order, at) => {
      if (order === undefined || (access.testOnly && !order.testMode)) return missingOrder(access);
      const outcome = applyTransition(order, { name: "cancelByPartner" }, at.now);
      await storeOutcome(tx, order, outcome, { operation: "cancel", by }, at);
      return outcome.outcome === "applied" ? outcome.order : notCancelable(outcome.order);
    });
  } catch (error) {
    const refused = isTimedOut(error) ? await refusedWithoutLock(context, access, ref) : null;
    if (refused === null) throw error;
    return refused;
  }
}

/**
 * Null unless the order can no longer be canceled. The acceptance of many orders may hold the lock for longer than a request may
 * wait; but what the deadline has decided needs none.
 */
async function refusedWithoutLock(
  { db, clock }: Context,
  access: KeyAccess,
  ref: OrderRef,
): Promise<Problem | null> {
  const now = clock.now();
  const order = await findNamedOrder(db, access, ref, now);
  if (order === undefined || (access.testOnly && !order.testMode)) return null;
  const outcome = applyTransition(order, { name: "cancelByPartner" }, now);
  return outcome.outcome === "applied" ? null : notCancelable(outcome.order);
}

/**
 * For a test key a real order is missing, and the response names what was searched
 * (docs/design/isolation-and-limits.md, "Live and test keys").
 */
export const missingOrder = ({ testOnly }: Pick<KeyAccess, "testOnly">): Problem =>
  notFound(testOnly ? "test order" : "order");

function notCancelable(order: Order): Problem {
  const { status } = order;
  const members = { orderStatus: status };
  if (isSettled(order))
    return {
      code: "order-not-cancelable",
      detail: "The order is already completed, canceled or returned.",
      members,
    };
  const detail =
    status === "PROCESSING"
      ? "An order in review cannot be canceled: it never had a cancel window. It remains active, and its events continue."
      : "The order's cancel window has closed. The order remains active, and its events continue.";
  return { code: "order-not-cancelable", detail, members };
}

/** What operations use in the transaction that has locked an order: `now` was read under the lock. */
export type LockedContext = Context & RecordContext & Unproved;

/**
 * Runs an operation on one order, in one transaction: locks the order, reads it under the lock, and sends signals after
 * the commit. The transaction commits whatever the operation returns, a problem too, so operations reject before they
 * write.
 *
 * @param operation receives undefined if the order is missing, another connection's, or an expired test order
 */
export async function inOrderTransaction<Answer>(
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  operation: (tx: Queryable, order: Order | undefined, at: LockedContext) => Promise<Answer>,
): Promise<Answer> {
  const { order, answer } = await inTransaction(context, async (tx) => {
    const order = await lockOrder(tx, connection, ref, context.clock);
    const at = { ...context, now: context.clock.now() };
    return { order, answer: await operation(tx, order, at) };
  });
  if (order !== undefined) {
    context.signals.send("deliveries_due", [order]);
    context.signals.sendOrders([order]);
  }
  return answer;
}

/** A caller of the back office: what it sees, and how timeline and audit log name it. */
export type Staff = { readonly grants: readonly Grant[]; readonly by: Initiator };

/**
 * Runs an operation of the back office on a real order. If the caller does not see the order, it is missing: this is
 * decided under the lock, because routing may have moved the order to another facility. So is a test order: only
 * partners change test orders.
 *
 * @param operation receives the caller in the role in which it sees the order
 */
export function inSeenOrder<Answer>(
  context: Context,
  { grants, by }: Staff,
  key: OrderKey,
  operation: (tx: Queryable, order: Order, at: LockedContext, by: Initiator) => Promise<Answer>,
): Promise<Answer | Problem> {
  const ref = { id: key.id, testMode: false, externalOrderId: null };
  return inOrderTransaction(context, key, ref, async (tx, order, at) => {
    const role = order === undefined ? null : roleOnOrder(grants, order);
    if (order === undefined || role === null) return notFound("order");
    const caller = { ...by, actor: { ...by.actor, kind: role } };
    return operation(tx, order, { ...at, notRecent: by.notRecent ?? null }, caller);
  });
}

/**
 * Who requests an operation that partners and the back office share: a partner, known by the id of its request, or a
 * caller of the back office. The timeline names both.
 */
export type Requester = Initiator | { readonly partnersRequestId: string | null };

export const byPartner = (requestId: string | null = null): Requester => ({ partnersRequestId: requestId });

/** Why an order changes: the operation, as the timeline names it, and its requester. */
export type OperationCause = Pick<TransitionCause, "operation" | "detail" | "restock" | "cancelReason"> & {
  readonly by: Requester;
};

/**
 * Stores what the lifecycle has decided about a locked order, with all that follows from it. A change by the back office is in
 * the audit log too. A rejected request can change the order, if the deadline has accepted it
 * (docs/design/lifecycle.md, "The deadline decides").
 */
export const storeOutcome = (
  tx: Queryable,
  order: Order,
  outcome: Outcome,
  cause: OperationCause,
  at: LockedContext,
): Promise<void> => storeOutcomes(tx, [{ order, outcome, cause }], at);

/** What the lifecycle has decided about a locked order. */
export type DecidedChange = {
  readonly order: Order;
  readonly outcome: Outcome;
  readonly cause: OperationCause;
};

/** The same for several orders, each once. */
export async function storeOutcomes(
  tx: Queryable,
  changes: readonly DecidedChange[],
  at: LockedContext,
): Promise<void> {
  const transitions = changes.flatMap(({ order, outcome, cause: { by, ...cause } }) => {
    const requester =
      "action" in by
        ? { actor: by.actor, requestId: by.requestId }
        : { actor: PARTNER, requestId: by.partnersRequestId };
    return appliedTransitions(order, outcome, { ...cause, ...requester });
  });
  await storeTransitions(tx, transitions, at);
  await recordAudits(
    tx,
    at,
    changes.flatMap(({ order, outcome, cause: { by } }) =>
      "action" in by && isChange(outcome) ? [{ by, fact: orderFact(order, outcome.order) }] : [],
    ),
  );
}

/** A change of an order for the audit log. The actor's own text stays in the timeline: it may name the buyer. */
function orderFact(before: Order, after: Order): AuditFact {
  const { merchantId, connectionId, id, testMode, status, holdReasons } = after;
  const isChanged = String(before.holdReasons) !== String(holdReasons);
  const details = { status, ...(isChanged && { holdReasons }) };
  return { merchantId, connectionId, subject: testMode ? "test" : "ord", ids: [id], details };
}
