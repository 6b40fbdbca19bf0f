import { Checkbox, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { ParcelRejection, ShipmentImportResult, ValidationError } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { stringifySearch } from "../../routing/search.ts";
import { formatNumber } from "../../text/format.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { TextLink } from "../../ui/link.tsx";
import { DataTable, IdText } from "../../ui/list/data-table.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { useProblemText } from "../../ui/problem-message.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import {
  AS_IT_IS,
  type FileChoice,
  ImportOutcome,
  ImportSteps,
  mediaTypeOf,
  NamedRows,
  SHOWN_MAX,
  ThingOfRows,
} from "../imports/import-parts.tsx";
import { type Import, useImport } from "../imports/use-import.ts";
import { parcelsFile } from "./queries.ts";

const route = getRouteApi("/signed-in/work/import");

type Choice = FileChoice & {
  /** The connection of external ids that several have. Null: each id is that of one order. */
  readonly connectionId: string | null;
  /** Numbers that are on other parcels are meant. */
  readonly repeatedTrackingNumber: boolean;
};
type Running = Import<ShipmentImportResult, Choice>;

/** Parcels that have left, from a file: it is checked at once, and stored when the person has seen what would ship. */
export function TrackingImportPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const running: Running = useImport<ShipmentImportResult, Choice>({
    first: { connectionId: null, repeatedTrackingNumber: false, ...AS_IT_IS },
    targetOf: ({ connectionId, repeatedTrackingNumber, asWritten }, file, isDryRun) => ({
      address: `/api/shipments/import${stringifySearch({
        onlyTracked: true,
        ...(connectionId !== null && { connectionId }),
        ...(repeatedTrackingNumber && { repeatedTrackingNumber }),
        ...(asWritten && { asWritten }),
        ...(isDryRun && { dryRun: true }),
      })}`,
      mediaType: mediaTypeOf(file),
    }),
    done: t("trackingImport.done"),
  });
  return (
    <Page
      title={t("trackingImport.title")}
      about={t("trackingImport.about")}
      crumbs={<Crumbs of={[[t("work.title"), paths.work(search)]]} />}
      actions={
        <DownloadButton address={parcelsFile(search)} label={t("trackingImport.download")} needsProof />
      }
    >
      <ImportSteps
        running={running}
        label={t("importing.chooseTable")}
        accept=".csv,.txt,.xlsx,.json,.jsonl,.ndjson,text/csv,application/x-ndjson"
        help={(["start", "fileHelp", "repeat"] as const).map((name) => t(`trackingImport.${name}`))}
        field={(isBusy) => <Decisions running={running} isBusy={isBusy} />}
        result={(result, isStored) => <Result running={running} result={result} isStored={isStored} />}
        skips={false}
      />
    </Page>
  );
}

const rejectionsOf = ({ state }: Running): readonly ParcelRejection[] =>
  state.phase === "checked" || state.phase === "stored" ? state.result.rejections : [];

/** What a person can decide about parcels that were left out. */
function Decisions({ running, isBusy }: { readonly running: Running; readonly isBusy: boolean }) {
  const { t } = useTranslation();
  const { file, choice, choose } = running;
  const rejections = rejectionsOf(running);
  const isAmbiguous = rejections.some(({ errors }) =>
    errors.some(({ rule }) => rule === "external_id_ambiguous"),
  );
  const isRepeated = rejections.some(({ rule }) => rule === "tracking_number_repeated");
  return (
    <>
      {(isAmbiguous || choice.connectionId !== null) && (
        <ThingOfRows
          kind="connections"
          label={t("trackingImport.connection")}
          description={t("trackingImport.connectionHelp")}
          value={choice.connectionId}
          isBusy={isBusy}
          onChange={(connectionId) => choose(file, { ...choice, connectionId })}
        />
      )}
      {(isRepeated || choice.repeatedTrackingNumber) && (
        <Checkbox
          label={t("trackingImport.repeated")}
          checked={choice.repeatedTrackingNumber}
          disabled={isBusy}
          onChange={({ currentTarget: { checked } }) =>
            choose(file, { ...choice, repeatedTrackingNumber: checked })
          }
        />
      )}
    </>
  );
}

type ResultProps = {
  readonly running: Running;
  readonly result: ShipmentImportResult;
  readonly isStored: boolean;
};

const OUTCOMES = ["shipped", "updated", "unchanged", "rejected", "untracked"] as const;

function Result({ running, result, isStored }: ResultProps) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const problemText = useProblemText();
  const { shipped, updated, rejected, parcels, rejections } = result;
  const count = shipped + updated;
  const reasons = rejections
    .slice(0, SHOWN_MAX)
    .flatMap(({ line, order, errors, ...problem }) =>
      errors.length > 0
        ? errors.map((error): ValidationError => ({ ...error, subject: order }))
        : [{ line, subject: order, rule: problem.code, detail: problemText(problemOf(problem)) }],
    );
  return (
    <ImportOutcome
      {...result}
      isStored={isStored}
      counts={OUTCOMES.filter((outcome) => outcome !== "untracked" || result.untracked > 0).map((outcome) => [
        t(`trackingImport.${outcome}`),
        result[outcome],
      ])}
      store={count === 0 ? null : { label: t("trackingImport.import", { count }), run: running.store }}
      effect={t(count === 0 ? "trackingImport.nothing" : "trackingImport.importEffect")}
      another={() => running.choose(null, running.choice)}
      to={{ address: paths.work(search), label: t("work.title") }}
    >
      {reasons.length > 0 && <NamedRows label={t("trackingImport.rejected")} errors={reasons} />}
      {parcels.length > 0 && (
        <DataTable
          label={t("trackingImport.parcels")}
          rows={parcels.slice(0, SHOWN_MAX)}
          rowKey={({ line }) => String(line)}
          columns={[
            { name: t("importing.line"), cell: ({ line }) => formatNumber(line) },
            {
              name: t("orders.order"),
              cell: ({ orderId, externalOrderId }) => (
                <TextLink to={paths.order(orderId)}>
                  <IdText id={externalOrderId ?? orderId} />
                </TextLink>
              ),
            },
            {
              name: t("trackingImport.number"),
              cell: ({ trackingNumber }) => trackingNumber ?? "–",
              isLong: true,
            },
            {
              name: t("importing.change"),
              cell: ({ change }) => (
                <Pill tone={change === "shipped" ? "success" : "info"}>{t(`trackingImport.${change}`)}</Pill>
              ),
            },
          ]}
        />
      )}
      {(parcels.length > SHOWN_MAX || parcels.length < count || rejected > SHOWN_MAX) && (
        <Text size="xs" c="dimmed">
          {t("importing.listedFirst")}
        </Text>
      )}
    </ImportOutcome>
  );
}

/** What `ship` of this order alone would have answered. */
const problemOf = (problem: Omit<ParcelRejection, "line" | "order" | "errors">): ApiProblem =>
  new ApiProblem(409, new Headers(), problem);
