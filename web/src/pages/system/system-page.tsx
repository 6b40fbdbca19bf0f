import { Alert, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { DatabaseState, System } from "../../api/schema.d.ts";
import { formatBytes, formatNumber } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ChecksSection } from "./checks-section.tsx";
import { JobsSection } from "./jobs-section.tsx";
import { useSystemName } from "./names.ts";
import { systemQuery } from "./queries.ts";

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
