import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { SystemJob } from "../../api/schema.d.ts";
import { formatNumber } from "../../text/format.ts";
import { DueTime } from "../../ui/due-time.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { useSystemName } from "./names.ts";

/** The background work of all workers. Failing jobs come first. */
export function JobsSection({ jobs }: { jobs: readonly SystemJob[] }) {
  const { t } = useTranslation();
  const nameOf = useSystemName();
  const failingFirst = jobs.toSorted((one, other) => other.failureCount - one.failureCount);
  return (
    <Section title={t("system.jobs")}>
      {jobs.length === 0 ? (
        <Text size="sm">{t("system.noJobs")}</Text>
      ) : (
        <DataTable
          label={t("system.jobs")}
          rows={failingFirst}
          rowKey={({ name }) => name}
          columns={[
            { name: t("system.job"), cell: ({ name }) => <span title={name}>{nameOf("jobs", name)}</span> },
            { name: t("system.outcome"), cell: (job) => <Outcome job={job} /> },
            {
              name: t("system.duration"),
              cell: ({ lastDurationMs }) =>
                lastDurationMs === null ? "–" : `${formatNumber(Math.round(lastDurationMs))} ms`,
              align: "right",
              isMinor: true,
            },
            {
              name: t("system.lastRun"),
              cell: ({ lastStartedAt }) => <Time at={lastStartedAt} as="relative" />,
              align: "right",
            },
            {
              name: t("system.nextRun"),
              cell: ({ nextRunAt }) => <DueTime at={nextRunAt} />,
              align: "right",
            },
          ]}
        />
      )}
    </Section>
  );
}

function Outcome({ job: { lastError, failureCount, runningCount, lastItemCount } }: { job: SystemJob }) {
  const { t } = useTranslation();
  if (failureCount > 0)
    return (
      <>
        <Pill tone="danger">{t("system.failed", { count: failureCount })}</Pill> {lastError}
      </>
    );
  if (runningCount > 0) return <Pill tone="info">{t("system.running")}</Pill>;
  if (lastItemCount === null) return <Pill>{t("system.notRun")}</Pill>;
  return <Pill tone="success">{t("system.done", { count: lastItemCount })}</Pill>;
}
