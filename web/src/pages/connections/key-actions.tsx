import { Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Connection, Key } from "../../api/schema.d.ts";
import { endOf } from "../../text/days.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../ui/form/rotate-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { ShownOnce } from "../../ui/shown-once.tsx";

type Props = {
  readonly of: Key;
  /** Shows the text of a new key. */
  readonly onKey: (text: string) => void;
};

/** The actions on a key that is still valid. A key is replaced once. */
export function KeyActions({ of, onKey }: Props) {
  const { revokedAt, expiresAt, replacedBy } = of;
  if (revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date())) return null;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {replacedBy === null && <RotateKey of={of} onKey={onKey} />}
      <RevokeKey of={of} />
    </Group>
  );
}

function RotateKey({ of: { id, prefix }, onKey }: Props) {
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

export function CreateKey({ connection: { id }, modes }: CreateProps) {
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
