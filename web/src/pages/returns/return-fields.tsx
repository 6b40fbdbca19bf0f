import { Checkbox, Group, NumberInput, Select, SimpleGrid, Text, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { ReturnCondition, ReturnReason, ReturnRequest } from "../../api/schema.d.ts";
import { formatNumber } from "../../text/format.ts";
import { filled } from "../../ui/form/use-api-form.ts";
import {
  canRestock,
  goodsOf,
  linesOut,
  RETURN_CONDITIONS,
  RETURN_REASONS,
  type ReturnableLine,
} from "./returned-goods.ts";

// What came back, in which condition, and what follows for stock and money: at the door, and on the page of an order.

export type ReturnValues = {
  /** Units that came back, by the id of their line. */
  counts: Record<string, number>;
  reason: ReturnReason | null;
  condition: ReturnCondition | null;
  restock: boolean;
  refund: boolean;
  refundReference: string;
  note: string;
};

/** All that is out came back, and nothing follows. */
export const returnValues = (lines: readonly ReturnableLine[]): ReturnValues => ({
  counts: Object.fromEntries(linesOut({ lines }).map(({ id, out }) => [id, out])),
  reason: null,
  condition: null,
  restock: false,
  refund: false,
  refundReference: "",
  note: "",
});

export const returnRequest = (
  lines: readonly ReturnableLine[],
  { counts, reason, condition, restock, refund, refundReference, note }: ReturnValues,
): ReturnRequest => ({
  ...goodsOf({ lines }, counts),
  restock: restock && canRestock(condition),
  ...(reason !== null && { reason }),
  ...(condition !== null && { condition }),
  ...filled({ note }),
  ...(refund && { refund: { reference: refundReference.trim() } }),
});

export function useReturnErrors() {
  const { t } = useTranslation();
  return (lines: readonly ReturnableLine[], { counts, refund, refundReference }: ReturnValues) => ({
    ...(goodsOf({ lines }, counts) === null && { goods: t("returns.nothingCounted") }),
    ...Object.fromEntries(
      linesOut({ lines })
        .filter(({ id, out }) => Number(counts[id] ?? 0) > out)
        .map(({ id, out }) => [`counts.${id}`, t("orderActions.unitsMax", { number: formatNumber(out) })]),
    ),
    ...(refund && refundReference.trim() === "" && { refundReference: t("ui.required") }),
  });
}

type Props<Values extends ReturnValues> = {
  /** Those that can have come back. */
  readonly lines: readonly ReturnableLine[];
  readonly form: UseFormReturnType<Values>;
};

export function ReturnFields<Values extends ReturnValues>({ lines, form }: Props<Values>) {
  const { t } = useTranslation();
  const mayRefund = useHasRole("operator");
  const { condition, restock, refund } = form.values;
  const goodsError = form.errors["goods"];
  return (
    <>
      {linesOut({ lines }).map(({ id, name, sku, out }) => (
        <Group key={id} justify="space-between" wrap="nowrap" gap="sm">
          <Text size="sm" miw={0} style={{ overflowWrap: "anywhere" }}>
            <strong>{name}</strong> {sku}
          </Text>
          <NumberInput
            w={130}
            flex="none"
            size="sm"
            min={0}
            max={out}
            allowDecimal={false}
            allowNegative={false}
            aria-label={t("returns.countOf", { product: name, out: formatNumber(out) })}
            suffix={` / ${out}`}
            {...form.getInputProps(`counts.${id}`)}
          />
        </Group>
      ))}
      {goodsError !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {goodsError}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t("order.condition")}
          data={RETURN_CONDITIONS.map((value) => ({ value, label: t(`returnConditions.${value}`) }))}
          clearable
          {...form.getInputProps("condition")}
        />
        <Select
          label={t("order.reason")}
          data={RETURN_REASONS.map((value) => ({ value, label: t(`returnReasons.${value}`) }))}
          clearable
          {...form.getInputProps("reason")}
        />
      </SimpleGrid>
      <Checkbox
        label={t("orderActions.restock")}
        description={canRestock(condition) ? t("returns.restockEffect") : t("returns.notRestocked")}
        disabled={!canRestock(condition)}
        {...form.getInputProps("restock", { type: "checkbox" })}
        checked={restock && canRestock(condition)}
      />
      {mayRefund && (
        <Checkbox
          label={t("returns.refund")}
          description={t("returns.refundEffect")}
          {...form.getInputProps("refund", { type: "checkbox" })}
        />
      )}
      {refund && (
        <TextInput
          label={t("returns.refundReference")}
          description={t("orderActions.referenceHelp")}
          maxLength={255}
          required
          {...form.getInputProps("refundReference")}
          error={form.errors["refundReference"] ?? form.errors["refund.reference"]}
        />
      )}
      <Textarea label={t("orderActions.note")} maxLength={1_000} autosize {...form.getInputProps("note")} />
    </>
  );
}
