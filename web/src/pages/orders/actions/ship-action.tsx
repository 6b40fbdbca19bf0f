import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { type ActionProps, useEffectText } from "./effect.ts";
import { ShipFields, type ShipValues } from "./ship-fields.tsx";

/** Ships lines of the order. All that are not shipped yet are chosen at first. */
export function ShipAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const unshipped = order.lines.filter(({ shipmentId }) => shipmentId === null);
  return (
    <ConfirmAction<ShipValues>
      label={t("orderActions.ship")}
      effect={effectOf(action)}
      done={t("orderActions.shipped")}
      isPrimary={isPrimary}
      initialValues={{
        lineIds: unshipped.map(({ id }) => id),
        carrier: "",
        trackingNumber: "",
        trackingUrl: "",
      }}
      validate={({ lineIds }) => (lineIds.length === 0 ? { lineIds: t("orderActions.chooseLine") } : {})}
      fields={(form) => (
        <ShipFields
          form={form}
          lines={unshipped.map(({ id, name, quantity }) => ({ id, label: `${quantity} × ${name}` }))}
        />
      )}
      run={(values) =>
        dataOf(
          api.POST("/api/orders/{id}/ship", { params: { path: { id: order.id } }, body: filled(values) }),
        )
      }
    />
  );
}
