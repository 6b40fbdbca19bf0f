import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Connection, Key } from "../../api/schema.d.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateKey, KeyActions } from "./key-actions.tsx";
import { connectionKeysQuery } from "./queries.ts";

type Props = { readonly connection: Connection };

/** The keys with which the partner's programs authenticate. */
export function KeysSection({ connection }: Props) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(connectionKeysQuery(connection.id));
  const ownsKeys = useHasRole("operator", "merchant");
  // A partner's developers manage the keys with which they test, and no others (docs/design/people.md, "Partners' developers").
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Section
      title={t("keys.title")}
      actions={
        mayChange &&
        connection.endsAt === null && (
          <CreateKey connection={connection} modes={ownsKeys ? ["live", "test"] : ["test"]} />
        )
      }
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("keys.empty")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <KeyTable keys={data.data} changeable={ownsKeys ? ["live", "test"] : mayChange ? ["test"] : []} />
      )}
    </Section>
  );
}

function KeyTable({ keys, changeable }: { keys: readonly Key[]; changeable: readonly Key["mode"][] }) {
  const { t } = useTranslation();
  const [newKey, setNewKey] = useState<string | null>(null);
  return (
    <>
      <DataTable
        label={t("keys.title")}
        rows={keys}
        rowKey={({ id }) => id}
        columns={[
          {
            name: t("keys.key"),
            cell: ({ prefix, name }) => (
              <>
                <Text span inherit ff="monospace">
                  {prefix}…
                </Text>
                {name !== null && (
                  <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                    {name}
                  </Text>
                )}
              </>
            ),
          },
          {
            name: t("keys.state"),
            cell: (key) => (
              <>
                <Pill tone={key.mode === "live" ? "info" : "neutral"}>{t(`keys.modes.${key.mode}`)}</Pill>{" "}
                <KeyState of={key} />
              </>
            ),
          },
          {
            name: t("keys.lastUsed"),
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? t("keys.neverUsed") : <Time at={lastUsedAt} as="relative" />,
          },
          { name: t("keys.created"), cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
          {
            name: t("keys.actions"),
            cell: (key) => changeable.includes(key.mode) && <KeyActions of={key} onKey={setNewKey} />,
            align: "right",
          },
        ]}
      />
      <ShownOnce
        title={t("keys.new")}
        about={t("keys.newAbout")}
        value={newKey}
        onClose={() => setNewKey(null)}
      />
    </>
  );
}

function KeyState({ of: { revokedAt, expiresAt } }: { of: Key }) {
  const { t } = useTranslation();
  if (revokedAt !== null) return <Pill>{t("keys.revoked")}</Pill>;
  if (expiresAt === null) return <Pill tone="success">{t("keys.valid")}</Pill>;
  const isOver = new Date(expiresAt) <= new Date();
  return (
    <>
      <Pill tone={isOver ? "neutral" : "success"}>{t(isOver ? "keys.expired" : "keys.validUntil")}</Pill>{" "}
      <Time at={expiresAt} />
    </>
  );
}
