import { Select, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Shipment, ShipmentProgress, ShipmentUpdate } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { NO_REASON, ReasonField } from "./simple-actions.tsx";

const STATUSES = ["pending", "shipped", "delivered"] as const satisfies readonly ShipmentProgress[];

type Values = { carrier: string; trackingNumber: string; trackingUrl: string; status: ShipmentProgress };

/** Adds tracking that the carrier issued later, or says where the shipment is. What came back stays as it is. */
export function ShipmentAction({ shipment }: { shipment: Shipment }) {
  const { t } = useTranslation();
  const { id, status, carrier, trackingNumber, trackingUrl } = shipment;
  if (status === "returned" || status === "voided") return null;
  return (
    <ConfirmAction<Values>
      label={t("orderActions.updateShipment")}
      effect={t("orderActions.updateShipmentEffect")}
      done={t("orderActions.shipmentUpdated")}
      initialValues={{
        carrier: carrier ?? "",
        trackingNumber: trackingNumber ?? "",
        trackingUrl: trackingUrl ?? "",
        status,
      }}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("order.carrier")}
            maxLength={255}
            data-autofocus
            {...form.getInputProps("carrier")}
          />
          <TextInput
            label={t("order.trackingNumber")}
            maxLength={255}
            {...form.getInputProps("trackingNumber")}
          />
          <TextInput
            label={t("order.trackingUrl")}
            description={t("orderActions.newTrackingUrlHelp")}
            type="url"
            {...form.getInputProps("trackingUrl")}
          />
          <Select
            label={t("orders.status")}
            description={t("orderActions.shipmentStatusHelp")}
            data={STATUSES.map((value) => ({ value, label: t(`status.shipment.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("status")}
          />
        </Stack>
      )}
      run={(_, { changed }) =>
        dataOf(api.PATCH("/api/shipments/{id}", { params: { path: { id } }, body: updateOf(changed) }))
      }
    />
  );
}

/** For a parcel that never left, of an order that is in progress. */
export function VoidShipmentAction({ shipment }: { shipment: Shipment }) {
  const { t } = useTranslation();
  const { id, status, handoverReported } = shipment;
  if (status === "returned" || status === "voided" || handoverReported) return null;
  return (
    <ConfirmAction
      label={t("orderActions.voidShipment")}
      effect={t("orderActions.voidShipmentEffect")}
      done={t("orderActions.shipmentVoided")}
      isDanger
      initialValues={NO_REASON}
      fields={(form) => <ReasonField form={form} />}
      run={(values) =>
        dataOf(api.POST("/api/shipments/{id}/void", { params: { path: { id } }, body: filled(values) }))
      }
    />
  );
}

/** Only what was changed: the service derives the address and the status from a new number. A field that was emptied is removed. */
const updateOf = ({ status, ...tracking }: Partial<Values>): ShipmentUpdate => ({
  ...Object.fromEntries(Object.entries(tracking).map(([field, text]) => [field, text || null])),
  ...(status !== undefined && { status }),
});
