import { SimpleGrid, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { ShippingAddressUpdate } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { type ActionProps, useEffectText } from "./effect.ts";

const FIELDS = [
  "firstName",
  "lastName",
  "company",
  "address1",
  "address2",
  "zip",
  "city",
  "stateCode",
  "countryCode",
  "phone",
] as const;
const OPTIONAL: readonly string[] = ["company", "address2", "stateCode", "phone"];
type Field = (typeof FIELDS)[number];

/** Corrects the address. Only the fields that were changed are sent. */
export function AddressAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const present = Object.fromEntries(FIELDS.map((field) => [field, order.shippingAddress[field] ?? ""]));
  return (
    <ConfirmAction
      label={t("orderActions.correctAddress")}
      effect={effectOf(action)}
      done={t("orderActions.addressCorrected")}
      initialValues={present}
      validate={(values) =>
        Object.fromEntries(
          FIELDS.filter((field) => !OPTIONAL.includes(field) && values[field]?.trim() === "").map((field) => [
            field,
            t("ui.required"),
          ]),
        )
      }
      fields={(form) => (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {FIELDS.map((field) => (
            <TextInput
              key={field}
              label={t(`address.${field}`)}
              required={!OPTIONAL.includes(field)}
              maxLength={255}
              {...(field === FIELDS[0] && { "data-autofocus": true })}
              {...form.getInputProps(field)}
            />
          ))}
        </SimpleGrid>
      )}
      run={(values) =>
        dataOf(
          api.PATCH("/api/orders/{id}/shipping-address", {
            params: { path: { id: order.id } },
            body: changesOf(present, values),
          }),
        )
      }
    />
  );
}

/** An optional field that was emptied is removed from the address. */
const changesOf = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): ShippingAddressUpdate =>
  Object.fromEntries(
    FIELDS.filter((field: Field) => before[field] !== after[field]?.trim()).map((field) => [
      field,
      after[field]?.trim() || null,
    ]),
  );
