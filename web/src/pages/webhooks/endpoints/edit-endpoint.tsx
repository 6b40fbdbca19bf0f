import { Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ownerKindOf, ownerRoute } from "../owner.ts";
import { EndpointFields, type EndpointValues } from "./endpoint-fields.tsx";
import type { ShownEndpoint } from "./shown-endpoint.ts";

type Props = { readonly ownerId: string; readonly endpoint: ShownEndpoint };

/** What stands for the query of an address that the person may not see. */
const HIDDEN = "?…";

/** Changes what was set at the creation. The secret and the log stay. */
export function EditEndpoint({ ownerId, endpoint }: Props) {
  const { t } = useTranslation();
  const { id, url, description, eventTypes, maxInFlight } = endpoint;
  const isHidden = url.endsWith(HIDDEN);
  return (
    <ConfirmAction<EndpointValues>
      label={t("endpoints.edit")}
      confirm={t("endpoints.save")}
      effect={t(isHidden ? "endpoints.editHidden" : "endpoints.editEffect")}
      done={t("endpoints.edited")}
      initialValues={{ url, description: description ?? "", eventTypes, maxInFlight }}
      validate={(values) => ({
        ...(values.url.trim() === "" && { url: t("ui.required") }),
        ...(values.url.trim() !== url && values.url.includes("…") && { url: t("endpoints.wholeAddress") }),
        ...(values.eventTypes.length === 0 && { eventTypes: t("ui.required") }),
        ...(values.maxInFlight === "" && { maxInFlight: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <EndpointFields form={form} kind={ownerKindOf(ownerId)} typesHelp={t("endpoints.editTypesHelp")} />
        </Stack>
      )}
      run={(_, { changed }) =>
        dataOf(
          api.PATCH(ownerRoute(ownerId, "/webhook-endpoints/{endpointId}"), {
            params: { path: { id: ownerId, endpointId: id } },
            body: {
              ...(changed.url !== undefined && { url: changed.url }),
              ...(changed.description !== undefined && { description: changed.description || null }),
              // The field offers the types of the owner.
              ...(changed.eventTypes !== undefined && { eventTypes: changed.eventTypes as never[] }),
              ...(changed.maxInFlight !== undefined && { maxInFlight: Number(changed.maxInFlight) }),
            },
          }),
        )
      }
    />
  );
}
