import { Alert, Button, Code, FileInput, Group, Progress, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconDownload, IconFileSpreadsheet } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import { explained } from "../../text/explanations.ts";
import { formatBytes, formatNumber } from "../../text/format.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { csvOf } from "./csv-of.ts";
import { type ImportState, UnknownOutcome, UnreadableFile } from "./use-import.ts";

type Props = { readonly error: unknown; readonly retry: () => void };

/** Why nothing is imported: the lines of the file that are wrong, or what went wrong on the way. */
export function ImportFailure({ error, retry }: Props) {
  const { t } = useTranslation();
  if (error instanceof ApiProblem && error.errors.some(({ line }) => line !== undefined))
    return <LineErrors problem={error} retry={retry} />;
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
  retry,
}: {
  problem: ApiProblem;
  retry: () => void;
}) {
  const { t } = useTranslation();
  // The description of the problem says so.
  const count = typeof members["errorCount"] === "number" ? members["errorCount"] : errors.length;
  const download = () => {
    const rows = errors.map((error) => [String(error.line), error.column ?? "", explained(error)]);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csvOf([["line", "column", "problem"], ...rows])]));
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
      <DataTable
        label={t("importing.errorsTitle")}
        rows={errors}
        rowKey={({ line, column, detail }) => `${line} ${column} ${detail}`}
        columns={[
          { name: t("importing.line"), cell: ({ line }) => (line === undefined ? "" : formatNumber(line)) },
          {
            name: t("importing.column"),
            cell: ({ column }) => (column === undefined ? t("importing.wholeRow") : <Code>{column}</Code>),
          },
          { name: t("importing.problem"), cell: explained },
        ]}
      />
    </Section>
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
export function FileDrop({ label, accept, file, isBusy, choose, children }: FileDropProps) {
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
export function Uploading({ state, name, cancel }: UploadingProps) {
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
