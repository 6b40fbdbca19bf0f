import { NumberInput, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Certification, CertificationCheck, Connection } from "../../api/schema.d.ts";
import { shortTime } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { certificationsQuery } from "./queries.ts";

/** How the partner's program has done when it was examined, and whether a live key needs it. */
export function CertificationSection({ connection }: { connection: Connection }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(certificationsQuery(connection.id));
  const mayChange = useHasRole("operator", "merchant");
  const { certificationMaxAgeDays: days, certifiedAt } = connection;
  return (
    <Section
      title={t("certification.title")}
      actions={mayChange && <ChangeRequirement connection={connection} />}
    >
      <Facts
        of={[
          [
            t("certification.required"),
            days === null ? t("certification.notRequired") : t("certification.within", { count: days }),
          ],
          [
            t("certification.passedAt"),
            certifiedAt === null ? t("certification.never") : <Time key="passed" at={certifiedAt} />,
          ],
        ]}
      />
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("certification.empty")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && <Reports runs={data.data} />}
    </Section>
  );
}

/** The newest report, or the one that is chosen. */
function Reports({ runs }: { runs: readonly Certification[] }) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<string | null>(null);
  const run = runs.find(({ id }) => id === chosen) ?? runs[0];
  if (run === undefined) return null;
  return (
    <Stack gap="sm">
      <Select
        label={t("certification.run")}
        data={runs.map(({ id, createdAt, status }) => ({
          value: id,
          label: `${shortTime(new Date(createdAt), new Date())} · ${t(`status.certification.${status}`)}`,
        }))}
        value={run.id}
        onChange={setChosen}
        allowDeselect={false}
      />
      {run.reason !== null && (
        <Text size="sm" lang="en">
          {run.reason}
        </Text>
      )}
      <DataTable
        label={t("certification.report")}
        rows={run.checks}
        rowKey={({ check }) => check}
        columns={[
          {
            name: t("certification.check"),
            cell: ({ check }) => t(`certification.checks.${check}`),
          },
          {
            name: t("certification.result"),
            cell: ({ result }) => <StatusBadge of="certificationCheck" status={result} />,
          },
          { name: t("certification.seen"), cell: (check) => <Seen of={check} /> },
        ]}
      />
    </Stack>
  );
}

/** The report is written for the partner's developers, in English. What passed needs no advice. */
const Seen = ({ of: { result, seen, why, remedy } }: { of: CertificationCheck }) => (
  <Stack gap={2} lang="en" style={{ overflowWrap: "anywhere" }}>
    <Text span size="sm">
      {seen ?? "–"}
    </Text>
    {(result === "failed" || result === "advice") && (
      <Text span size="xs" c="dimmed">
        {why} {remedy}
      </Text>
    )}
  </Stack>
);

/** An empty field requires nothing. */
function ChangeRequirement({ connection: { id, certificationMaxAgeDays } }: { connection: Connection }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{ certificationMaxAgeDays: number | string }>
      label={t("certification.change")}
      effect={t("certification.changeEffect")}
      done={t("certification.changed")}
      initialValues={{ certificationMaxAgeDays: certificationMaxAgeDays ?? "" }}
      fields={(form) => (
        <NumberInput
          label={t("certification.maxAge")}
          description={t("certification.maxAgeHelp")}
          min={1}
          max={3650}
          allowDecimal={false}
          data-autofocus
          {...form.getInputProps("certificationMaxAgeDays")}
        />
      )}
      run={({ certificationMaxAgeDays: days }) =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { certificationMaxAgeDays: days === "" ? null : Number(days) },
          }),
        )
      }
    />
  );
}
