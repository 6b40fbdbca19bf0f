import { Select, TagsInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { PartnerOrder } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { ShipFields, type ShipValues } from "../../orders/actions/ship-fields.tsx";
import type { ApplyTransition, TransitionName } from "./transition-text.ts";

type Props = { readonly order: PartnerOrder; readonly apply: ApplyTransition };

/** The dialog for the transitions that have fields. The buttons on the picture leave these out. */
export function TransitionOptions({ name, ...rest }: Props & { name: TransitionName }) {
  if (name === "hold") return <HoldOptions {...rest} />;
  if (name === "ship") return <ShipOptions {...rest} />;
  return name === "returnShipment" ? <ReturnOptions {...rest} /> : null;
}

/** The service accepts as many. */
const REASONS_MAX = 20;

function HoldOptions({ order, apply }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("sandbox.holdWith")}
      effect={t("sandbox.effects.hold")}
      done={t("orderActions.held")}
      initialValues={{ reasons: order.onHold ? [...order.onHoldReasons] : ["out_of_stock"] }}
      fields={(form) => (
        <TagsInput
          label={t("orderActions.reason")}
          description={t("sandbox.reasonsHelp")}
          data={["out_of_stock", "payment_failed", "address_unserviceable", "merchant_request"]}
          maxTags={REASONS_MAX}
          openOnFocus={false}
          data-autofocus
          {...form.getInputProps("reasons")}
        />
      )}
      run={({ reasons }) => apply({ transition: "hold", ...(reasons.length > 0 && { reasons }) })}
    />
  );
}

function ShipOptions({ order, apply }: Props) {
  const { t } = useTranslation();
  const unshipped = order.lines.filter(({ shipmentId }) => shipmentId === null);
  return (
    <ConfirmAction<ShipValues>
      label={t("sandbox.shipWith")}
      effect={t("sandbox.effects.ship")}
      done={t("orderActions.shipped")}
      initialValues={{
        lineIds: unshipped.map(({ id }) => id),
        carrier: "DHL",
        trackingNumber: "JD014600003RS",
        trackingUrl: "",
      }}
      validate={({ lineIds }) => (lineIds.length === 0 ? { lineIds: t("orderActions.chooseLine") } : {})}
      fields={(form) => (
        <ShipFields
          form={form}
          lines={unshipped.map(({ id, productId, quantity }) => ({
            id,
            label: `${quantity} × ${productId}`,
          }))}
        />
      )}
      run={(values) => apply({ transition: "ship", ...filled(values) })}
    />
  );
}

function ReturnOptions({ order, apply }: Props) {
  const { t } = useTranslation();
  const out = order.shipments.filter(({ status }) => status !== "returned");
  return (
    <ConfirmAction
      label={t("sandbox.returnWith")}
      effect={t("sandbox.effects.returnShipment")}
      done={t("orderActions.returned")}
      initialValues={{ shipmentId: out.at(-1)?.id ?? "" }}
      fields={(form) => (
        <Select
          label={t("order.shipment")}
          allowDeselect={false}
          openOnFocus={false}
          data={out.map(({ id, trackingNumber }) => ({
            value: id,
            label: trackingNumber === null ? id : `${trackingNumber} · ${id}`,
          }))}
          data-autofocus
          {...form.getInputProps("shipmentId")}
        />
      )}
      run={(values) => apply({ transition: "returnShipment", ...filled(values) })}
    />
  );
}
