import { Checkbox, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";

export type ShipValues = { lineIds: string[]; carrier: string; trackingNumber: string; trackingUrl: string };

type Props = {
  readonly form: UseFormReturnType<ShipValues>;
  /** The lines that have not shipped. */
  readonly lines: readonly { readonly id: string; readonly label: string }[];
};

/** Which lines a shipment has, and its tracking. */
export function ShipFields({ form, lines }: Props) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <Checkbox.Group label={t("order.lines")} {...form.getInputProps("lineIds")}>
        <Stack gap={6} mt={4}>
          {lines.map(({ id, label }) => (
            <Checkbox key={id} value={id} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TrackingFields form={form} />
    </Stack>
  );
}

type TrackingValues = {
  readonly carrier: string;
  readonly trackingNumber: string;
  readonly trackingUrl: string;
};

export function TrackingFields<Values extends TrackingValues>({
  form,
}: {
  readonly form: UseFormReturnType<Values>;
}) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput label={t("order.carrier")} data-autofocus {...form.getInputProps("carrier")} />
      <TextInput label={t("order.trackingNumber")} {...form.getInputProps("trackingNumber")} />
      <TextInput
        label={t("order.trackingUrl")}
        description={t("orderActions.trackingUrlHelp")}
        type="url"
        {...form.getInputProps("trackingUrl")}
      />
    </>
  );
}
