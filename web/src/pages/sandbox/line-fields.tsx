import { ActionIcon, Button, Group, NumberInput, Select, Stack, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { newReference } from "../../api/reference.ts";
import type { Connection } from "../../api/schema.d.ts";
import { exposedProductsQuery } from "./queries.ts";

export type Line = {
  /** The line remains the same when one before it is removed. */
  readonly key: string;
  productId: string;
  quantity: number | string;
};

export const newLine = (): Line => ({ key: newReference("line"), productId: "", quantity: 1 });

type Props = { readonly connection: Connection; readonly form: UseFormReturnType<{ lines: Line[] }> };

/** The service accepts as many. */
const LINES_MAX = 100;

/** The ordered products with their quantities. */
export function LineFields({ connection, form }: Props) {
  const { t } = useTranslation();
  const products = useQuery(exposedProductsQuery(connection.id, ""));
  const { lines } = form.values;
  return (
    <Stack gap="xs" role="group" aria-label={t("sandbox.lines")}>
      {products.data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("sandbox.noProducts", { merchant: connection.merchantName })}
        </Text>
      )}
      {lines.map(({ key }, index) => (
        <Group key={key} gap="xs" align="flex-start" wrap="nowrap">
          <ProductField connectionId={connection.id} form={form} index={index} />
          <NumberInput
            label={t("order.quantity")}
            w={110}
            min={1}
            max={100_000}
            allowDecimal={false}
            {...form.getInputProps(`lines.${index}.quantity`)}
          />
          {lines.length > 1 && (
            <ActionIcon
              mt={27}
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t("sandbox.removeLine", { number: index + 1 })}
              onClick={() => form.removeListItem("lines", index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={lines.length >= LINES_MAX}
          onClick={() => form.insertListItem("lines", newLine())}
        >
          {t("sandbox.addLine")}
        </Button>
      </Group>
    </Stack>
  );
}

type ProductProps = {
  readonly connectionId: string;
  readonly form: Props["form"];
  readonly index: number;
};

/** Waits for the end of a word. */
const TYPING_MS = 200;

/** One of the exposed products. There may be many, so the service searches them. */
function ProductField({ connectionId, form, index }: ProductProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  // The text of the chosen product is no search for it.
  const [q] = useDebouncedValue(typed === chosen?.label ? "" : typed.trim(), TYPING_MS);
  const { data } = useQuery({ ...exposedProductsQuery(connectionId, q), placeholderData: keepPreviousData });
  const found = (data?.data ?? []).map(({ id, sku, name }) => ({ value: id, label: `${sku} · ${name}` }));
  const options =
    chosen === null || found.some(({ value }) => value === chosen.value) ? found : [chosen, ...found];
  const { onChange, ...input } = form.getInputProps(`lines.${index}.productId`);
  return (
    <Select
      {...input}
      label={t("order.product")}
      placeholder={t("sandbox.productPlaceholder")}
      style={{ flex: 1, minWidth: 0 }}
      data={options}
      searchable
      onSearchChange={setTyped}
      // The service has searched.
      filter={({ options: all }) => all}
      nothingFoundMessage={t("sandbox.productNotFound")}
      onChange={(value) => {
        setChosen(options.find((option) => option.value === value) ?? null);
        onChange(value ?? "");
      }}
    />
  );
}
