import { Button, Skeleton, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Check } from "../../api/schema.d.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { useFindingText, useSystemName } from "./names.ts";
import { checksQuery } from "./queries.ts";

const URGENCY = { fail: 0, warn: 1, ok: 2 } as const;

/** What `partner-orders-admin doctor` reports: what needs attention first, the rest as a number. */
export function ChecksSection() {
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
  const passed = checks.length - findings.length;
  return (
    <Stack gap="xs">
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
        {t("system.passed", { count: passed })}
      </Text>
    </Stack>
  );
}
