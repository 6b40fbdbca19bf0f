import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { paths } from "../../../paths.ts";
import { startOf } from "../../../text/days.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../../ui/form/rotate-action.tsx";
import { useGo } from "../../../ui/link.tsx";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { EVENT_TYPES, type OwnedEventType } from "../filter-values.ts";
import { ownerKindOf, ownerRoute } from "../owner.ts";
import { EditEndpoint } from "./edit-endpoint.tsx";
import type { ShownEndpoint } from "./shown-endpoint.ts";

type Props = { readonly ownerId: string; readonly endpoint: ShownEndpoint };

const paramsOf = ({ ownerId, endpoint }: Props) => ({
  params: { path: { id: ownerId, endpointId: endpoint.id } },
});

export function EndpointActions(props: Props) {
  const { endpoint } = props;
  return (
    <>
      {(endpoint.status === "paused" || endpoint.backingOffUntil !== null) && <ResumeAction {...props} />}
      <PingAction {...props} />
      <RecoverAction {...props} />
      <EditEndpoint {...props} />
      <RotateSecret {...props} />
      {endpoint.status === "active" && <PauseAction {...props} />}
      <DeleteAction {...props} />
    </>
  );
}

/** A ping, or a sample of a type of event. Its delivery opens, where the attempt appears. */
function PingAction(props: Props) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction<{ type: OwnedEventType | null }>
      label={t("endpoints.ping")}
      effect={t("endpoints.pingEffect")}
      done={t("endpoints.pinged")}
      initialValues={{ type: null }}
      fields={(form) => (
        <Select
          label={t("endpoints.sampleOf")}
          placeholder="webhook.ping"
          data={[...EVENT_TYPES[ownerKindOf(props.ownerId)]]}
          searchable
          clearable
          {...form.getInputProps("type")}
        />
      )}
      run={async ({ type }) => {
        const delivery = await dataOf(
          api.POST(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}/ping"), {
            ...paramsOf(props),
            // The dialog offers the types of the owner.
            body: type === null ? {} : { type: type as never },
          }),
        );
        await go(paths.delivery(props.ownerId, delivery.id));
      }}
    />
  );
}

function RotateSecret(props: Props) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <RotateAction
        label={t("endpoints.rotate")}
        effect={t("endpoints.rotateEffect")}
        done={t("endpoints.rotated")}
        overlap={{ label: t("endpoints.overlapHours"), help: t("endpoints.overlapHelp") }}
        run={async (overlapHours) => {
          const rotated = await dataOf(
            api.POST(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}/rotate-secret"), {
              ...paramsOf(props),
              body: { overlapHours },
            }),
          );
          setSecret(rotated.secret);
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

function RecoverAction(props: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{ since: string }>
      label={t("endpoints.recover")}
      effect={t("endpoints.recoverEffect")}
      done={t("endpoints.recovered")}
      initialValues={{ since: "" }}
      validate={({ since }) => (since === "" ? { since: t("ui.required") } : {})}
      fields={(form) => (
        <TextInput
          type="date"
          label={t("endpoints.since")}
          description={t("endpoints.sinceHelp")}
          required
          data-autofocus
          {...form.getInputProps("since")}
        />
      )}
      run={({ since }) =>
        dataOf(
          api.POST(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}/recover"), {
            ...paramsOf(props),
            body: { since: startOf(since) },
          }),
        )
      }
    />
  );
}

function PauseAction(props: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("endpoints.pause")}
      effect={t("endpoints.pauseEffect")}
      done={t("endpoints.paused")}
      run={() =>
        dataOf(api.POST(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}/pause"), paramsOf(props)))
      }
    />
  );
}

function ResumeAction(props: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("endpoints.resume")}
      effect={t("endpoints.resumeEffect")}
      done={t("endpoints.resumed")}
      isPrimary
      run={() =>
        dataOf(api.POST(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}/resume"), paramsOf(props)))
      }
    />
  );
}

function DeleteAction(props: Props) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction
      label={t("endpoints.delete")}
      effect={t("endpoints.deleteEffect")}
      done={t("endpoints.deleted")}
      isDanger
      run={async () => {
        await dataOf(
          api.DELETE(ownerRoute(props.ownerId, "/webhook-endpoints/{endpointId}"), paramsOf(props)),
        );
        await go(paths.owner(props.ownerId), { replace: true });
      }}
    />
  );
}
