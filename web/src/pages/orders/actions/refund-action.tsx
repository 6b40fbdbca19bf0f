import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Money, Order, OrderLine, RefundReason } from "../../../api/schema.d.ts";
import { fieldAmount, typedAmount } from "../../../text/amount.ts";
import { formatLocale, formatMoney, formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { type ActionProps, useEffectText } from "./simple-actions.tsx";

const REASONS = [
  "returned",
  "damaged",
  "lost",
  "late",
  "wrong_item",
  "goodwill",
  "other",
] as const satisfies readonly RefundReason[];

type Values = {
  /** Units by the id of their line. */
  readonly units: Readonly<Record<string, number>>;
  readonly withShipping: boolean;
  readonly amount: string;
  readonly reason: RefundReason;
  readonly reference: string;
  readonly note: string;
};

/**
 * Refunds the merchant: units of lines, the shipping, or an amount. It shows what is left before one types, and an empty amount
 * is an error (docs/design/money.md, "Refunds"). The reference makes a second click, or a retry, the same refund.
 */
export function RefundAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction<Values>
      label={t("orderActions.refund")}
      effect={effectOf(action)}
      done={t("orderActions.refunded")}
      initialValues={{
        units: {},
        withShipping: false,
        amount: "",
        reason: "goodwill",
        reference: "",
        note: "",
      }}
      validate={({ amount, reference }) => ({
        ...(amount.trim() === "" && { amount: t("ui.required") }),
        ...(reference.trim() === "" && { reference: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <What order={order} form={form} />
          <Select
            label={t("order.reason")}
            data={REASONS.map((value) => ({ value, label: t(`refundReasons.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("reason")}
          />
          <TextInput
            label={t("orderActions.reference")}
            description={t("orderActions.referenceHelp")}
            maxLength={255}
            required
            {...form.getInputProps("reference")}
          />
          <Textarea
            label={t("orderActions.note")}
            maxLength={1_000}
            autosize
            {...form.getInputProps("note")}
          />
        </Stack>
      )}
      run={({ units, withShipping, amount, reason, reference, note }) => {
        const lines = Object.entries(units)
          .filter(([, quantity]) => quantity > 0)
          .map(([lineId, quantity]) => ({ lineId, quantity }));
        const shipping = order.totals?.refundableShipping;
        const currency = order.totals?.refundable.currency ?? ""; // Shown to all who may refund.
        return dataOf(
          api.POST("/api/orders/{id}/refund", {
            params: { path: { id: order.id } },
            body: {
              amount: { amount: typedAmount(amount, formatLocale(), currency), currency },
              ...(lines.length > 0 && { lines }),
              ...(withShipping && shipping !== undefined && { shipping }),
              reason,
              reference: reference.trim(),
              ...filled({ note }),
            },
          }),
        );
      }}
    />
  );
}

/** The lines with what is left of each, and the amount that they come to, which can be made smaller. */
function What({ order, form }: { order: Order; form: UseFormReturnType<Values> }) {
  const { t } = useTranslation();
  const { lines, totals } = order;
  if (totals === null) return null;
  const { refundable, refundableShipping } = totals;
  const choose = (units: Values["units"], withShipping: boolean) => {
    const chosen = lines.map((line) => priceOf(line, units[line.id] ?? 0));
    const shipping = withShipping ? minor(refundableShipping) : 0n;
    const sum = chosen.reduce((total, each) => total + each, shipping);
    form.setValues({ units, withShipping, amount: sum === 0n ? "" : inField(sum, refundable) });
  };
  const all = (): void => {
    form.setValues({
      units: {},
      withShipping: false,
      amount: fieldAmount(refundable.amount, formatLocale(), refundable.currency),
    });
  };
  const open = lines.filter(({ refundableQuantity }) => (refundableQuantity ?? 0) > 0);
  return (
    <Stack gap="xs">
      {open.map(({ id, name, sku, unitPrice, refundableQuantity }) => (
        <Group key={id} justify="space-between" wrap="nowrap" gap="sm">
          <Text size="sm" component="div" miw={0} style={{ overflowWrap: "anywhere" }}>
            {name}
            <Text size="xs" c="dimmed">
              {[
                sku,
                unitPrice !== null && formatMoney(unitPrice),
                t("orderActions.unitsLeft", { number: formatNumber(refundableQuantity ?? 0) }),
              ]
                .filter(Boolean)
                .join(" · ")}
            </Text>
          </Text>
          <NumberInput
            aria-label={t("orderActions.unitsOf", { name })}
            w={84}
            min={0}
            max={refundableQuantity ?? 0}
            clampBehavior="strict"
            allowDecimal={false}
            value={form.values.units[id] ?? 0}
            onChange={(value) =>
              choose({ ...form.values.units, [id]: Number(value) }, form.values.withShipping)
            }
          />
        </Group>
      ))}
      {minor(refundableShipping) > 0n && (
        <Checkbox
          label={t("orderActions.refundShipping", { amount: formatMoney(refundableShipping) })}
          checked={form.values.withShipping}
          onChange={({ currentTarget }) => choose(form.values.units, currentTarget.checked)}
        />
      )}
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label={t("orderActions.amount", { currency: refundable.currency })}
          description={t("orderActions.upTo", { amount: formatMoney(refundable) })}
          inputMode="decimal"
          required
          data-autofocus
          {...form.getInputProps("amount")}
          error={form.errors["amount"] ?? form.errors["amount.amount"] ?? form.errors["shipping"]}
        />
        <Button variant="default" size="sm" onClick={all}>
          {t("orderActions.allLeft")}
        </Button>
      </Group>
    </Stack>
  );
}

/** The amounts of an order have the decimals of its currency. */
export const minor = ({ amount }: Money): bigint => BigInt(amount.replace(".", ""));

export const priceOf = ({ unitPrice }: OrderLine, units: number): bigint =>
  unitPrice === null ? 0n : minor(unitPrice) * BigInt(units);

/** An amount as a person finds it in a field, with the decimals and the currency of another one. */
function inField(value: bigint, { amount, currency }: Money): string {
  const digits = amount.split(".")[1]?.length ?? 0;
  const text = value.toString().padStart(digits + 1, "0");
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return fieldAmount(decimal, formatLocale(), currency);
}
