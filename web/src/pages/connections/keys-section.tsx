import { SegmentedControl, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Connection, Key } from "../../api/schema.d.ts";
import { endOf } from "../../text/days.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionKeysQuery } from "./queries.ts";

type Props = { readonly connection: Connection };

/** The keys with which the partner's programs authenticate. */
export function KeysSection({ connection }: Props) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(connectionKeysQuery(connection.id));
  const mayChange = useHasRole("operator", "merchant");
  return (
    <Section title={t("keys.title")} actions={mayChange && <CreateKey connection={connection} />}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("keys.empty")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && <KeyTable keys={data.data} mayChange={mayChange} />}
    </Section>
  );
}

function KeyTable({ keys, mayChange }: { keys: readonly Key[]; mayChange: boolean }) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t("keys.title")}
      rows={keys}
      rowKey={({ id }) => id}
      columns={[
        {
          name: t("keys.key"),
          cell: ({ prefix }) => (
            <Text span inherit ff="monospace">
              {prefix}…
            </Text>
          ),
        },
        { name: t("keys.name"), cell: ({ name }) => name ?? "–" },
        {
          name: t("keys.mode"),
          cell: ({ mode }) => (
            <Pill tone={mode === "live" ? "info" : "neutral"}>{t(`keys.modes.${mode}`)}</Pill>
          ),
        },
        { name: t("keys.state"), cell: (key) => <KeyState of={key} /> },
        { name: t("keys.created"), cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
        {
          name: t("keys.actions"),
          cell: (key) => mayChange && key.revokedAt === null && <RevokeKey of={key} />,
          align: "right",
        },
      ]}
    />
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

function RevokeKey({ of: { id, prefix } }: { of: Key }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("keys.revoke")}
      effect={t("keys.revokeEffect", { prefix })}
      done={t("keys.revokedDone")}
      isDanger
      run={() => dataOf(api.POST("/api/keys/{id}/revoke", { params: { path: { id } } }))}
    />
  );
}

type KeyValues = { name: string; mode: "live" | "test"; expires: string };

function CreateKey({ connection: { id } }: Props) {
  const { t } = useTranslation();
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction<KeyValues>
        label={t("keys.create")}
        effect={t("keys.createEffect")}
        done={t("keys.createdDone")}
        icon={<IconKey size={14} />}
        initialValues={{ name: "", mode: "live", expires: "" }}
        fields={(form) => (
          <Stack gap="sm">
            <SegmentedControl
              aria-label={t("keys.mode")}
              data={(["live", "test"] as const).map((mode) => ({
                value: mode,
                label: t(`keys.modes.${mode}`),
              }))}
              {...form.getInputProps("mode")}
            />
            <Text size="xs" c="dimmed">
              {t(`keys.modeHelp.${form.values.mode}`)}
            </Text>
            <TextInput
              label={t("keys.name")}
              description={t("keys.nameHelp")}
              data-autofocus
              {...form.getInputProps("name")}
            />
            <TextInput
              type="date"
              label={t("keys.expires")}
              description={t("keys.expiresHelp")}
              {...form.getInputProps("expires")}
              error={form.errors["expires"] ?? form.errors["expiresAt"]}
            />
          </Stack>
        )}
        run={async ({ name, mode, expires }) => {
          const issued = await dataOf(
            api.POST("/api/connections/{id}/keys", {
              params: { path: { id } },
              body: { mode, ...filled({ name }), ...(expires !== "" && { expiresAt: endOf(expires) }) },
            }),
          );
          setKey(issued.key);
        }}
      />
      <ShownOnce title={t("keys.new")} about={t("keys.newAbout")} value={key} onClose={() => setKey(null)} />
    </>
  );
}
