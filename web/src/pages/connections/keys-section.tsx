import IconKey from "icon:key";
import { Group, SegmentedControl, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Connection, Key } from "../../api/schema.d.ts";
import { endOf } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../ui/form/rotate-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
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

type KeyActionsProps = {
  readonly of: Key;
  /** Shows the text of a new key. */
  readonly onKey: (text: string) => void;
};

/** The actions on a key that is still valid. A key is replaced once. */
function KeyActions({ of, onKey }: KeyActionsProps) {
  const { revokedAt, expiresAt, replacedBy } = of;
  if (revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date())) return null;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {replacedBy === null && <RotateKey of={of} onKey={onKey} />}
      <RevokeKey of={of} />
    </Group>
  );
}

function RotateKey({ of: { id, prefix }, onKey }: KeyActionsProps) {
  const { t } = useTranslation();
  return (
    <RotateAction
      label={t("keys.rotate")}
      effect={t("keys.rotateEffect", { prefix })}
      done={t("keys.rotatedDone")}
      overlap={{ label: t("keys.overlapHours"), help: t("keys.overlapHelp") }}
      run={async (overlapHours) => {
        const rotated = await dataOf(
          api.POST("/api/keys/{id}/rotate", { params: { path: { id } }, body: { overlapHours } }),
        );
        onKey(rotated.key);
      }}
    />
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

type CreateProps = {
  readonly connection: Connection;
  /** Those that the person may create. */
  readonly modes: readonly Key["mode"][];
};

type KeyValues = { name: string; mode: "live" | "test"; expires: string };

function CreateKey({ connection: { id }, modes }: CreateProps) {
  const { t } = useTranslation();
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction<KeyValues>
        label={t("keys.create")}
        effect={t("keys.createEffect")}
        done={t("keys.createdDone")}
        icon={<IconKey size={14} />}
        initialValues={{ name: "", mode: modes[0] ?? "test", expires: "" }}
        fields={(form) => (
          <Stack gap="sm">
            <SegmentedControl
              aria-label={t("keys.mode")}
              data={modes.map((mode) => ({
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
