import { SimpleGrid, Text, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Order, ShippingAddressUpdate } from "../../../api/schema.d.ts";
import { AddressLines } from "../../../ui/address.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { type ActionProps, useEffectText } from "./simple-actions.tsx";

const FIELDS = [
  "firstName",
  "lastName",
  "name",
  "company",
  "address1",
  "address2",
  "zip",
  "city",
  "stateCode",
  "countryCode",
  "phone",
] as const;
const OPTIONAL: readonly string[] = ["name", "company", "address2", "stateCode", "phone"];
type Values = Readonly<Record<string, string>>;

/**
 * Corrects the address. Only the fields that were changed are sent. If another person has corrected it since the dialog opened,
 * both corrections together could be an address that does not exist: the person sees theirs first
 * (docs/design/api-conventions.md, "Expected versions").
 */
export function AddressAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.correctAddress")}
      shortcut="e"
      effect={effectOf(action)}
      done={t("orderActions.addressCorrected")}
      initialValues={valuesOf(order)}
      version={order.shippingAddressVersion}
      present={<StoredAddress of={order.shippingAddress} />}
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
              {...(field === "name" && { description: t("orderActions.fullNameHelp") })}
              required={!OPTIONAL.includes(field)}
              maxLength={255}
              {...(field === FIELDS[0] && { "data-autofocus": true })}
              {...form.getInputProps(field)}
            />
          ))}
        </SimpleGrid>
      )}
      run={(values, { changed, version }) =>
        dataOf(
          api.PATCH("/api/orders/{id}/shipping-address", {
            params: { path: { id: order.id } },
            body: { ...updateOf(values, changed), expectedVersion: version },
          }),
        )
      }
    />
  );
}

const StoredAddress = ({ of }: { of: Order["shippingAddress"] }) => (
  <Text size="sm" component="div">
    <AddressLines of={of} />
    {of.phone}
  </Text>
);

/** The full name is empty if it only repeats the other two. So it does where the partner has sent none. */
function valuesOf({ shippingAddress: address }: Order): Values {
  const present = Object.fromEntries(FIELDS.map((field) => [field, address[field] ?? ""]));
  const isRepeated = address.name === `${address.firstName} ${address.lastName}`;
  return isRepeated ? { ...present, name: "" } : present;
}

/**
 * An optional field that was emptied is removed from the address. An empty full name is removed with each change of the
 * other two: the partner may have sent one, which would still be printed.
 */
const updateOf = ({ name }: Values, changed: Partial<Values>): ShippingAddressUpdate => ({
  ...(("firstName" in changed || "lastName" in changed) && name?.trim() === "" && { name: null }),
  ...Object.fromEntries(Object.entries(changed).map(([field, text]) => [field, text || null])),
});
