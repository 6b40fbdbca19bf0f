import IconPlus from "icon:plus";
import { NumberInput, Stack, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Product, ProductUpdate } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { fieldAmount, typedAmount } from "../../text/amount.ts";
import { formatLocale } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { useGo } from "../../ui/link.tsx";

/** The person's input. Empty: there is none. */
type Values = {
  sku: string;
  name: string;
  price: string;
  weightGrams: number | "";
  barcode: string;
  lowStockBelow: number | "";
  description: string;
  imageUrl: string;
};

const EMPTY: Values = {
  sku: "",
  name: "",
  price: "",
  weightGrams: "",
  barcode: "",
  lowStockBelow: "",
  description: "",
  imageUrl: "",
};

const valuesOf = (product: Product): Values => ({
  sku: product.sku,
  name: product.name,
  price: fieldAmount(product.price.amount, formatLocale(), product.price.currency),
  weightGrams: product.weightGrams ?? "",
  barcode: product.barcode ?? "",
  lowStockBelow: product.lowStockBelow ?? "",
  description: product.description ?? "",
  imageUrl: product.imageUrl ?? "",
});

/** The fields of a request, each null if nothing is typed. */
const fieldsOf = (values: Values, currency: string) => ({
  sku: values.sku.trim(),
  name: values.name.trim(),
  price: { amount: typedAmount(values.price, formatLocale(), currency), currency },
  weightGrams: values.weightGrams === "" ? null : Number(values.weightGrams),
  barcode: values.barcode.trim() || null,
  lowStockBelow: values.lowStockBelow === "" ? null : Number(values.lowStockBelow),
  description: values.description.trim() || null,
  imageUrl: values.imageUrl.trim() || null,
});

export function CreateProduct({ merchantId, currency }: { merchantId: string; currency: string }) {
  const { t } = useTranslation();
  const go = useGo();
  const validate = useRequired();
  return (
    <ConfirmAction<Values>
      label={t("product.create")}
      effect={t("product.createEffect")}
      done={t("product.created")}
      icon={<IconPlus size={14} />}
      isPrimary
      initialValues={EMPTY}
      validate={validate}
      fields={(form) => <ProductFields form={form} currency={currency} />}
      run={async (values) => {
        const product = await dataOf(
          api.POST("/api/merchants/{id}/products", {
            params: { path: { id: merchantId } },
            body: fieldsOf(values, currency),
          }),
        );
        await go(paths.product(product.id));
      }}
    />
  );
}

export function EditProduct({ product }: { product: Product }) {
  const { t } = useTranslation();
  const validate = useRequired();
  const { id, price } = product;
  return (
    <ConfirmAction<Values>
      label={t("product.edit")}
      shortcut="e"
      effect={t("product.editEffect")}
      done={t("product.edited")}
      initialValues={valuesOf(product)}
      validate={validate}
      fields={(form) => <ProductFields form={form} currency={price.currency} />}
      run={(values, { changed }) =>
        dataOf(
          api.PATCH("/api/products/{id}", {
            params: { path: { id } },
            body: updateOf(fieldsOf(values, price.currency), changed),
          }),
        )
      }
    />
  );
}

/** The fields of a request have the names of the values. */
const updateOf = (fields: ReturnType<typeof fieldsOf>, changed: Partial<Values>): ProductUpdate =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name in changed));

function useRequired(): (values: Values) => Record<string, string> {
  const { t } = useTranslation();
  return ({ sku, name, price }) => ({
    ...(sku.trim() === "" && { sku: t("ui.required") }),
    ...(name.trim() === "" && { name: t("ui.required") }),
    ...(price.trim() === "" && { price: t("ui.required") }),
  });
}

function ProductFields({ form, currency }: { form: UseFormReturnType<Values>; currency: string }) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <TextInput
        label={t("products.sku")}
        description={t("product.skuHelp")}
        maxLength={255}
        required
        data-autofocus
        {...form.getInputProps("sku")}
      />
      <TextInput label={t("products.name")} maxLength={255} required {...form.getInputProps("name")} />
      <TextInput
        label={t("products.price")}
        description={t("product.priceHelp", { currency })}
        inputMode="decimal"
        required
        {...form.getInputProps("price")}
        error={form.errors["price"] ?? form.errors["price.amount"]}
      />
      <NumberInput
        label={t("products.weight")}
        description={t("product.weightHelp")}
        min={0}
        allowDecimal={false}
        suffix=" g"
        {...form.getInputProps("weightGrams")}
      />
      <TextInput
        label={t("products.barcode")}
        description={t("product.barcodeHelp")}
        maxLength={100}
        {...form.getInputProps("barcode")}
      />
      <NumberInput
        label={t("products.lowStockBelow")}
        description={t("product.lowStockHelp")}
        min={1}
        max={1_000_000_000}
        allowDecimal={false}
        {...form.getInputProps("lowStockBelow")}
      />
      <Textarea
        label={t("products.description")}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
      <TextInput
        label={t("products.imageUrl")}
        description={t("product.imageHelp")}
        type="url"
        maxLength={2_000}
        {...form.getInputProps("imageUrl")}
      />
    </Stack>
  );
}
