import { type Static, Type } from "typebox";
import type { AccountEntry } from "../../../payments/account/account-entries-sql.ts";
import { BOOKING_KINDS } from "../../../payments/account/bookings.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { formatMoney } from "../../../platform/money.ts";
import { MoneySchema } from "../../../platform/wire/money-schema.ts";
import { dateTime, describedAs, enumeration, idField, nullable } from "../../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { ChargeSchema } from "./charge-wire.ts";

export const AccountEntryKindSchema = enumeration(
  "AccountEntryKind",
  BOOKING_KINDS,
  "`charge`: for an order. `refund`: the return of a charge. `payment`: by the merchant, recorded by the operator.",
);

export const AccountEntrySchema = Type.Object(
  {
    id: idField("chg", "Id of the charge or the refund; of a payment, an id with the prefix `pay_`."),
    kind: AccountEntryKindSchema,
    amount: describedAs(MoneySchema, "Change of the balance. Negative for a charge."),
    orderId: nullable(Type.String(), "Id of the order that was charged or refunded. Null for payments."),
    externalOrderId: nullable(
      Type.String(),
      "The partner's own id of that order. Null if it has none, and for payments.",
    ),
    chargeId: nullable(
      Type.String(),
      "Id of the charge or the refund of the order, for `GET /api/charges/{id}`. Null for payments.",
    ),
    chargeKind: nullable(ChargeSchema.properties.kind, "What was charged or refunded. Null for payments."),
    refundOf: nullable(
      Type.String(),
      "Id of the charge that a refund returns, or a part of it. Null for other kinds.",
    ),
    reference: nullable(
      Type.String(),
      "The operator's reference of a payment, such as the bank reference. Null for charges and refunds.",
    ),
    note: nullable(Type.String(), "The operator's note about a payment. Null if there is none."),
    recordedBy: nullable(
      ActorSchema,
      "Who recorded a payment. Null for charges and refunds, and for payments that were recorded before this was stored.",
    ),
    createdAt: dateTime("When the entry was booked."),
  },
  { title: "AccountEntry", description: "A change of a merchant's balance. Entries are never changed." },
);

export const toWireEntry =
  (currency: string) =>
  ({ charge, ...entry }: AccountEntry): Static<typeof AccountEntrySchema> => ({
    id: toTypeId(entry.kind === "payment" ? "pay" : "chg", entry.id),
    kind: entry.kind,
    amount: formatMoney({ minor: entry.amountMinor, currency }),
    orderId: charge === null ? null : toTypeId("ord", charge.orderId),
    externalOrderId: charge?.externalOrderId ?? null,
    chargeId: charge === null ? null : toTypeId("chg", entry.id),
    chargeKind: charge?.kind ?? null,
    refundOf: charge?.refundOf ? toTypeId("chg", charge.refundOf) : null,
    reference: entry.reference,
    note: entry.note,
    recordedBy: entry.recordedBy && toWireActor(entry.recordedBy),
    createdAt: entry.createdAt.toISOString(),
  });
