import IconAlertTriangle from "icon:alert-triangle";
import IconDownload from "icon:download";
import IconFileSpreadsheet from "icon:file-spreadsheet";
import { Alert, Button, Code, FileInput, Group, Progress, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { RecognisedTable, ValidationError } from "../../api/schema.d.ts";
import { explained } from "../../text/explanations.ts";
import { formatBytes, formatNumber } from "../../text/format.ts";
import { ButtonLink } from "../../ui/link.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { type ThingKind, thingsQuery } from "../things.ts";
import { csvOf } from "./csv-of.ts";
import { type Import, type ImportState, UnknownOutcome, UnreadableFile } from "./use-import.ts";

/** Rows that are drawn of those that a stored part of a file lists. */
export const SHOWN_MAX = 200;
/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;

/** What a person can decide about a file with errors. */
export type FileChoice = { readonly skipInvalid: boolean; readonly asWritten: boolean };
export const AS_IT_IS: FileChoice = { skipInvalid: false, asWritten: false };

/** The parameters of a choice. What is not chosen is absent. */
export const fileQuery = ({ skipInvalid, asWritten }: FileChoice) => ({
  ...(skipInvalid && { skipInvalid }),
  ...(asWritten && { asWritten }),
});

const MEDIA_TYPES: readonly [RegExp, string][] = [
  [/\.xlsx$/i, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  [/\.(json|jsonl|ndjson)$/i, "application/x-ndjson"],
];
export const mediaTypeOf = (file: File): string =>
  MEDIA_TYPES.find(([ending]) => ending.test(file.name))?.[1] ?? "text/csv";

type StepsProps<Result, Choice extends FileChoice> = {
  readonly running: Import<Result, Choice>;
  /** What the field for the file says, and the types that the browser offers. */
  readonly label: string;
  readonly accept: string;
  /** Sentences for those who have chosen no file yet. */
  readonly help: readonly string[];
  /** What is chosen beside the file. */
  readonly field: (isBusy: boolean) => ReactNode;
  /** What would change, or has changed. */
  readonly result: (result: Result, isStored: boolean) => ReactNode;
  /** False: rows with errors cannot be left out. */
  readonly skips?: boolean;
};

/** An import from the choice of a file to its result: it is checked at once, and stored when the person has seen what it changes. */
export function ImportSteps<Result, Choice extends FileChoice>({
  running: { file, choice, state, choose, cancel },
  label,
  accept,
  help,
  field,
  result,
  skips = true,
}: StepsProps<Result, Choice>) {
  const { t } = useTranslation();
  const isBusy = state.phase === "storing";
  return (
    <>
      <Section title={t("importing.file")}>
        <FileDrop
          label={label}
          accept={accept}
          file={file}
          isBusy={isBusy}
          choose={(chosen) => choose(chosen, { ...choice, ...AS_IT_IS })}
        >
          {field(isBusy)}
          {file === null && (
            <Stack gap={2}>
              {help.map((sentence) => (
                <Text key={sentence} size="sm" c="dimmed">
                  {sentence}
                </Text>
              ))}
            </Stack>
          )}
          {state.phase === "choosing" && state.isCanceled && (
            <Text size="sm" role="status">
              {t("importing.canceled")}
            </Text>
          )}
        </FileDrop>
      </Section>
      {(state.phase === "checking" || state.phase === "storing") && (
        <Uploading state={state} name={file?.name ?? ""} cancel={cancel} />
      )}
      {state.phase === "failed" && (
        <ImportFailure
          error={state.error}
          skips={skips}
          retry={() => choose(file, choice)}
          retryWith={(decided) => choose(file, { ...choice, ...decided })}
        />
      )}
      {(state.phase === "checked" || state.phase === "stored") &&
        result(state.result, state.phase === "stored")}
    </>
  );
}

type OutcomeProps = FindingsProps & {
  readonly isStored: boolean;
  /** How many rows have each outcome, by its name. */
  readonly counts: readonly (readonly [name: string, count: number])[];
  /** The button that stores what was checked. Null: nothing would change. */
  readonly store: { readonly label: string; readonly run: () => void } | null;
  /** What the button does, or that there is nothing to do. */
  readonly effect: string;
  readonly another: () => void;
  /** The page that shows what was stored. */
  readonly to: { readonly address: string; readonly label: string };
  readonly children: ReactNode;
};

/** What a file changes, or has changed: the numbers, what it was read as, and its rows. */
export function ImportOutcome(props: OutcomeProps) {
  const { isStored, counts, store, effect, another, to, recognised, warnings, children } = props;
  const { t } = useTranslation();
  return (
    <Section
      title={t(isStored ? "importing.result" : "importing.preview")}
      actions={
        isStored ? (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={another}>
              {t("importing.another")}
            </Button>
            <ButtonLink to={to.address} size="xs">
              {to.label}
            </ButtonLink>
          </Group>
        ) : (
          store !== null && (
            <Button size="sm" onClick={store.run}>
              {store.label}
            </Button>
          )
        )
      }
    >
      <Group gap="xl" role="status">
        {counts.map(([name, count]) => (
          <div key={name}>
            <Text fz={24} fw={600} lh={1.2} style={{ fontVariantNumeric: "tabular-nums" }}>
              {formatNumber(count)}
            </Text>
            <Text size="sm" c="dimmed">
              {name}
            </Text>
          </div>
        ))}
      </Group>
      {!isStored && (
        <Text size="sm" c="dimmed">
          {effect}
        </Text>
      )}
      <Findings recognised={recognised} warnings={warnings} />
      {children}
    </Section>
  );
}

type Props = {
  readonly error: unknown;
  readonly skips: boolean;
  readonly retry: () => void;
  /** Checks the file again with a choice. */
  readonly retryWith: (choice: Partial<FileChoice>) => void;
};

/** Why nothing is imported: the lines of the file that are wrong, or what went wrong on the way. */
function ImportFailure({ error, skips, retry, retryWith }: Props) {
  const { t } = useTranslation();
  if (error instanceof ApiProblem && error.errors.some(({ line }) => line !== undefined))
    return <LineErrors problem={error} skips={skips} retry={retry} retryWith={retryWith} />;
  if (error instanceof UnreadableFile || error instanceof UnknownOutcome)
    return (
      <Alert
        color="red"
        variant="light"
        role="alert"
        icon={<IconAlertTriangle size={18} />}
        title={t("problem.title")}
      >
        <Text size="sm">
          {t(error instanceof UnreadableFile ? "importing.fileChanged" : "importing.unknown")}
        </Text>
        <Button size="xs" variant="default" mt="xs" onClick={retry}>
          {t("importing.checkAgain")}
        </Button>
      </Alert>
    );
  return <ProblemMessage error={error} retry={retry} />;
}

function LineErrors({
  problem: { errors, members, requestId },
  skips,
  retry,
  retryWith,
}: Omit<Props, "error"> & { readonly problem: ApiProblem }) {
  const { t } = useTranslation();
  // The description of the problem says so.
  const count = typeof members["errorCount"] === "number" ? members["errorCount"] : errors.length;
  const download = () => {
    const rows = errors.map((error) => [
      ...[String(error.line), error.column ?? "", error.value ?? "", error.subject ?? ""],
      explained(error),
    ]);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(
      new Blob([`\uFEFF${csvOf([["line", "column", "value", "row", "problem"], ...rows])}`]),
    );
    link.download = "errors.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Section
      title={t("importing.errorsTitle")}
      actions={
        <Group gap="xs">
          <Button size="xs" variant="default" leftSection={<IconDownload size={14} />} onClick={download}>
            {t("importing.downloadErrors")}
          </Button>
          {errors.some(({ rule }) => rule === "damaged") && (
            <Button size="xs" variant="default" onClick={() => retryWith({ asWritten: true })}>
              {t("importing.asWritten")}
            </Button>
          )}
          {skips && errors.every(({ rule }) => !OF_FILES.includes(rule)) && (
            <Button size="xs" variant="default" onClick={() => retryWith({ skipInvalid: true })}>
              {t("importing.skipInvalid")}
            </Button>
          )}
          <Button size="xs" onClick={retry}>
            {t("importing.checkAgain")}
          </Button>
        </Group>
      }
    >
      <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle size={18} />}>
        <Text size="sm">
          {t("importing.errors", { count })}{" "}
          {errors.length < count && t("importing.errorsListed", { count: errors.length })}
        </Text>
        {requestId !== null && (
          <Text size="xs" mt={4}>
            {t("problem.requestId")} <Code>{requestId}</Code>
          </Text>
        )}
      </Alert>
      <RowErrors label={t("importing.errorsTitle")} errors={errors} />
    </Section>
  );
}

/** Errors after which no row is read: leaving out rows does not help. */
const OF_FILES: readonly string[] = [
  ...["file", "header_row", "unknown_column", "missing_column", "duplicate_column", "max_rows"],
];

/** Rows of a file, each with its problem and what it is about. */
function RowErrors({
  label,
  errors,
}: {
  readonly label: string;
  readonly errors: readonly ValidationError[];
}) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={label}
      rows={errors}
      rowKey={({ line, column, detail }) => `${line} ${column} ${detail}`}
      columns={[
        { name: t("importing.line"), cell: ({ line }) => (line === undefined ? "" : formatNumber(line)) },
        {
          name: t("importing.column"),
          cell: ({ column }) => (column === undefined ? t("importing.wholeRow") : <Code>{column}</Code>),
        },
        {
          name: t("importing.value"),
          cell: ({ value }) => (value === undefined ? "" : <Code>{value}</Code>),
        },
        { name: t("importing.problem"), cell: explained },
        { name: t("importing.row"), cell: ({ subject }) => subject ?? "" },
      ]}
    />
  );
}

/** Rows beside others, with what they are as a heading. */
export const NamedRows = ({ label, errors }: Parameters<typeof RowErrors>[0]) => (
  <Stack gap={4}>
    <Text fw={600}>{label}</Text>
    <RowErrors label={label} errors={errors} />
  </Stack>
);

type FindingsProps = { readonly recognised: RecognisedTable; readonly warnings: readonly ValidationError[] };

/** What the file was read as, and rows that may be wrong. */
function Findings({ recognised, warnings }: FindingsProps) {
  const { t } = useTranslation();
  const { format, separator, encoding, decimalSeparator, sheet } = recognised;
  const parts =
    format === "xlsx"
      ? [t("importing.formats.xlsx", { sheet })]
      : [
          t(`importing.formats.${format}`),
          ...(separator === null ? [] : [t(`importing.separators.${separator}`)]),
          ...(decimalSeparator === "comma" ? [t("importing.decimalComma")] : []),
          ...(encoding === null ? [] : [encoding.toUpperCase()]),
        ];
  return (
    <>
      <Text size="sm" c="dimmed">
        {t("importing.recognised", { form: parts.join(", ") })}
      </Text>
      {warnings.length > 0 && <NamedRows label={t("importing.warnings")} errors={warnings} />}
    </>
  );
}

type ThingProps = {
  readonly kind: ThingKind;
  readonly label: string;
  readonly description: string;
  readonly error?: string | false;
  readonly value: string | null;
  readonly isBusy: boolean;
  readonly onChange: (id: string | null) => void;
};

/** What rows belong to that do not name it, found by its name. */
export function ThingOfRows({
  kind,
  label,
  description,
  error = false,
  value,
  isBusy,
  onChange,
}: ThingProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  const { data = [] } = useQuery({
    ...thingsQuery(kind, q === chosen?.label ? "" : q), // The field shows the name of what is chosen.
    placeholderData: keepPreviousData,
  });
  const found = data.map(({ id, name }) => ({ value: id, label: name }));
  const isElsewhere = chosen !== null && !found.some((option) => option.value === chosen.value);
  return (
    <Select
      maw={340}
      label={label}
      description={description}
      error={error}
      data={isElsewhere ? [chosen, ...found] : found}
      value={value}
      onChange={(id, option) => {
        setChosen(option === null ? null : { value: option.value, label: option.label });
        onChange(id);
      }}
      searchable
      clearable
      clearButtonProps={{ "aria-label": t("ui.clear") }}
      disabled={isBusy}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options} // The service has searched.
      nothingFoundMessage={t("palette.nothing")}
    />
  );
}

type FileDropProps = {
  readonly label: string;
  /** Names of the types that the browser offers. */
  readonly accept: string;
  readonly file: File | null;
  readonly isBusy: boolean;
  readonly choose: (file: File | null) => void;
  readonly children: ReactNode;
};

/** A field for a file, which can also be dropped on it, and what is chosen beside it. */
function FileDrop({ label, accept, file, isBusy, choose, children }: FileDropProps) {
  const { t } = useTranslation();
  return (
    <Stack
      gap="md"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const [dropped] = event.dataTransfer.files;
        if (dropped !== undefined && !isBusy) choose(dropped);
      }}
    >
      <Group gap="sm" align="center">
        <FileInput
          w={{ base: "100%", xs: 340 }}
          aria-label={[label, file?.name].filter(Boolean).join(": ")}
          placeholder={label}
          accept={accept}
          leftSection={<IconFileSpreadsheet size={16} />}
          value={file}
          onChange={choose}
          disabled={isBusy}
          clearable={!isBusy}
          clearButtonProps={{ "aria-label": t("ui.clear") }}
        />
        <Text size="sm" c="dimmed" visibleFrom="sm">
          {t("importing.drop")}
        </Text>
      </Group>
      {children}
    </Stack>
  );
}

type UploadingProps = {
  readonly state: Extract<ImportState<unknown>, { phase: "checking" | "storing" }>;
  readonly name: string;
  readonly cancel: () => void;
};

/** The service checks the file as it arrives: what is sent is what is checked, but for a few rows. Then it stores them. */
function Uploading({ state, name, cancel }: UploadingProps) {
  const { t } = useTranslation();
  const { phase, sent } = state;
  const stored = state.phase === "storing" ? state.stored : null;
  const isSent = sent.sent >= sent.total;
  const title = t(phase === "checking" ? "importing.checking" : "importing.storing", { file: name });
  const part = stored === null ? partOf(sent.sent, sent.total) : partOf(stored.stored, stored.total);
  return (
    <Section title={title}>
      <Progress value={part} animated={isSent && stored === null} aria-label={title} />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {stored !== null
            ? t("importing.stored", {
                stored: formatNumber(stored.stored),
                total: formatNumber(stored.total),
              })
            : isSent
              ? t("importing.rest")
              : t("importing.sent", { sent: formatBytes(sent.sent), total: formatBytes(sent.total) })}
        </Text>
        {/* What has arrived whole is stored, whether the page waits or not. */}
        {!(phase === "storing" && isSent) && (
          <Button size="xs" variant="default" onClick={cancel}>
            {t("importing.cancel")}
          </Button>
        )}
      </Group>
    </Section>
  );
}

const partOf = (done: number, total: number): number => (total === 0 ? 100 : (done / total) * 100);
