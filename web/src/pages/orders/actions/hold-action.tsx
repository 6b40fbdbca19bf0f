import { Select, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { KnownHoldReason } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { useHoldReason } from "../hold-reason.ts";
import { type ActionProps, useEffectText } from "./effect.ts";

/** The known reasons for which people hold an order. The service itself finds that a payment failed. */
const REASONS = [
  "merchant_request",
  "address_unserviceable",
  "out_of_stock",
] as const satisfies readonly KnownHoldReason[];
const OTHER = "other";

type Values = { reason: string; other: string };

/** Stops an order. The reasons are open, and the partner's program sees them: others are typed. */
export function HoldAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const holdReason = useHoldReason();
  return (
    <ConfirmAction<Values>
      label={t("orderActions.hold")}
      effect={effectOf(action)}
      done={t("orderActions.held")}
      initialValues={{ reason: "merchant_request", other: "" }}
      validate={({ reason, other }) =>
        reason === OTHER && other.trim() === "" ? { other: t("ui.required") } : {}
      }
      fields={(form) => (
        <Stack gap="sm">
          <Select
            label={t("order.reason")}
            description={t("orderActions.holdReasonHelp")}
            data={[
              ...REASONS.map((value) => ({ value, label: holdReason(value) })),
              { value: OTHER, label: t("orderActions.otherReason") },
            ]}
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps("reason")}
          />
          {form.values.reason === OTHER && (
            <TextInput
              label={t("orderActions.otherReason")}
              description={t("orderActions.otherReasonHelp")}
              maxLength={100}
              required
              {...form.getInputProps("other")}
            />
          )}
        </Stack>
      )}
      run={({ reason, other }) =>
        dataOf(
          api.POST("/api/orders/{id}/hold", {
            params: { path: { id: order.id } },
            body: { reasons: [reason === OTHER ? other.trim() : reason] },
          }),
        )
      }
    />
  );
}
