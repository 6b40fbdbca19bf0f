import { Modal, UnstyledButton } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEntry } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { useActorKind } from "../../text/words.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { PlainLink } from "../../ui/link.tsx";
import { DayFilter, Filters, SearchFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Time } from "../../ui/time.tsx";
import classes from "./audit-page.module.css";
import { useOperationNames } from "./operation-names.ts";
import { auditEntriesQuery, auditExportAddress, KINDS, kindOf } from "./queries.ts";

const route = getRouteApi("/signed-in/audit-log");

/** Ids beyond this are shown as a number: a list that was read has many. */
const SUBJECTS_SHOWN = 1;

export function AuditPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { nameOf, find } = useOperationNames();
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const isFiltered = Object.keys(search).length > 0;
  // What is typed is a name in words or a part of one. Without such a name the service looks for what was typed.
  const actions = search.action === undefined ? undefined : find(search.action).join(",") || search.action;
  const filters = { ...search, action: actions };
  return (
    <>
      <ListPage
        title={t("audit.title")}
        query={auditEntriesQuery(filters)}
        actions={(["xlsx", "ndjson"] as const).map((format) => (
          <DownloadButton
            key={format}
            address={auditExportAddress(filters, format)}
            needsProof
            label={t("audit.download", { format: format.toUpperCase() })}
          />
        ))}
        filters={<AuditFilters />}
        rowKey={({ id }) => id}
        empty={isFiltered ? t("audit.emptyFiltered") : t("audit.empty")}
        columns={[
          { name: t("audit.time"), cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            name: t("audit.actor"),
            cell: ({ actor }) => <Who actor={actor} />,
            isName: true,
            phone: "below",
          },
          {
            name: t("audit.action"),
            cell: ({ action }) => <span title={action}>{nameOf(action)}</span>,
            phone: "beside",
          },
          { name: t("audit.subjects"), cell: ({ subjectIds }) => <Subjects ids={subjectIds} />, drop: 3 },
          {
            name: t("audit.details"),
            cell: (entry) => (
              <UnstyledButton
                className={classes["details"] ?? ""}
                aria-haspopup="dialog"
                onClick={() => setShown(entry)}
              >
                {detailsOf(entry.details) || t("audit.show")}
              </UnstyledButton>
            ),
            isLong: true,
            drop: 2,
          },
        ]}
      />
      <Modal
        opened={shown !== null}
        onClose={() => setShown(null)}
        title={shown === null ? "" : nameOf(shown.action)}
        closeButtonProps={{ "aria-label": t("ui.close") }}
      >
        {shown !== null && <Entry of={shown} />}
      </Modal>
    </>
  );
}

function AuditFilters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { actor, action, subjectId, from, to } = search;
  return (
    <Filters>
      <SearchFilter label={t("audit.byAction")} name="action" value={action} />
      <SelectFilter
        label={t("audit.kind")}
        name="kind"
        value={kindOf(search)}
        options={KINDS.map((value) => ({ value, label: t(`audit.kinds.${value}`) }))}
      />
      <SearchFilter label={t("audit.byActor")} name="actor" value={actor} />
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

/** All that is known of an entry. Its request id finds the request in the log of the service. */
function Entry({ of: { createdAt, actor, action, subjectIds, details, requestId } }: { of: AuditEntry }) {
  const { t } = useTranslation();
  return (
    <Facts
      of={[
        [t("audit.time"), <Time key="time" at={createdAt} as="exact" />],
        [t("audit.actor"), <Who key="actor" actor={actor} />],
        [t("audit.action"), <code key="action">{action}</code>],
        ...(subjectIds.length > 0
          ? [[t("audit.subjects"), <Ids key="subjects" of={subjectIds} />] as const]
          : []),
        ...Object.entries(details).map(([name, value]) => [name, textOf(value)] as const),
        ...(requestId === null ? [] : [[t("audit.requestId"), <Ids key="id" of={[requestId]} />] as const]),
      ]}
    />
  );
}

const Ids = ({ of }: { of: readonly string[] }) =>
  of.map((id) => (
    <div key={id} className={classes["request"]}>
      <span className={classes["id"]}>{id}</span>
      <CopyButton value={id} of={id} />
    </div>
  ));

const detailsOf = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join(" · ");

const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
