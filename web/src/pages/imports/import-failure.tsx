import { Alert, Button, Code, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconDownload } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import { explained } from "../../text/explanations.ts";
import { formatNumber } from "../../text/format.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { csvOf } from "./csv-of.ts";
import { UnknownOutcome, UnreadableFile } from "./upload-file.ts";

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
