import IconAlertTriangle from "icon:alert-triangle";
import IconRefresh from "icon:refresh";
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Check, DatabaseState, System, SystemJob } from "../../api/schema.d.ts";
import { formatBytes, formatNumber } from "../../text/format.ts";
import { useFindingText, useSystemName } from "../../text/words.ts";
import { Facts } from "../../ui/facts.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { DueTime, Time } from "../../ui/time.tsx";
import { checksQuery, systemQuery } from "./queries.ts";

export function SystemPage() {
  const { t } = useTranslation();
  const nameOf = useSystemName();
  const { data: system } = useSuspenseQuery(systemQuery());
  return (
    <Page
      title={t("system.title")}
      about={
        <>
          {t("system.about")} {t("system.readAt")} <Time at={system.readAt} as="exact" />
        </>
      }
    >
      <Stack gap="md">
        {system.unreadable.length > 0 && (
          <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title={t("system.unreadable")}>
            {system.unreadable.map((name) => nameOf("checks", name)).join(", ")}
          </Alert>
        )}
        <ChecksSection />
        <QueuesSection queues={system.queues} />
        <JobsSection jobs={system.jobs} />
        <ProcessesSection processes={system.processes} />
        {system.database !== null && <DatabaseSection database={system.database} />}
      </Stack>
    </Page>
  );
}

function QueuesSection({ queues }: Pick<System, "queues">) {
  const { t } = useTranslation();
  const nameOf = useSystemName();
  return (
    <Section title={t("system.queues")}>
      <DataTable
        label={t("system.queues")}
        rows={queues}
        rowKey={({ name }) => name}
        columns={[
          { name: t("system.queue"), cell: ({ name }) => nameOf("queues", name) },
          {
            name: t("system.waiting"),
            // A queue that is not counted is empty if nothing in it is due.
            cell: ({ count, oldestDueAt }) =>
              count === null && oldestDueAt !== null ? t("system.notCounted") : formatNumber(count ?? 0),
            align: "right",
          },
          {
            name: t("system.oldest"),
            cell: ({ oldestDueAt }) => <Time at={oldestDueAt} as="relative" />,
            align: "right",
          },
        ]}
      />
    </Section>
  );
}

function ProcessesSection({ processes }: Pick<System, "processes">) {
  const { t } = useTranslation();
  if (processes.length === 0) return null; // None has reported itself: the section before says what that means.
  return (
    <Section title={t("system.processes")}>
      <DataTable
        label={t("system.processes")}
        rows={processes}
        rowKey={({ id }) => id}
        columns={[
          {
            name: t("system.process"),
            cell: ({ host, pid }) => (
              <Text span inherit ff="monospace">
                {host} · {pid}
              </Text>
            ),
          },
          {
            name: t("system.status"),
            cell: ({ status }) => <StatusBadge of="process" status={status} />,
          },
          { name: t("system.roles"), cell: ({ roles }) => roles.join(", ") },
          { name: t("system.version"), cell: ({ version }) => version, isMinor: true },
          { name: t("system.started"), cell: ({ startedAt }) => <Time at={startedAt} />, align: "right" },
          {
            name: t("system.seen"),
            cell: ({ seenAt }) => <Time at={seenAt} as="relative" />,
            align: "right",
          },
        ]}
      />
    </Section>
  );
}

function DatabaseSection({ database }: { database: DatabaseState }) {
  const { t } = useTranslation();
  const { version, sizeBytes, connectionCount, connectionsMax } = database;
  return (
    <Section title={t("system.database")}>
      <Facts
        of={[
          [t("system.postgres"), version],
          [t("system.size"), formatBytes(sizeBytes)],
          [t("system.connections"), `${formatNumber(connectionCount)} / ${formatNumber(connectionsMax)}`],
        ]}
      />
    </Section>
  );
}

const URGENCY = { fail: 0, warn: 1, ok: 2 } as const;

/** What `partner-orders-admin doctor` reports: what needs attention first, the rest as a number. */
function ChecksSection() {
  const { t } = useTranslation();
  const { data, error, refetch, isFetching } = useQuery(checksQuery());
  return (
    <Section
      title={t("system.checks")}
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={isFetching}
          onClick={() => void refetch()}
        >
          {t("system.checkAgain")}
        </Button>
      }
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data !== undefined && <Results checks={data.checks} />}
    </Section>
  );
}

function Results({ checks }: { checks: readonly Check[] }) {
  const { t } = useTranslation();
  const nameOf = useSystemName();
  const findingText = useFindingText();
  const findings = checks
    .filter(({ status }) => status !== "ok")
    .toSorted((one, other) => URGENCY[one.status] - URGENCY[other.status]);
  const passed = checks.filter(({ status }) => status === "ok");
  const number = (status: "fail" | "warn") => checks.filter((check) => check.status === status).length;
  const [problems, warnings] = [number("fail"), number("warn")];
  return (
    <Stack gap="xs">
      <Group gap="xs" role="status">
        {problems > 0 && <Pill tone="danger">{t("system.problems", { count: problems })}</Pill>}
        {warnings > 0 && <Pill tone="warning">{t("system.warnings", { count: warnings })}</Pill>}
        {findings.length === 0 && <Pill tone="success">{t("system.healthy")}</Pill>}
      </Group>
      {findings.length > 0 && (
        <DataTable
          label={t("system.checks")}
          rows={findings}
          rowKey={({ check, message }) => `${check} ${message}`}
          columns={[
            { name: t("system.check"), cell: ({ check }) => nameOf("checks", check) },
            { name: t("system.status"), cell: ({ status }) => <StatusBadge of="check" status={status} /> },
            { name: t("system.finding"), cell: findingText },
          ]}
        />
      )}
      <Text size="sm" c="dimmed">
        {t("system.passed", { count: passed.length })}
        {passed.length > 0 && `: ${passed.map(({ check }) => nameOf("checks", check)).join(", ")}`}
      </Text>
    </Stack>
  );
}

/** The background work of all workers. Failing jobs come first. */
function JobsSection({ jobs }: { jobs: readonly SystemJob[] }) {
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
