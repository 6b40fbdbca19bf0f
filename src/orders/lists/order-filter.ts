import { Type } from "typebox";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { parseOrderRef } from "../order-wire.ts";
import type { ReadOrder } from "../read-order.ts";

/** `orderId` in the query of a list. It names an order as paths do (decision 0009). */
export const orderIdFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Only items about this order: its id, or the partner's own `externalOrderId`.",
  }),
);

/** The id of the order that a filter names. Null without a filter, undefined if the connection has no such order. */
export async function findOrderId(
  readOrder: ReadOrder,
  connection: ConnectionKey,
  named: string | undefined,
): Promise<string | null | undefined> {
  if (named === undefined) return null;
  return (await readOrder({ ...connection, ref: parseOrderRef(named) }))?.id;
}
