import { type Static, Type } from "typebox";
import { ENTRY_STATUSES, type LedgerEntry } from "../../ledger/ledger.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  idField,
  MoneySchema,
  nullable,
} from "../../platform/wire/schemas.ts";

/** How something is paid. */
export const PaidBySchema = enumeration(
  "PaymentGateway",
  ["account", "stripe"],
  "`account`: the merchant's account with the service. `stripe`: Stripe.",
);

/** An entry of an order's ledger, as the back office shows it. */
export const ChargeSchema = Type.Object(
  {
    id: idField("chg", "Id of the charge."),
    kind: enumeration(
      "ChargeKind",
      ["goods", "shipping", "refund"],
      "`goods`: the products. `shipping`: sending them. `refund`: the return of a charge, or of a part of it.",
    ),
    amount: describedAs(MoneySchema, "The amount, always positive."),
    status: enumeration(
      "ChargeStatus",
      ENTRY_STATUSES,
      "`pending`: not processed yet. `succeeded`: the money has moved. `failed`: the gateway declined. `canceled`: not processed, because the order was canceled before, or because the operator waived the charge by releasing `payment_failed`.",
    ),
    attempt: Type.Integer({
      description:
        "Counts the attempts to charge the same thing, from 1. Each attempt is a charge of its own.",
    }),
    refundOf: nullable(
      Type.String(),
      "Id of the charge that a refund returns, or a part of it. Null for other kinds.",
    ),
    refundId: nullable(
      Type.String(),
      "Id of the refund by request that the charge belongs to. Null for other kinds, and if the order was canceled.",
    ),
    gateway: nullable(
      PaidBySchema,
      "The gateway that processed the charge. Null while it is pending, and if it was canceled.",
    ),
    failureReason: nullable(Type.String(), "The gateway's code for a decline. Null if it has not declined."),
    requestId: nullable(
      Type.String(),
      "The `x-request-id` of the request that caused the charge. Null if the service itself did.",
    ),
    createdAt: dateTime("When the charge was created."),
  },
  { title: "Charge", description: "A charge of a merchant for an order, or a refund of one." },
);

export const toWireCharge = (entry: LedgerEntry): Static<typeof ChargeSchema> => ({
  id: toTypeId("chg", entry.id),
  kind: entry.kind,
  amount: formatMoney({ minor: entry.amountMinor, currency: entry.currency }),
  status: entry.status,
  attempt: entry.attempt,
  refundOf: entry.refundOf === null ? null : toTypeId("chg", entry.refundOf),
  refundId: entry.refundId === null ? null : toTypeId("rfd", entry.refundId),
  gateway: entry.gateway,
  failureReason: entry.failureReason,
  requestId: entry.requestId,
  createdAt: entry.createdAt.toISOString(),
});
