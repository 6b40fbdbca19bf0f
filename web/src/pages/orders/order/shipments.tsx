import { Anchor, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import type { Order, Shipment, ShipmentProgress, ShipmentUpdate } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { ButtonLink, TextLink } from "../../../ui/link.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Section } from "../../../ui/page.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { NO_REASON, ReasonField } from "../actions/simple-actions.tsx";
import { isMeant, RepeatedNumber, useRepeatedNumber } from "../actions/units-actions.tsx";

type Props = { readonly order: Order };

/** The parcels of the order and where they are. */
export function OrderShipments({ order: { id: orderId, shipments, status, testMode } }: Props) {
  const { t } = useTranslation();
  const seesSlips = useHasRole("operator", "warehouse", "support") && !testMode;
  const isInProgress = status === "IN_PROGRESS";
  const mayChange = useHasRole("operator", "warehouse");
  return (
    <Section
      title={t("order.shipments")}
      actions={
        seesSlips && (
          <ButtonLink to={paths.slips(orderId)} size="xs" variant="default">
            {t("slips.ofOrder")}
          </ButtonLink>
        )
      }
    >
      {shipments.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("order.noShipments")}
        </Text>
      ) : (
        <DataTable
          label={t("order.shipments")}
          rows={shipments}
          rowKey={({ id }) => id}
          columns={[
            { name: t("orders.status"), cell: ({ status }) => <StatusBadge of="shipment" status={status} /> },
            {
              name: t("order.tracking"),
              cell: (shipment) => (
                <>
                  {shipment.carrier !== null && <div>{shipment.carrier}</div>}
                  <Tracking shipment={shipment} />
                </>
              ),
            },
            {
              name: t("order.linesCount"),
              align: "right",
              cell: ({ lineIds }) => formatNumber(lineIds.length),
            },
            { name: t("orders.created"), align: "right", cell: ({ createdAt }) => <Time at={createdAt} /> },
            ...(seesSlips
              ? [
                  {
                    name: t("order.shipmentActions"),
                    align: "right" as const,
                    cell: (shipment: Shipment) => (
                      <Group gap="xs" justify="flex-end">
                        <TextLink to={paths.slips(orderId, { shipmentId: shipment.id })}>
                          {t("slips.packing")}
                        </TextLink>
                        {mayChange && <ShipmentAction shipment={shipment} />}
                        {mayChange && isInProgress && <VoidShipmentAction shipment={shipment} />}
                      </Group>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
    </Section>
  );
}

/** The carrier's page opens in a tab of its own, which learns nothing of the console. */
function Tracking({ shipment: { carrier, trackingNumber, trackingUrl } }: { shipment: Shipment }) {
  const { t } = useTranslation();
  if (trackingUrl === null) return trackingNumber ?? (carrier === null ? "–" : null);
  return (
    <Anchor href={trackingUrl} target="_blank" rel="noopener noreferrer">
      {trackingNumber ?? t("order.track")}
    </Anchor>
  );
}

/** What came back. Left out while nothing has. */
export function OrderReturns({ order: { returns, lines } }: Props) {
  const { t } = useTranslation();
  if (returns.length === 0) return null;
  const nameOf = (lineId: string) => lines.find(({ id }) => id === lineId)?.name ?? lineId;
  return (
    <Section title={t("order.returns")}>
      <DataTable
        label={t("order.returns")}
        rows={returns}
        rowKey={({ id }) => id}
        columns={[
          {
            name: t("order.lines"),
            cell: ({ lines: returned }) =>
              returned.map(({ lineId, quantity }) => `${quantity} × ${nameOf(lineId)}`).join(", "),
          },
          {
            name: t("order.reason"),
            cell: ({ reason }) => (reason === null ? "–" : t(`returnReasons.${reason}`)),
          },
          {
            name: t("order.condition"),
            cell: ({ condition }) => (condition === null ? "–" : t(`returnConditions.${condition}`)),
          },
          {
            name: t("order.restocked"),
            cell: ({ restocked }) => restocked && <Pill>{t("order.restocked")}</Pill>,
          },
          { name: t("orders.created"), align: "right", cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Section>
  );
}

const STATUSES = ["pending", "shipped", "delivered"] as const satisfies readonly ShipmentProgress[];

type Values = {
  carrier: string;
  trackingNumber: string;
  trackingUrl: string;
  status: ShipmentProgress;
  meantNumber: string;
};

/** Adds tracking that the carrier issued later, or says where the shipment is. What came back stays as it is. */
function ShipmentAction({ shipment }: { shipment: Shipment }) {
  const { t } = useTranslation();
  const repeated = useRepeatedNumber();
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
        meantNumber: "",
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
          <RepeatedNumber asked={repeated.asked} form={form} />
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
      run={({ trackingNumber: number, meantNumber }, { changed }) => {
        const body = { ...updateOf(changed), ...isMeant(meantNumber, number) };
        return repeated.asking(number, () =>
          dataOf(api.PATCH("/api/shipments/{id}", { params: { path: { id } }, body })),
        );
      }}
    />
  );
}

/** For a parcel that never left, of an order that is in progress. */
function VoidShipmentAction({ shipment }: { shipment: Shipment }) {
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
const updateOf = ({ status, meantNumber: _, ...tracking }: Partial<Values>): ShipmentUpdate => ({
  ...Object.fromEntries(Object.entries(tracking).map(([field, text]) => [field, text || null])),
  ...(status !== undefined && { status }),
});
