import { Code, Group, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { AuditEntry } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { TextLink } from "../../ui/link.tsx";
import { DayFilter } from "../../ui/list/day-filter.tsx";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Time } from "../../ui/time.tsx";
import { auditEntriesQuery, auditExportAddress } from "./queries.ts";

const route = getRouteApi("/signed-in/audit-log");

/** Ids beyond these are shown as a number: a list that was read has many. */
const SUBJECTS_SHOWN = 3;

export function AuditPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListPage
      title={t("audit.title")}
      about={t("audit.about")}
      query={auditEntriesQuery(search)}
      actions={(["csv", "ndjson"] as const).map((format) => (
        <DownloadButton
          key={format}
          address={auditExportAddress(search, format)}
          label={t("audit.download", { format: format.toUpperCase() })}
        />
      ))}
      filters={<AuditFilters />}
      rowKey={({ id }) => id}
      empty={isFiltered ? t("audit.emptyFiltered") : t("audit.empty")}
      columns={[
        { name: t("audit.time"), cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: t("audit.actor"), cell: ({ actor }) => <Who actor={actor} /> },
        { name: t("audit.action"), cell: ({ action }) => <Code>{action}</Code> },
        { name: t("audit.subjects"), cell: ({ subjectIds }) => <Subjects ids={subjectIds} /> },
        { name: t("audit.details"), cell: ({ details }) => <Details of={details} /> },
        {
          name: t("audit.requestId"),
          cell: ({ requestId }) => requestId && <RequestId of={requestId} />,
          isMinor: true,
        },
      ]}
    />
  );
}

function AuditFilters() {
  const { t } = useTranslation();
  const { actor, action, subjectId, from, to } = route.useSearch();
  return (
    <Filters>
      <SearchFilter label={t("audit.byActor")} name="actor" value={actor} />
      <SearchFilter label={t("audit.byAction")} name="action" value={action} />
      <SearchFilter label={t("audit.bySubject")} name="subjectId" value={subjectId} />
      <DayFilter label={t("audit.from")} name="from" value={from} />
      <DayFilter label={t("audit.to")} name="to" value={to} />
    </Filters>
  );
}

/** A name leads to everything that this person or program did. */
const Who = ({ actor: { kind, name, id } }: { actor: AuditEntry["actor"] }) => (
  <Stack gap={0}>
    {name !== null && name !== "" && (
      <TextLink to={paths.auditLog({ actor: id ?? name })} lh="24px">
        {name}
      </TextLink>
    )}
    <Text span size="xs" c="dimmed">
      {kind}
    </Text>
  </Stack>
);

const Subjects = ({ ids }: { ids: readonly string[] }) => (
  <Stack gap={0}>
    {ids.slice(0, SUBJECTS_SHOWN).map((id) => (
      <TextLink key={id} to={paths.auditLog({ subjectId: id })} ff="monospace" size="xs" lh="24px">
        {id}
      </TextLink>
    ))}
    {ids.length > SUBJECTS_SHOWN && (
      <Text span size="xs" c="dimmed">
        + {ids.length - SUBJECTS_SHOWN}
      </Text>
    )}
  </Stack>
);

/** The beginning is enough to see what belongs together. The whole id finds the request in the log. */
function RequestId({ of }: { of: string }) {
  const { t } = useTranslation();
  return (
    <Group gap={2} wrap="nowrap">
      <Text span size="xs" ff="monospace" title={of}>
        {of.length > 10 ? `${of.slice(0, 8)}…` : of}
      </Text>
      <CopyButton value={of} of={t("audit.requestId")} />
    </Group>
  );
}

const Details = ({ of }: { of: AuditEntry["details"] }) =>
  Object.entries(of).map(([name, value]) => (
    <Text key={name} size="xs" style={{ overflowWrap: "anywhere" }}>
      {name}: {textOf(value)}
    </Text>
  ));

const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
