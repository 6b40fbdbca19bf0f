import { Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { RefundReason } from "../../../api/schema.d.ts";
import { typedAmount } from "../../../text/amount.ts";
import { formatLocale } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { type ActionProps, useEffectText } from "./effect.ts";

const REASONS = [
  "returned",
  "damaged",
  "lost",
  "late",
  "wrong_item",
  "goodwill",
  "other",
] as const satisfies readonly RefundReason[];

type Values = { amount: string; reason: RefundReason; reference: string; note: string };

/** Refunds the merchant. The reference makes a second click, or a retry, the same refund. */
export function RefundAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const currency = order.goods?.currency ?? ""; // Prices are shown to all who may refund.
  return (
    <ConfirmAction<Values>
      label={t("orderActions.refund")}
      effect={effectOf(action)}
      done={t("orderActions.refunded")}
      isDanger
      initialValues={{ amount: "", reason: "goodwill", reference: "", note: "" }}
      validate={({ reference }) => (reference.trim() === "" ? { reference: t("ui.required") } : {})}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("orderActions.amount", { currency })}
            description={t("orderActions.amountHelp")}
            inputMode="decimal"
            data-autofocus
            {...form.getInputProps("amount")}
            error={form.errors["amount"] ?? form.errors["amount.amount"]}
          />
          <Select
            label={t("order.reason")}
            data={REASONS.map((value) => ({ value, label: t(`refundReasons.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("reason")}
          />
          <TextInput
            label={t("orderActions.reference")}
            description={t("orderActions.referenceHelp")}
            maxLength={255}
            required
            {...form.getInputProps("reference")}
          />
          <Textarea
            label={t("orderActions.note")}
            maxLength={1_000}
            autosize
            {...form.getInputProps("note")}
          />
        </Stack>
      )}
      run={({ amount, reason, reference, note }) =>
        dataOf(
          api.POST("/api/orders/{id}/refund", {
            params: { path: { id: order.id } },
            body: {
              reason,
              reference: reference.trim(),
              ...filled({ note }),
              ...(amount.trim() !== "" && {
                amount: { amount: typedAmount(amount, formatLocale()), currency },
              }),
            },
          }),
        )
      }
    />
  );
}
