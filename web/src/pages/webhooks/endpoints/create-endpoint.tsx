import { MultiSelect, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { EventType } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { EVENT_TYPES } from "../filter-values.ts";

type Values = { url: string; description: string; mode: "live" | "test"; eventTypes: EventType[] };

/** Registers an address for events, and shows its signing secret once. */
export function CreateEndpoint({ connectionId }: { connectionId: string }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction<Values>
        label={t("endpoints.create")}
        effect={t("endpoints.createEffect")}
        done={t("endpoints.createdDone")}
        icon={<IconPlus size={14} />}
        initialValues={{ url: "", description: "", mode: "live", eventTypes: [] }}
        validate={({ url }) => (url.trim() === "" ? { url: t("ui.required") } : {})}
        fields={(form) => (
          <Stack gap="sm">
            <TextInput
              label={t("endpoints.url")}
              description={t("endpoints.urlHelp")}
              placeholder="https://"
              inputMode="url"
              required
              data-autofocus
              {...form.getInputProps("url")}
            />
            <SegmentedControl
              aria-label={t("endpoints.mode")}
              data={(["live", "test"] as const).map((mode) => ({
                value: mode,
                label: t(`keys.modes.${mode}`),
              }))}
              {...form.getInputProps("mode")}
            />
            <MultiSelect
              label={t("endpoints.eventTypes")}
              description={t("endpoints.eventTypesHelp")}
              data={[...EVENT_TYPES]}
              searchable
              clearable
              {...form.getInputProps("eventTypes")}
            />
            <TextInput
              label={t("endpoints.description")}
              maxLength={255}
              {...form.getInputProps("description")}
            />
          </Stack>
        )}
        run={async ({ url, description, mode, eventTypes }) => {
          const endpoint = await dataOf(
            api.POST("/api/connections/{id}/webhook-endpoints", {
              params: { path: { id: connectionId } },
              body: {
                url: url.trim(),
                mode,
                ...filled({ description }),
                ...(eventTypes.length > 0 && { eventTypes }),
              },
            }),
          );
          setSecret(endpoint.secret);
        }}
      />
      <ShownOnce
        title={t("endpoints.secret")}
        about={t("endpoints.secretAbout")}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}
