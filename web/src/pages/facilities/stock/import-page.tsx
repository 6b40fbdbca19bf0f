import { Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../../api/problem.ts";
import type { StockImportResult } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { stringifySearch } from "../../../routing/search.ts";
import { formatNumber } from "../../../text/format.ts";
import { PlainLink } from "../../../ui/link.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Crumbs, Page } from "../../../ui/page.tsx";
import {
  AS_IT_IS,
  type FileChoice,
  fileQuery,
  ImportOutcome,
  ImportSteps,
  mediaTypeOf,
  NamedRows,
  SHOWN_MAX,
  ThingOfRows,
} from "../../imports/import-parts.tsx";
import { type Import, useImport } from "../../imports/use-import.ts";
import { facilityQuery } from "../queries.ts";

const route = getRouteApi("/signed-in/facilities/$facilityId/stock/import");

type Choice = FileChoice & {
  /** The merchant of rows that name none. Null: each row names one, or a product by its id. */
  readonly merchantId: string | null;
};
type Running = Import<StockImportResult, Choice>;

/** Stock from a file: the file is checked at once, and imported when the person has seen what would change. */
export function StockImportPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const running = useImport<StockImportResult, Choice>({
    first: { merchantId: null, ...AS_IT_IS },
    targetOf: ({ merchantId, ...choice }, file, isDryRun) => ({
      address: importAddress(facilityId, {
        ...{ merchantId, ...fileQuery(choice) },
        ...(isDryRun && { dryRun: true }),
      }),
      mediaType: mediaTypeOf(file),
    }),
    done: t("stockImport.done"),
  });
  return (
    <Page
      title={t("stockImport.title")}
      about={t("stockImport.about")}
      crumbs={
        <Crumbs
          of={[
            [t("facilities.title"), paths.facilities()],
            [facility.name, paths.facility(facilityId)],
            [t("stock.title"), paths.stockList(facilityId)],
          ]}
        />
      }
    >
      <ImportSteps
        running={running}
        label={t("importing.chooseTable")}
        accept=".csv,.txt,.xlsx,.json,.jsonl,.ndjson,text/csv,application/x-ndjson"
        help={(["fileHelp", "quantity", "repeat"] as const).map((name) => t(`stockImport.${name}`))}
        field={(isBusy) => (
          <ThingOfRows
            kind="merchants"
            label={t("stockImport.merchant")}
            description={t("stockImport.merchantHelp")}
            error={lacksMerchant(running) && t("stockImport.merchantMissing")}
            value={running.choice.merchantId}
            isBusy={isBusy}
            onChange={(merchantId) => running.choose(running.file, { ...running.choice, merchantId })}
          />
        )}
        result={(result, isStored) => (
          <Result running={running} result={result} isStored={isStored} facilityId={facilityId} />
        )}
      />
    </Page>
  );
}

const importAddress = (facilityId: string, query: Record<string, unknown>): string =>
  `/api/facilities/${encodeURIComponent(facilityId)}/stock/import${stringifySearch(query)}`;

/** True if rows of the file name no merchant, and none is chosen for them. */
const lacksMerchant = ({ state }: Running): boolean =>
  state.phase === "failed" &&
  state.error instanceof ApiProblem &&
  state.error.errors.some(({ column, rule }) => column === "merchantId" && rule === "required");

type ResultProps = {
  readonly running: Running;
  readonly result: StockImportResult;
  readonly isStored: boolean;
  readonly facilityId: string;
};

function Result({ running, result, isStored, facilityId }: ResultProps) {
  const { t } = useTranslation();
  const { changed, rejected, changes, rejections } = result;
  return (
    <ImportOutcome
      {...result}
      isStored={isStored}
      counts={(["changed", "unchanged", "rejected"] as const).map((outcome) => [
        t(`stockImport.${outcome}`),
        result[outcome],
      ])}
      store={
        changed === 0 ? null : { label: t("stockImport.import", { count: changed }), run: running.store }
      }
      effect={t(changed === 0 ? "stockImport.nothing" : "stockImport.importEffect")}
      another={() => running.choose(null, running.choice)}
      to={{ address: paths.stockList(facilityId), label: t("stock.title") }}
    >
      {rejections.length > 0 && (
        <NamedRows label={t("stockImport.rejected")} errors={rejections.slice(0, SHOWN_MAX)} />
      )}
      {changes.length > 0 && (
        <DataTable
          label={t("stockImport.changed")}
          rows={changes.slice(0, SHOWN_MAX)}
          rowKey={({ line }) => String(line)}
          columns={[
            { name: t("importing.line"), cell: ({ line }) => formatNumber(line) },
            {
              name: t("stockImport.product"),
              cell: ({ code, productId, onHandBefore }) =>
                onHandBefore === null ? (
                  code
                ) : (
                  <PlainLink to={paths.stock(facilityId, productId)}>{code}</PlainLink>
                ),
              isLong: true,
            },
            {
              name: t("stockImport.before"),
              cell: ({ onHandBefore }) => (onHandBefore === null ? "–" : formatNumber(onHandBefore)),
              align: "right",
            },
            { name: t("stockImport.after"), cell: ({ onHand }) => formatNumber(onHand), align: "right" },
          ]}
        />
      )}
      {(changes.length > SHOWN_MAX || changes.length < changed || rejections.length < rejected) && (
        <Text size="xs" c="dimmed">
          {t("importing.listedFirst")}
        </Text>
      )}
    </ImportOutcome>
  );
}
