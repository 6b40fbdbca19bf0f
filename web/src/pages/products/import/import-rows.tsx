import { Button, Code, Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImportChange, ImportResult } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { TextLink } from "../../../ui/link.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Pill, type Tone } from "../../../ui/status-badge.tsx";

/** Rows that are drawn at a time: the service lists up to 10 000. */
const STEP = 100;
const CHANGES = ["all", "created", "changed", "unchanged"] as const;
const TONES: Readonly<Record<ImportChange, Tone>> = {
  created: "success",
  changed: "info",
  unchanged: "neutral",
};

/** The rows of a file, and what each does. */
export function ImportRows({ result: { products, created, changed, unchanged } }: { result: ImportResult }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState<(typeof CHANGES)[number]>("all");
  const [count, setCount] = useState(STEP);
  const rows = shown === "all" ? products : products.filter(({ change }) => change === shown);
  if (products.length === 0) return null;
  return (
    <>
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={t("importing.show")}
          value={shown}
          onChange={(value) => {
            setShown(value);
            setCount(STEP);
          }}
          data={CHANGES.map((value) => ({ value, label: t(`importing.${value}`) }))}
        />
        {products.length < created + changed + unchanged && (
          <Text size="xs" c="dimmed">
            {t("importing.listed", { number: formatNumber(products.length) })}
          </Text>
        )}
      </Group>
      <DataTable
        label={t("importing.preview")}
        rows={rows.slice(0, count)}
        rowKey={({ line }) => String(line)}
        columns={[
          { name: t("importing.line"), cell: ({ line }) => formatNumber(line) },
          {
            name: t("products.sku"),
            cell: ({ id, sku }) => (id === null ? sku : <TextLink to={paths.product(id)}>{sku}</TextLink>),
          },
          {
            name: t("importing.change"),
            cell: ({ change }) => <Pill tone={TONES[change]}>{t(`importing.${change}`)}</Pill>,
          },
          {
            name: t("importing.columns"),
            cell: ({ columns }) => (
              <Group gap={4} component="span">
                {columns.map((column) => (
                  <Code key={column}>{column}</Code>
                ))}
              </Group>
            ),
          },
        ]}
      />
      {rows.length > count && (
        <Group justify="center">
          <Button size="xs" variant="default" onClick={() => setCount(count + STEP)}>
            {t("importing.more")}
          </Button>
        </Group>
      )}
    </>
  );
}
