import { type Static, Type } from "typebox";
import type { RefundRequest } from "../../../ledger/refunds/refund.ts";
import type { OrderReturn } from "../../../orders/returns/order-return.ts";
import { ReturnConditionSchema, ReturnReasonSchema } from "../../../orders/returns/return-request.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { MoneyRequestSchema } from "../../../platform/wire/money-schema.ts";
import { dateTime, describedAs, idField, nullable } from "../../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { minorOf } from "../money/amounts.ts";
import { RefundRequestSchema } from "../money/refund-wire.ts";

/** The refund of a return. Its reason is `returned` unless it names another one. */
export const ReturnRefundSchema = Type.Object(
  {
    amount: Type.Optional(
      describedAs(
        MoneyRequestSchema,
        "The amount to refund, in the currency of the order. Absent: the price of the returned goods, without shipping, as far as it has not been refunded yet. If nothing of it is left, the return is recorded without a refund.",
      ),
    ),
    reason: Type.Optional(RefundRequestSchema.properties.reason),
    reference: RefundRequestSchema.properties.reference,
  },
  { title: "ReturnRefund", description: "A refund of returned goods to the merchant." },
);

/** A request whose amount `refundErrors` has checked. The note of the return is the note of its refund. */
export const toReturnRefund = (
  { amount, reason = "returned", reference }: Static<typeof ReturnRefundSchema>,
  note: string | null,
): RefundRequest => ({
  amountMinor: amount === undefined ? null : minorOf(amount),
  reason,
  reference,
  note,
});

export const ReturnSchema = Type.Object(
  {
    id: idField("ret", "Id of the return, set by the service."),
    lines: Type.Array(
      Type.Object(
        {
          lineId: idField("line", "Id of the line."),
          quantity: Type.Integer({ description: "Number of units that came back." }),
        },
        { title: "ReturnedLine", description: "The units of a line that came back." },
      ),
      { description: "The units that came back. They are never changed." },
    ),
    reason: nullable(ReturnReasonSchema, "Why they came back. Null if the warehouse did not say."),
    condition: nullable(
      ReturnConditionSchema,
      "In which condition they came back. Null if the warehouse did not say.",
    ),
    note: nullable(
      Type.String(),
      "Explanation by the caller. Null if there is none. It is erased with the personal data of the order.",
    ),
    reference: nullable(
      Type.String(),
      "The caller's own name for the return, which no other return of the order has: if it was not given, that of its refund. Null if the caller gave neither.",
    ),
    restocked: Type.Boolean({ description: "Whether the goods were added to the stock." }),
    refundId: nullable(
      Type.String(),
      "Id of the refund that the same request made. Null if it refunded nothing.",
    ),
    actor: describedAs(ActorSchema, "Who recorded the return."),
    createdAt: dateTime("When the return was recorded."),
  },
  { title: "Return", description: "Goods of an order that came back." },
);

export const toWireReturn = (returned: OrderReturn): Static<typeof ReturnSchema> => ({
  id: toTypeId("ret", returned.id),
  lines: returned.lines.map(({ lineId, quantity }) => ({ lineId: toTypeId("line", lineId), quantity })),
  reason: returned.reason,
  condition: returned.condition,
  note: returned.note,
  reference: returned.reference,
  restocked: returned.restocked,
  refundId: returned.refundId === null ? null : toTypeId("rfd", returned.refundId),
  actor: toWireActor(returned.actor),
  createdAt: returned.createdAt.toISOString(),
});
