import { Button, Group, Radio, SegmentedControl, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImportChange, ImportMatch, ImportResult } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { stringifySearch } from "../../routing/search.ts";
import { formatMoney, formatNumber } from "../../text/format.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { TextLink } from "../../ui/link.tsx";
import { DataTable, IdText } from "../../ui/list/data-table.tsx";
import { Page } from "../../ui/page.tsx";
import { Pill, type Tone } from "../../ui/status-badge.tsx";
import {
  AS_IT_IS,
  type FileChoice,
  fileQuery,
  ImportOutcome,
  ImportSteps,
  mediaTypeOf,
  NamedRows,
} from "../imports/import-parts.tsx";
import { type Import, useImport } from "../imports/use-import.ts";
import { merchantQuery } from "../merchants/queries.ts";
import { MerchantCrumbs } from "./products-page.tsx";
import { productsFile } from "./queries.ts";

const route = getRouteApi("/signed-in/products/of/$merchantId/import");

type Choice = FileChoice & { readonly match: ImportMatch };
type Running = Import<ImportResult, Choice>;

/** Products from a file: the file is checked at once, and imported when the person has seen what would change. */
export function ImportPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const running = useImport<ImportResult, Choice>({
    first: { match: "sku", ...AS_IT_IS },
    targetOf: ({ match, ...choice }, file, isDryRun) => ({
      address: importAddress(merchantId, {
        ...{ match, ...fileQuery(choice) },
        ...(isDryRun ? { dryRun: true } : { progress: true }),
      }),
      mediaType: mediaTypeOf(file),
    }),
    done: t("importing.done"),
  });
  return (
    <Page
      title={t("importing.title")}
      about={t("importing.about")}
      crumbs={
        <MerchantCrumbs
          merchant={merchant}
          below={[[t("products.title"), paths.merchantProducts(merchant.id)]]}
        />
      }
      actions={<DownloadButton address={productsFile(merchantId)} label={t("products.exportOf")} />}
    >
      <ImportSteps
        running={running}
        label={t("importing.chooseFile")}
        accept=".csv,.txt,.xlsx,text/csv"
        help={(["fileHelp", "price", "start"] as const).map((name) => t(`importing.${name}`))}
        field={(isBusy) => (
          <Radio.Group
            label={t("importing.match")}
            value={running.choice.match}
            // The radio buttons have these two values.
            onChange={(value) =>
              running.choose(running.file, { ...running.choice, match: value as ImportMatch })
            }
          >
            <Stack gap={6} mt={6}>
              <Radio value="sku" label={t("importing.matchSku")} disabled={isBusy} />
              <Radio value="id" label={t("importing.matchId")} disabled={isBusy} />
            </Stack>
          </Radio.Group>
        )}
        result={(result, isStored) => (
          <Result running={running} result={result} isStored={isStored} merchantId={merchantId} />
        )}
      />
    </Page>
  );
}

const importAddress = (merchantId: string, query: Record<string, string | boolean>): string =>
  `/api/merchants/${encodeURIComponent(merchantId)}/products/import${stringifySearch(query)}`;

type ResultProps = {
  readonly running: Running;
  readonly result: ImportResult;
  readonly isStored: boolean;
  readonly merchantId: string;
};

function Result({ running, result, isStored, merchantId }: ResultProps) {
  const { t } = useTranslation();
  const count = result.created + result.changed;
  return (
    <ImportOutcome
      {...result}
      isStored={isStored}
      counts={OUTCOMES.filter((outcome) => outcome !== "rejected" || result.rejected > 0).map((outcome) => [
        t(`importing.${outcome}`),
        result[outcome],
      ])}
      store={count === 0 ? null : { label: t("importing.import", { count }), run: running.store }}
      effect={t(count === 0 ? "importing.nothing" : "importing.importEffect")}
      another={() => running.choose(null, running.choice)}
      to={{ address: paths.merchantProducts(merchantId), label: t("importing.toProducts") }}
    >
      {result.rejections.length > 0 && (
        <NamedRows label={t("importing.rejected")} errors={result.rejections} />
      )}
      <ImportRows result={result} />
    </ImportOutcome>
  );
}

const OUTCOMES = ["created", "changed", "unchanged", "rejected"] as const;
/** Rows that are drawn at a time: the service lists up to 10 000. */
const STEP = 100;
const CHANGES = ["all", "created", "changed", "unchanged"] as const;
const TONES: Readonly<Record<ImportChange, Tone>> = {
  created: "success",
  changed: "info",
  unchanged: "neutral",
};

/** The rows of a file, and what each does. */
function ImportRows({ result: { products, created, changed, unchanged } }: { result: ImportResult }) {
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
            cell: ({ id, sku }) =>
              id === null ? (
                <IdText id={sku} />
              ) : (
                <TextLink to={paths.product(id)}>
                  <IdText id={sku} />
                </TextLink>
              ),
          },
          {
            name: t("importing.change"),
            cell: ({ change }) => <Pill tone={TONES[change]}>{t(`importing.${change}`)}</Pill>,
          },
          { name: t("products.name"), cell: ({ name }) => name, isLong: true },
          { name: t("products.price"), cell: ({ price }) => formatMoney(price), align: "right" },
          {
            name: t("importing.before"),
            cell: ({ before }) =>
              Object.entries(before)
                .map(([column, value]) => `${column}: ${value ?? "–"}`)
                .join(", "),
            isLong: true,
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
