import { type Static, Type } from "typebox";
import { REFUND_REASONS, type Refund } from "../../ledger/refunds.ts";
import { lineQuantitiesField } from "../../orders/changes/ship-request.ts";
import type { SentRefund } from "../../orders/returns/refund-order.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  idField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
} from "../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { minorOf, positiveAmountErrors, valueAt } from "./amounts.ts";

const RefundReasonSchema = enumeration(
  "RefundReason",
  REFUND_REASONS,
  "`canceled`: the goods cannot be delivered. `returned`: the goods came back. `damaged`: they arrived damaged. `lost`: they did not arrive. `late`: they arrived late. `wrong_item`: other goods arrived. `goodwill`: no fault. `other`: see the note.",
);

/** A refund of an order, as a body names it. */
export const RefundRequestSchema = Type.Object(
  {
    amount: Type.Optional(
      describedAs(
        MoneyRequestSchema,
        "The amount to refund, in the currency of the order. Alone, it returns the oldest charge first. With `lines`, at most their price and `shipping`: less, if only a part of the price is refunded. Absent: exactly that price.",
      ),
    ),
    lines: Type.Optional(
      lineQuantitiesField(
        "Lines with the number of units whose price is refunded. `refundableQuantity` of each line says how many are left.",
      ),
    ),
    shipping: Type.Optional(
      describedAs(
        MoneyRequestSchema,
        "What of the refund is for the shipping, in the currency of the order.",
      ),
    ),
    reason: describedAs(RefundReasonSchema, "Why the order is refunded."),
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        format: "text",
        description: "Explanation for the order's timeline.",
      }),
    ),
    reference: Type.String({
      minLength: 1,
      maxLength: 255,
      format: "text",
      description:
        "Your name for the refund, such as the number of a ticket. An order is refunded once for each reference, so a retry is safe.",
      examples: ["ticket-4711"],
    }),
  },
  { title: "RefundRequest", description: "A refund of an order to its merchant." },
);

/** The errors of a refund's amount that its schema cannot find. `pointer` is the position of the refund in the body. */
export const refundErrors = (body: unknown, pointer: string, currency: string): ValidationError[] =>
  positiveAmountErrors(body, `${pointer}/amount`, currency);

/** The same for a refund that is no part of a return: it names what it returns, so that an empty request refunds nothing. */
export const orderRefundErrors = (body: unknown, currency: string): ValidationError[] => {
  const isNamed = ["/amount", "/lines", "/shipping"].some((pointer) => valueAt(body, pointer) !== undefined);
  return isNamed
    ? [...refundErrors(body, "", currency), ...positiveAmountErrors(body, "/shipping", currency)]
    : [{ pointer: "/amount", rule: "refund_named" }];
};

/** A request that `orderRefundErrors` has checked. */
export const toSentRefund = ({
  amount,
  shipping,
  lines,
  reason,
  note,
  reference,
}: Static<typeof RefundRequestSchema>): SentRefund => ({
  amountMinor: amount === undefined ? null : minorOf(amount),
  shippingMinor: shipping === undefined ? null : minorOf(shipping),
  lines: lines ?? null,
  reason,
  note: note ?? null,
  reference,
});

export const RefundSchema = Type.Object(
  {
    id: idField("rfd", "Id of the refund: `refundId` of the charges that return its amount."),
    amount: describedAs(MoneySchema, "The refunded amount, always positive. It is never changed."),
    lines: Type.Array(
      Type.Object(
        {
          lineId: idField("line", "Id of the line."),
          quantity: Type.Integer({ description: "Number of units." }),
        },
        { title: "RefundedLine", description: "Units of a line whose price was refunded." },
      ),
      { description: "The goods whose price, or a part of it, was refunded. Empty if none were named." },
    ),
    reason: describedAs(RefundReasonSchema, "Why the order was refunded."),
    note: nullable(
      Type.String(),
      "Explanation by the caller. Null if there is none. It is erased with the personal data of the order.",
    ),
    reference: Type.String({ description: "The caller's name for the refund." }),
    actor: describedAs(ActorSchema, "Who requested the refund."),
    createdAt: dateTime("When the refund was requested."),
  },
  { title: "Refund", description: "A refund of an order by request." },
);

export const toWireRefund =
  (currency: string) =>
  (refund: Refund): Static<typeof RefundSchema> => ({
    id: toTypeId("rfd", refund.id),
    amount: formatMoney({ minor: refund.amountMinor, currency }),
    lines: refund.lines.map(({ lineId, quantity }) => ({ lineId: toTypeId("line", lineId), quantity })),
    reason: refund.reason,
    note: refund.note,
    reference: refund.reference,
    actor: toWireActor(refund.actor),
    createdAt: refund.createdAt.toISOString(),
  });
