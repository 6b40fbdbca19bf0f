import { Checkbox, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { newReference } from "../../../api/reference.ts";
import type { ReturnCondition, ReturnReason, ReturnRequest } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { RETURN_CONDITIONS, RETURN_REASONS } from "../../packing/return-reason.ts";
import { type ActionProps, useEffectText } from "./effect.ts";

type Values = {
  shipmentId: string | null;
  reason: ReturnReason | null;
  condition: ReturnCondition | null;
  restock: boolean;
  reference: string;
  /** If the person names none: a retry after a lost response is the same return. */
  ownReference: string;
  note: string;
};

/** Records that a shipment came back. */
export function ReturnAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  // Numbered before those are left out that came back, so that each keeps its number.
  const out = order.shipments
    .map((shipment, index) => ({ ...shipment, number: index + 1 }))
    .filter(({ status }) => status !== "returned" && status !== "voided");
  const nameOf = ({ number, trackingNumber }: (typeof out)[number]) =>
    [t("orderActions.shipmentNumber", { number }), trackingNumber].filter(Boolean).join(" · ");
  return (
    <ConfirmAction<Values>
      label={t("orderActions.return")}
      effect={effectOf(action)}
      done={t("orderActions.returned")}
      initialValues={{
        shipmentId: out.at(-1)?.id ?? null,
        reason: null,
        condition: null,
        restock: false,
        reference: "",
        ownReference: newReference("console"),
        note: "",
      }}
      fields={(form) => (
        <Stack gap="sm">
          <Select
            label={t("order.shipment")}
            data={out.map((shipment) => ({ value: shipment.id, label: nameOf(shipment) }))}
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps("shipmentId")}
          />
          <Select
            label={t("order.reason")}
            data={RETURN_REASONS.map((value) => ({ value, label: t(`returnReasons.${value}`) }))}
            clearable
            {...form.getInputProps("reason")}
          />
          <Select
            label={t("order.condition")}
            data={RETURN_CONDITIONS.map((value) => ({ value, label: t(`returnConditions.${value}`) }))}
            clearable
            {...form.getInputProps("condition")}
          />
          <Checkbox
            label={t("orderActions.restock")}
            {...form.getInputProps("restock", { type: "checkbox" })}
          />
          <TextInput
            label={t("orderActions.reference")}
            description={t("orderActions.returnReferenceHelp")}
            maxLength={255}
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
      run={({ ownReference, ...values }) => {
        const given = { ...values, reference: values.reference.trim() || ownReference };
        const body = filled(given) as ReturnRequest; // Null and empty values are left out.
        return dataOf(api.POST("/api/orders/{id}/return", { params: { path: { id: order.id } }, body }));
      }}
    />
  );
}
