import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import type { GoodsRefund } from "../../ledger/refunds.ts";
import type { Order, Transition } from "../../lifecycle/order.ts";
import { quantityOut, shipmentsOut } from "../../lifecycle/parts.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import { enumeration } from "../../platform/wire/schemas.ts";
import { SHIPMENTS_AT_ONCE_MAX } from "../changes/order-events.ts";
import {
  lineQuantitiesField,
  lineQuantityErrors,
  namedShipment,
  shipmentErrors,
  shipmentIdField,
} from "../changes/ship-request.ts";
import { isUnsellable, RETURN_CONDITIONS, RETURN_REASONS, type ReturnFacts } from "./returns-sql.ts";

export const ReturnReasonSchema = enumeration(
  "ReturnReason",
  RETURN_REASONS,
  "`undeliverable`: the carrier could not deliver. `refused`: the recipient did not take it. `unwanted`: the buyer does not want it any more. `damaged`: it arrived damaged. `defective`: it does not work. `wrong_item`: other goods arrived. `not_as_described`: it is not what the buyer expected. `other`: see the note.",
);
export const ReturnConditionSchema = enumeration(
  "ReturnCondition",
  RETURN_CONDITIONS,
  "`unopened`: as it was sent. `opened`: complete and without damage. `damaged` and `defective`: it cannot be sold again.",
);

/** The fields of a request that records a return. */
export const returnFields = {
  shipmentId: Type.Optional(
    shipmentIdField(
      "Id of the shipment that came back. It is required if several shipments are out and no lines are named.",
    ),
  ),
  lines: Type.Optional(
    lineQuantitiesField(
      "The units that came back, of one or at most 20 shipments. Default: all units of the shipment that are still out.",
    ),
  ),
  reason: Type.Optional(ReturnReasonSchema),
  condition: Type.Optional(ReturnConditionSchema),
  note: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      format: "text",
      description: "Explanation for the back office and the order's timeline.",
    }),
  ),
  reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      format: "text",
      description:
        "The caller's own name for the return, such as the number of a delivery note. An order has one return for each reference: repeating the request returns the order and changes nothing, so a retry is safe. Absent: the reference of the refund. Without either, a retry with `lines` can bring back more units. Recommended.",
    }),
  ),
  restock: Type.Optional(
    Type.Boolean({
      description:
        "True adds the returned goods to the stock of the facility that sent them. Goods that are `damaged` or `defective` cannot be restocked. Default: false.",
    }),
  ),
};
export type ReturnRequest = { [Field in keyof typeof returnFields]?: Static<(typeof returnFields)[Field]> };

/** The transition that a return means for this order, or why it is not valid. */
export function toReturn(order: Order, request: ReturnRequest): Transition | Problem {
  const errors = returnErrors(order, request);
  if (errors.length > 0) return validationFailed(errors);
  return {
    name: "returnShipment",
    shipmentId: namedShipment(request.shipmentId),
    ...(request.lines && {
      lines: request.lines.map(({ lineId, quantity }) => ({
        lineId: fromTypeId("line", lineId) ?? "", // It was found among the lines of the order.
        quantity,
      })),
    }),
  };
}

function returnErrors(
  order: Order,
  { shipmentId, lines, condition, restock }: ReturnRequest,
): ValidationError[] {
  const unsellable: ValidationError[] =
    restock === true && isUnsellable(condition ?? null)
      ? [{ pointer: "/restock", rule: "not_restockable" }]
      : [];
  const named = shipmentErrors(order, shipmentId);
  if (lines !== undefined)
    return [...unsellable, ...named, ...lineErrors(order, namedShipment(shipmentId), lines)];
  const out = shipmentsOut(order);
  if (shipmentId !== undefined || out.length < 2) return [...unsellable, ...named];
  // Our choice (docs/design/lifecycle.md, "Returns"): a default could put the wrong goods back into stock.
  const shipmentIds = out.map(({ id }) => toTypeId("shp", id));
  return [...unsellable, { pointer: "/shipmentId", rule: "which_shipment", shipmentIds }];
}

function lineErrors(
  order: Order,
  shipmentId: string | null,
  lines: readonly { readonly lineId: string; readonly quantity: number }[],
): ValidationError[] {
  const errors = lineQuantityErrors(order, lines, quantityOut, "shipped_quantity");
  if (errors.length > 0) return errors;
  if (shipmentsOf(order, lines).size > SHIPMENTS_AT_ONCE_MAX)
    return [{ pointer: "/lines", rule: "max_shipments", max: SHIPMENTS_AT_ONCE_MAX }];
  if (shipmentId === null) return [];
  const inShipment = new Set(
    order.lines.filter((line) => line.shipmentId === shipmentId).map(({ id }) => toTypeId("line", id)),
  );
  return lines.flatMap(({ lineId }, index) =>
    inShipment.has(lineId)
      ? []
      : [{ pointer: `/lines/${index}/lineId`, rule: "not_found", kind: "shipment_line" }],
  );
}

/** The shipments of lines that were found in the order. */
function shipmentsOf(
  order: Order,
  lines: readonly { readonly lineId: string }[],
): ReadonlySet<string | null> {
  const named = new Set(lines.map(({ lineId }) => fromTypeId("line", lineId)));
  return new Set(order.lines.filter(({ id }) => named.has(id)).map(({ shipmentId }) => shipmentId));
}

/** The caller's details of the return. */
export const returnFacts = ({ reason, condition, note }: ReturnRequest): ReturnFacts => ({
  reason: reason ?? null,
  condition: condition ?? null,
  note: note ?? null,
});

/** The return on the order's timeline. Null if the caller gives no details. */
export function returnDetail({ reason, condition, note }: ReturnFacts): string | null {
  const facts = [reason, condition].filter((fact) => fact !== null).join(", ");
  return [facts, note].filter((text) => text !== null && text !== "").join(": ") || null;
}

/** What two requests have in common if one is a retry of the other. */
export type ComparableReturn = Pick<ReturnFacts, "reason" | "condition"> & {
  readonly shipmentId?: string | undefined;
  readonly lines?: readonly { readonly lineId: string; readonly quantity: number }[] | undefined;
  readonly restock: boolean;
  readonly refund: GoodsRefund | null;
};

/**
 * SHA-256 of a return (docs/design/money.md, "Repeated requests"). The note is left out, as it is for refunds: it is erased
 * with the personal data. So are absent members: a new one does not change the hash of an earlier request.
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
