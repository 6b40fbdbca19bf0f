import { Select, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Shipment, ShipmentProgress, ShipmentUpdate } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";

const STATUSES = ["pending", "shipped", "delivered"] as const satisfies readonly ShipmentProgress[];
const TRACKING = ["carrier", "trackingNumber", "trackingUrl"] as const;

type Values = Record<(typeof TRACKING)[number], string> & { status: ShipmentProgress };

/** Adds tracking that the carrier issued later, or says where the shipment is. What came back stays as it is. */
export function ShipmentAction({ shipment }: { shipment: Shipment }) {
  const { t } = useTranslation();
  const { id, status, carrier, trackingNumber, trackingUrl } = shipment;
  if (status === "returned") return null;
  const present: Values = {
    carrier: carrier ?? "",
    trackingNumber: trackingNumber ?? "",
    trackingUrl: trackingUrl ?? "",
    status,
  };
  return (
    <ConfirmAction<Values>
      label={t("orderActions.updateShipment")}
      effect={t("orderActions.updateShipmentEffect")}
      done={t("orderActions.shipmentUpdated")}
      initialValues={present}
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
      run={(values) =>
        dataOf(
          api.PATCH("/api/shipments/{id}", { params: { path: { id } }, body: changesOf(present, values) }),
        )
      }
    />
  );
}

/** Only what was changed: the service derives the address and the status from a new number. A field that was emptied is removed. */
const changesOf = (before: Values, after: Values): ShipmentUpdate => ({
  ...Object.fromEntries(
    TRACKING.filter((field) => after[field].trim() !== before[field]).map((field) => [
      field,
      after[field].trim() || null,
    ]),
  ),
  ...(after.status !== before.status && { status: after.status }),
});
