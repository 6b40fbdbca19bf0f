import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { AuditEntry } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { PlainLink } from "../../ui/link.tsx";
import { DayFilter, Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Time } from "../../ui/time.tsx";
import { useActorKind } from "../orders/order-text.ts";
import classes from "./audit-page.module.css";
import { auditEntriesQuery, auditExportAddress } from "./queries.ts";

const route = getRouteApi("/signed-in/audit-log");

/** Ids beyond this are shown as a number: a list that was read has many. */
const SUBJECTS_SHOWN = 1;

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
          needsProof
          label={t("audit.download", { format: format.toUpperCase() })}
        />
      ))}
      filters={<AuditFilters />}
      rowKey={({ id }) => id}
      empty={isFiltered ? t("audit.emptyFiltered") : t("audit.empty")}
      columns={[
        { name: t("audit.time"), cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: t("audit.actor"), cell: ({ actor }) => <Who actor={actor} />, isName: true, phone: "below" },
        {
          name: t("audit.action"),
          cell: ({ action }) => <code className={classes["action"]}>{action}</code>,
          phone: "beside",
        },
        { name: t("audit.subjects"), cell: ({ subjectIds }) => <Subjects ids={subjectIds} />, drop: 3 },
        { name: t("audit.details"), cell: ({ details }) => detailsOf(details), isLong: true, drop: 2 },
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
function Who({ actor: { kind, name, id } }: { actor: AuditEntry["actor"] }) {
  const kindText = useActorKind();
  return (
    <>
      {name !== null && name !== "" && (
        <PlainLink to={paths.auditLog({ actor: id ?? name })}>{name}</PlainLink>
      )}{" "}
      <span className={classes["minor"]}>{kindText(kind)}</span>
    </>
  );
}

const Subjects = ({ ids }: { ids: readonly string[] }) => (
  <>
    {ids.slice(0, SUBJECTS_SHOWN).map((id) => (
      <PlainLink key={id} to={paths.auditLog({ subjectId: id })} className={classes["id"]}>
        {id}
      </PlainLink>
    ))}
    {ids.length > SUBJECTS_SHOWN && (
      <span className={classes["minor"]}> + {ids.length - SUBJECTS_SHOWN}</span>
    )}
  </>
);

/** The beginning is enough to see what belongs together. The whole id finds the request in the log. */
function RequestId({ of }: { of: string }) {
  const { t } = useTranslation();
  return (
    <span className={classes["request"]}>
      <span className={classes["id"]} title={of}>
        {of.length > 10 ? `${of.slice(0, 8)}…` : of}
      </span>
      <CopyButton value={of} of={t("audit.requestId")} />
    </span>
  );
}

const detailsOf = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join(" · ");

const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
