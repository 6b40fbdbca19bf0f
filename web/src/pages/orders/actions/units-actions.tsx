import { Checkbox, Group, NumberInput, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { isProblem } from "../../../api/problem.ts";
import { newReference } from "../../../api/reference.ts";
import type { CancelReason, Money, Order, OrderLine } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatMoney, formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { TextLink } from "../../../ui/link.tsx";
import { minor, priceOf } from "./refund-action.tsx";
import { TrackingFields } from "./ship-fields.tsx";
import { type ActionProps, useEffectText } from "./simple-actions.tsx";

// Shipping and canceling are about units: a line that has fewer of them is split.

/** Units by the id of their line. */
type Units = Readonly<Record<string, number>>;

/** Lines that have neither shipped nor been canceled. */
const openLines = ({ lines }: Order): OrderLine[] =>
  lines.filter(({ shipmentId, canceledQuantity }) => shipmentId === null && canceledQuantity === 0);

const allUnits = (lines: readonly OrderLine[]): Units =>
  Object.fromEntries(lines.map(({ id, quantity }) => [id, quantity]));
const countOf = (units: Units): number => Object.values(units).reduce((sum, count) => sum + count, 0);
const hasTooMany = (lines: readonly OrderLine[], units: Units): boolean =>
  lines.some(({ id, quantity }) => (units[id] ?? 0) > quantity);
const toLines = (units: Units) =>
  Object.entries(units).flatMap(([lineId, quantity]) => (quantity > 0 ? [{ lineId, quantity }] : []));

type UnitFieldsProps = {
  readonly lines: readonly OrderLine[];
  readonly units: Units;
  readonly onChange: (units: Units) => void;
  readonly error: React.ReactNode;
};

/** How many units of each line. */
function UnitFields({ lines, units, onChange, error }: UnitFieldsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      {lines.map(({ id, name, sku, quantity }) => (
        <Group key={id} justify="space-between" wrap="nowrap" gap="sm">
          <Text size="sm" component="div" miw={0} style={{ overflowWrap: "anywhere" }}>
            {name}
            <Text size="xs" c="dimmed">
              {sku} · {t("orderActions.unitsOpen", { number: formatNumber(quantity) })}
            </Text>
          </Text>
          <NumberInput
            aria-label={t("orderActions.unitsOf", { name })}
            w={84}
            min={0}
            max={quantity}
            allowDecimal={false}
            allowNegative={false}
            error={
              (units[id] ?? 0) > quantity && t("orderActions.unitsMax", { number: formatNumber(quantity) })
            }
            value={units[id] ?? 0}
            onChange={(value) => onChange({ ...units, [id]: Number(value) })}
          />
        </Group>
      ))}
      {error !== undefined && error !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}

type ShipValues = {
  units: Units;
  carrier: string;
  trackingNumber: string;
  trackingUrl: string;
  weightGrams: number | string;
  /** The number that is meant although another parcel has it. */
  meantNumber: string;
};

/** Ships units of the order. All that are open are chosen at first. */
export function ShipAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const repeated = useRepeatedNumber();
  const open = openLines(order);
  const total = countOf(allUnits(open));
  return (
    <ConfirmAction<ShipValues>
      label={t("orderActions.ship")}
      effect={({ units }) =>
        countOf(units) === total
          ? effectOf(action)
          : t("orderActions.shipSome", { chosen: formatNumber(countOf(units)), total: formatNumber(total) })
      }
      done={t("orderActions.shipped")}
      isPrimary={isPrimary}
      initialValues={{
        units: allUnits(open),
        carrier: "",
        trackingNumber: "",
        trackingUrl: "",
        weightGrams: "",
        meantNumber: "",
      }}
      validate={({ units }) =>
        countOf(units) === 0
          ? { units: t("orderActions.chooseUnits") }
          : hasTooMany(open, units)
            ? { units: t("orderActions.tooManyUnits") }
            : {}
      }
      fields={(form) => (
        <Stack gap="sm">
          <UnitFields
            lines={open}
            units={form.values.units}
            onChange={(units) => form.setFieldValue("units", units)}
            error={form.errors["units"]}
          />
          <TrackingFields form={form} />
          <RepeatedNumber asked={repeated.asked} form={form} />
          <NumberInput
            label={t("orderActions.weight")}
            min={1}
            allowDecimal={false}
            {...form.getInputProps("weightGrams")}
          />
        </Stack>
      )}
      run={({ units, meantNumber, weightGrams, ...tracking }) =>
        repeated.asking(tracking.trackingNumber, () =>
          dataOf(
            api.POST("/api/orders/{id}/ship", {
              params: { path: { id: order.id } },
              body: {
                lines: toLines(units),
                ...filled(tracking),
                ...(weightGrams !== "" && { weightGrams: Number(weightGrams) }),
                ...isMeant(meantNumber, tracking.trackingNumber),
              },
            }),
          ),
        )
      }
    />
  );
}

/** A number that is on another parcel: the service asked about it. */
type AskedNumber = { readonly number: string; readonly orderId: string };

/** Remembers that the service asked whether a number is meant that another parcel has. */
export function useRepeatedNumber() {
  const [asked, setAsked] = useState<AskedNumber | null>(null);
  const asking = async <Answer,>(number: string, run: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await run();
    } catch (error) {
      if (isProblem(error, "transition-refused") && error.members["rule"] === "tracking_number_repeated")
        setAsked({ number, orderId: String(error.members["orderId"]) });
      throw error;
    }
  };
  return { asked, asking };
}

/** The member that says that a number is meant. A number that was typed since is another one. */
export const isMeant = (meantNumber: string, trackingNumber: string) =>
  meantNumber !== "" && meantNumber === trackingNumber ? { repeatedTrackingNumber: true } : {};

type MeantValues = { readonly trackingNumber: string; readonly meantNumber: string };

/** The answer to that question. */
export function RepeatedNumber<Values extends MeantValues>({
  asked,
  form,
}: {
  readonly asked: AskedNumber | null;
  readonly form: UseFormReturnType<Values>;
}) {
  const { t } = useTranslation();
  const { trackingNumber, meantNumber } = form.values;
  if (asked === null || asked.number !== trackingNumber) return null;
  return (
    <Stack gap={4}>
      <Checkbox
        label={t("orderActions.numberIsMeant")}
        checked={meantNumber === trackingNumber}
        onChange={({ currentTarget }) =>
          form.setValues({ meantNumber: currentTarget.checked ? trackingNumber : "" } as Partial<Values>)
        }
      />
      <Text size="xs">
        <TextLink to={paths.order(asked.orderId)}>{t("orderActions.otherOrder")}</TextLink>
      </Text>
    </Stack>
  );
}

const CANCEL_REASONS = [
  "out_of_stock",
  "damaged",
  "discontinued",
  "buyer_request",
  "other",
] as const satisfies readonly CancelReason[];

type CancelValues = {
  units: Units;
  reason: CancelReason;
  reference: string;
  /** If the person names none: a retry after a lost response is the same cancellation. */
  ownReference: string;
  note: string;
};

/** Cancels units that cannot be delivered. It says before what is refunded, and what becomes of the order. */
export function CancelLinesAction({ order }: ActionProps) {
  const { t } = useTranslation();
  const open = openLines(order);
  const total = countOf(allUnits(open));
  const isPartShipped = order.shipments.some(({ status }) => status !== "returned" && status !== "voided");
  const refundOf = refundOfUnits(order);
  return (
    <ConfirmAction<CancelValues>
      label={t("orderActions.cancelLines")}
      effect={({ units }) =>
        [
          t("orderActions.cancelUnits", { count: countOf(units) }),
          refundOf(units),
          countOf(units) === total ? t("orderActions.thenCompleted") : t("orderActions.othersShip"),
        ]
          .filter(Boolean)
          .join(" ")
      }
      done={t("orderActions.linesCanceled")}
      isDanger
      initialValues={{
        units: isPartShipped ? allUnits(open) : missingUnits(order, open),
        reason: "out_of_stock",
        reference: "",
        ownReference: newReference("console"),
        note: "",
      }}
      validate={({ units }) => {
        if (countOf(units) === 0) return { units: t("orderActions.chooseUnits") };
        if (hasTooMany(open, units)) return { units: t("orderActions.tooManyUnits") };
        return countOf(units) === total && !isPartShipped ? { units: t("orderActions.wholeOrder") } : {};
      }}
      fields={(form) => (
        <Stack gap="sm">
          <UnitFields
            lines={open}
            units={form.values.units}
            onChange={(units) => form.setFieldValue("units", units)}
            error={form.errors["units"] ?? form.errors["lines"]}
          />
          <Select
            label={t("order.reason")}
            data={CANCEL_REASONS.map((value) => ({ value, label: t(`cancelReasons.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("reason")}
          />
          <TextInput
            label={t("orderActions.reference")}
            description={t("orderActions.cancelReferenceHelp")}
            maxLength={255}
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
      run={({ units, reason, reference, ownReference, note }) =>
        dataOf(
          api.POST("/api/orders/{id}/cancel-lines", {
            params: { path: { id: order.id } },
            body: {
              lines: toLines(units),
              reason,
              reference: reference.trim() || ownReference,
              ...filled({ note }),
            },
          }),
        )
      }
    />
  );

  /** In words, as the service reckons it: the price of the units, as far as it is left. */
  function refundOfUnits({ lines, totals }: Order): (units: Units) => string {
    if (totals === null) return () => "";
    const left = minor(totals.refundableGoods);
    return (units) => {
      const price = lines.reduce((sum, line) => {
        const count = Math.min(units[line.id] ?? 0, line.refundableQuantity ?? 0);
        return sum + priceOf(line, count);
      }, 0n);
      const amount = formatMoney(moneyOf(price < left ? price : left, totals.refundableGoods));
      return t("orderActions.refundedSum", { amount });
    };
  }
}

/** An amount with the decimals and the currency of another one. */
function moneyOf(value: bigint, { amount, currency }: Money): Money {
  const digits = amount.split(".")[1]?.length ?? 0;
  const text = value.toString().padStart(digits + 1, "0");
  return { amount: digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`, currency };
}

/** What an order lacks that waits for stock, so that the rest can ship. */
function missingUnits({ holds }: Order, open: readonly OrderLine[]): Units {
  const products = holds.flatMap(({ products }) => products ?? []);
  return Object.fromEntries(
    products.flatMap(({ lineIds, needed, available }) => {
      let missing = needed - available;
      return open
        .filter(({ id }) => lineIds.includes(id))
        .map(({ id, quantity }) => {
          const units = Math.max(0, Math.min(quantity, missing));
          missing -= units;
          return [id, units] as const;
        });
    }),
  );
}
