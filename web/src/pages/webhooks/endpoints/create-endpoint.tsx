import { SegmentedControl, Stack } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { ownerKindOf, ownerRoute } from "../owner.ts";
import { EndpointFields, type EndpointValues } from "./endpoint-fields.tsx";
import { OwnerField } from "./owner-field.tsx";

type Values = EndpointValues & { owner: string; mode: "live" | "test" };

/** As the service has it for a new endpoint. */
const IN_FLIGHT_DEFAULT = 8;

/**
 * Registers an address for events, and shows its signing secret once.
 * @param ownerId undefined: the dialog lets the person choose
 */
export function CreateEndpoint({ ownerId }: { ownerId?: string }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction<Values>
        label={t("endpoints.create")}
        effect={t("endpoints.createEffect")}
        done={t("endpoints.createdDone")}
        icon={<IconPlus size={14} />}
        initialValues={{
          owner: ownerId ?? "",
          url: "",
          description: "",
          mode: "live",
          eventTypes: [],
          maxInFlight: IN_FLIGHT_DEFAULT,
        }}
        validate={({ owner, url }) => ({
          ...(owner === "" && { owner: t("ui.required") }),
          ...(url.trim() === "" && { url: t("ui.required") }),
        })}
        fields={(form) => {
          const kind = ownerKindOf(form.values.owner);
          return (
            <Stack gap="sm">
              {ownerId === undefined && (
                <OwnerField
                  value={form.values.owner}
                  error={form.errors["owner"]}
                  onChange={(owner) => form.setValues({ owner, eventTypes: [] })}
                />
              )}
              <EndpointFields form={form} kind={kind} typesHelp={t(`endpoints.typesHelp.${kind}`)} />
              {kind === "connection" && (
                <SegmentedControl
                  aria-label={t("endpoints.mode")}
                  data={(["live", "test"] as const).map((mode) => ({
                    value: mode,
                    label: t(`keys.modes.${mode}`),
                  }))}
                  {...form.getInputProps("mode")}
                />
              )}
            </Stack>
          );
        }}
        run={async ({ owner, url, description, mode, eventTypes, maxInFlight }) => {
          const endpoint = await dataOf(
            api.POST(ownerRoute(owner, "/webhook-endpoints"), {
              params: { path: { id: owner } },
              body: {
                url: url.trim(),
                ...(ownerKindOf(owner) === "connection" && { mode }),
                ...filled({ description }),
                // The field offers the types of the owner.
                ...(eventTypes.length > 0 && { eventTypes: eventTypes as never[] }),
                ...(maxInFlight !== "" && { maxInFlight: Number(maxInFlight) }),
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
