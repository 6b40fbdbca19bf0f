import { type Static, Type } from "typebox";
import { ENTRY_STATUSES, type LedgerEntry } from "../../../ledger/ledger.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { formatMoney } from "../../../platform/money.ts";
import { MoneySchema } from "../../../platform/wire/money-schema.ts";
import { dateTime, nullable } from "../../../platform/wire/schemas.ts";

/** An entry of an order's ledger, as the back office shows it. */
export const ChargeSchema = Type.Object(
  {
    id: Type.String({ examples: ["chg_01m7y7np16fe68bxp4h91tdmdn"] }),
    kind: Type.Enum(["goods", "shipping", "refund"]),
    amount: MoneySchema,
    status: Type.Enum([...ENTRY_STATUSES]),
    attempt: Type.Integer({
      description: "Counts from 1. A retry of a declined charge is a new charge with the next number.",
    }),
    refundOf: nullable(Type.String(), "The charge that a refund returns; null for charges."),
    gateway: nullable(Type.Enum(["account", "stripe"]), "The gateway; null while pending."),
    failureReason: nullable(Type.String(), "The gateway's code for the decline."),
    createdAt: dateTime(),
  },
  { title: "Charge", description: "A charge or a refund of the merchant for the order." },
);

export const toWireCharge = (entry: LedgerEntry): Static<typeof ChargeSchema> => ({
  id: toTypeId("chg", entry.id),
  kind: entry.kind,
  amount: formatMoney({ minor: entry.amountMinor, currency: entry.currency }),
  status: entry.status,
  attempt: entry.attempt,
  refundOf: entry.refundOf === null ? null : toTypeId("chg", entry.refundOf),
  gateway: entry.gateway,
  failureReason: entry.failureReason,
  createdAt: entry.createdAt.toISOString(),
});
