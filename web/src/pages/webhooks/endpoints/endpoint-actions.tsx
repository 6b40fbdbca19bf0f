import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { BackOfficeWebhookEndpoint, EventType } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { startOf } from "../../../text/days.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../../ui/form/rotate-action.tsx";
import { useGo } from "../../../ui/link.tsx";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { EVENT_TYPES } from "../filter-values.ts";

type Props = { readonly endpoint: BackOfficeWebhookEndpoint };

const paramsOf = ({ connectionId, id }: BackOfficeWebhookEndpoint) => ({
  params: { path: { id: connectionId, endpointId: id } },
});

export function EndpointActions({ endpoint }: Props) {
  return (
    <>
      {(endpoint.status === "paused" || endpoint.backingOffUntil !== null) && (
        <ResumeAction endpoint={endpoint} />
      )}
      <PingAction endpoint={endpoint} />
      <RecoverAction endpoint={endpoint} />
      <RotateSecret endpoint={endpoint} />
      {endpoint.status === "active" && <PauseAction endpoint={endpoint} />}
      <DeleteAction endpoint={endpoint} />
    </>
  );
}

/** A ping, or a sample of a type of event. Its delivery opens, where the attempt appears. */
function PingAction({ endpoint }: Props) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction<{ type: EventType | null }>
      label={t("endpoints.ping")}
      effect={t("endpoints.pingEffect")}
      done={t("endpoints.pinged")}
      initialValues={{ type: null }}
      fields={(form) => (
        <Select
          label={t("endpoints.sampleOf")}
          placeholder="webhook.ping"
          data={[...EVENT_TYPES]}
          searchable
          clearable
          {...form.getInputProps("type")}
        />
      )}
      run={async ({ type }) => {
        const delivery = await dataOf(
          api.POST("/api/connections/{id}/webhook-endpoints/{endpointId}/ping", {
            ...paramsOf(endpoint),
            body: type === null ? {} : { type },
          }),
        );
        await go(paths.delivery(endpoint.connectionId, delivery.id));
      }}
    />
  );
}

function RotateSecret({ endpoint }: Props) {
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
            api.POST("/api/connections/{id}/webhook-endpoints/{endpointId}/rotate-secret", {
              ...paramsOf(endpoint),
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

function RecoverAction({ endpoint }: Props) {
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
          api.POST("/api/connections/{id}/webhook-endpoints/{endpointId}/recover", {
            ...paramsOf(endpoint),
            body: { since: startOf(since) },
          }),
        )
      }
    />
  );
}

function PauseAction({ endpoint }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("endpoints.pause")}
      effect={t("endpoints.pauseEffect")}
      done={t("endpoints.paused")}
      run={() =>
        dataOf(api.POST("/api/connections/{id}/webhook-endpoints/{endpointId}/pause", paramsOf(endpoint)))
      }
    />
  );
}

function ResumeAction({ endpoint }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("endpoints.resume")}
      effect={t("endpoints.resumeEffect")}
      done={t("endpoints.resumed")}
      isPrimary
      run={() =>
        dataOf(api.POST("/api/connections/{id}/webhook-endpoints/{endpointId}/resume", paramsOf(endpoint)))
      }
    />
  );
}

function DeleteAction({ endpoint }: Props) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction
      label={t("endpoints.delete")}
      effect={t("endpoints.deleteEffect")}
      done={t("endpoints.deleted")}
      isDanger
      run={async () => {
        await dataOf(api.DELETE("/api/connections/{id}/webhook-endpoints/{endpointId}", paramsOf(endpoint)));
        await go(paths.connection(endpoint.connectionId), { replace: true });
      }}
    />
  );
}
