import { Type } from "typebox";
import { type Role, roleOnOrder } from "../../audit/grant.ts";
import { hasScope } from "../../audit/scope.ts";
import { explainHolds } from "../../fulfilment/routing/explain-holds.ts";
import type { RouteResponse } from "../../http/route.ts";
import { readOpenFailure } from "../../ledger/payment-failures-sql.ts";
import { asOf, isExpired } from "../../lifecycle/lifecycle.ts";
import { type Order, PAYMENT_FAILED } from "../../lifecycle/order.ts";
import { readOrderDetails } from "../../orders/order-details-sql.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import { findOrderOwner, type PlacedOrder } from "../../orders/owners-sql.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { type BackOfficeCaller, stockFacilitiesOf } from "../access.ts";
import { actionsFor } from "./actions.ts";
import { type HoldDetails, orderForPartner, toBackOfficeOrder } from "./order-wire.ts";

export const OrderIdParams = Type.Object({ id: Type.String({ description: "Id of the order." }) });

export type FoundOrder = { readonly order: Order; readonly owner: SeenOrder };

/** The owner of an order, and the role in which the caller sees the order. */
export type SeenOrder = PlacedOrder & { readonly role: Role };

/** The key and the owner of the order that a path names. Null if it is missing, or the caller may not see it. */
export async function findOwner(
  { db, clock }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<SeenOrder | null> {
  const id = fromTypeId("ord", text) ?? fromTypeId("test", text);
  const found = id === null ? null : seenBy(caller, await findOrderOwner(db, id, clock.now()));
  return found !== null && (fromTypeId("test", text) !== null) === found.testMode ? found : null;
}

/** An order as its caller sees it. Null if the caller may not see it. */
export function seenBy({ grants }: BackOfficeCaller, found: PlacedOrder | null): SeenOrder | null {
  const role = found === null ? null : roleOnOrder(grants, found);
  return found === null || role === null ? null : { ...found, role };
}

/** The order that a path names, as it is now. Null if it is missing, or the caller may not see it. */
export async function findOrder(
  context: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<FoundOrder | null> {
  const found = await findOwner(context, caller, text);
  if (found === null) return null;
  const now = context.clock.now();
  const [order] = await readOrders(context.db, found, [found.id]);
  return order === undefined || isExpired(order, now) ? null : { order: asOf(order, now), owner: found };
}

/** The response of an operation: the order that it has stored, or the problem. */
export const orderResponse = async (
  context: Context,
  caller: BackOfficeCaller,
  owner: SeenOrder,
  order: Order | Problem,
): Promise<RouteResponse | Problem> =>
  isProblem(order) ? order : { status: 200, body: await describeOrder(context, caller, { order, owner }) };

/** The order with all its details in the back office, and what this caller may do with it. */
export async function describeOrder(
  { db, clock }: Context,
  caller: BackOfficeCaller,
  { order, owner }: FoundOrder,
) {
  const details = await readOrderDetails(db, order);
  const seen = owner.role === "partner" ? { ...details, changedAt: order.updatedAt } : details;
  const now = clock.now();
  const actions = actionsFor(caller, asOf(order, now), details, now);
  const explained = await explainToCaller(db, caller, order, owner.role);
  const shown = { ...toBackOfficeOrder(order, owner, seen, explained), actions };
  return owner.role === "partner" ? orderForPartner(shown) : shown;
}

/** What holds an order, within what the caller may see of stock and payments. */
async function explainToCaller(
  db: Queryable,
  caller: BackOfficeCaller,
  order: Order,
  role: Role,
): Promise<HoldDetails> {
  const { products, destination } = await explainHolds(
    db,
    order,
    stockFacilitiesOf(caller, order.merchantId),
  );
  const seesStock = role !== "partner" && hasScope(caller.scopes, "stock:read");
  const hasFailed = role !== "partner" && order.holdReasons.includes(PAYMENT_FAILED);
  return {
    products: seesStock ? products : null,
    destination,
    payment: hasFailed ? await readOpenFailure(db, order) : null,
  };
}
