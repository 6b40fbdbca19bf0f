import { Button, Group, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { countryName, formatNumber, formatWeight } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Parts } from "../../ui/parts.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import classes from "./open-order.module.css";
import { linesToPack, type OpenPacking } from "./packing.ts";
import type { Station } from "./use-station.ts";

type Props = { readonly packing: OpenPacking; readonly station: Station };

/** The order that lies on the table, and how much of it is in the box. */
export function OpenOrder({ packing, station }: Props) {
  const { t } = useTranslation();
  const { order, weightGrams, carrier, step } = packing;
  const to = order.shippingAddress;
  return (
    <Section
      title={order.externalOrderId ?? order.orderId}
      actions={
        <Group gap="xs">
          <TextLink to={paths.slips(order.orderId)} size="sm">
            {t("station.printSlips")}
          </TextLink>
          <Button size="compact-sm" variant="default" onClick={station.putAside}>
            {t("station.putAside")}
          </Button>
        </Group>
      }
    >
      <Stack gap="md">
        <ul className={classes["lines"]}>
          {linesToPack(order).map((line) => (
            <PackedLine key={line.id} line={line} packing={packing} station={station} />
          ))}
        </ul>
        <Facts
          of={[
            [
              t("work.to"),
              <Parts
                key="to"
                of={[
                  to.name,
                  to.company,
                  to.address1,
                  to.address2,
                  to.zip,
                  to.city,
                  to.stateCode,
                  countryName(to.countryCode),
                ]}
                between=", "
              />,
            ],
            [t("orders.merchant"), order.merchantName],
            ...(order.note === null ? [] : [[t("order.note"), order.note] as const]),
            [
              t("station.expectedWeight"),
              order.expectedWeightGrams === null ? null : formatWeight(order.expectedWeightGrams),
            ],
            [t("station.weight"), weightGrams === null ? null : formatWeight(weightGrams)],
            ...(step === "tracking" ? [[t("order.carrier"), carrier] as const] : []),
          ]}
        />
      </Stack>
    </Section>
  );
}

function PackedLine({ line, packing, station }: Props & { line: OpenPacking["order"]["lines"][number] }) {
  const { t } = useTranslation();
  const count = packing.counts[line.id] ?? 0;
  const isDone = count === line.quantity;
  return (
    <li className={classes["line"]} data-done={isDone}>
      <div>
        <Text fw={600}>{line.name}</Text>
        <Text size="sm" c="dimmed" ff="monospace">
          {[line.sku, line.barcode].filter(Boolean).join(" · ")}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Text fz={28} fw={700} lh={1} style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
          {formatNumber(count)} / {formatNumber(line.quantity)}
        </Text>
        {isDone ? (
          <Pill tone="success">{t("station.complete")}</Pill>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("station.countOne", { product: line.name })}
            onClick={() => station.count(line.id, 1)}
          >
            +1
          </Button>
        )}
      </Group>
    </li>
  );
}
