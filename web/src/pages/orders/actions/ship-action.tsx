import { Checkbox, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { type ActionProps, useEffectText } from "./effect.ts";

/** Ships lines of the order. All that are not shipped yet are chosen at first. */
export function ShipAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const unshipped = order.lines.filter(({ shipmentId }) => shipmentId === null);
  return (
    <ConfirmAction
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
        <Stack gap="sm">
          <Checkbox.Group label={t("order.lines")} {...form.getInputProps("lineIds")}>
            <Stack gap={6} mt={4}>
              {unshipped.map(({ id, name, quantity }) => (
                <Checkbox key={id} value={id} label={`${quantity} × ${name}`} />
              ))}
            </Stack>
          </Checkbox.Group>
          <TextInput label={t("order.carrier")} data-autofocus {...form.getInputProps("carrier")} />
          <TextInput label={t("order.trackingNumber")} {...form.getInputProps("trackingNumber")} />
          <TextInput
            label={t("order.trackingUrl")}
            description={t("orderActions.trackingUrlHelp")}
            type="url"
            {...form.getInputProps("trackingUrl")}
          />
        </Stack>
      )}
      run={(values) =>
        dataOf(
          api.POST("/api/orders/{id}/ship", { params: { path: { id: order.id } }, body: filled(values) }),
        )
      }
    />
  );
}
