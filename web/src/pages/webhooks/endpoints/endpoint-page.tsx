import IconAlertTriangle from "icon:alert-triangle";
import { Alert, Code, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { BackOfficeWebhookEndpoint, OwnWebhookEndpoint } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { shortTime, startOf } from "../../../text/format.ts";
import { useAttemptError } from "../../../text/words.ts";
import { CopiedText } from "../../../ui/copy-button.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../../ui/form/rotate-action.tsx";
import { TextLink, useGo } from "../../../ui/link.tsx";
import { Crumbs, Page, Section } from "../../../ui/page.tsx";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { DueTime, Time } from "../../../ui/time.tsx";
import { EVENT_TYPES, type OwnedEventType } from "../filter-values.ts";
import { endpointName, ownerKindOf, ownerRoute, useMayChangeEndpoints, useOwnerName } from "../owner.tsx";
import { endpointQuery } from "../queries.ts";
import { EndpointFields, type EndpointValues, headersIn, headersText } from "./endpoint-fields.tsx";
import { countOf } from "./endpoints-section.tsx";

/** One endpoint: whether it works, and what to do if it does not. */
export function EndpointPage() {
  const { t } = useTranslation();
  // Each kind of owner has a route for this page, with the same parameters.
  const { ownerId = "", endpointId = "" } = useParams({ strict: false });
  const ownerName = useOwnerName(ownerId);
  const { data: endpoint } = useSuspenseQuery(endpointQuery(ownerId, endpointId));
  const mayChange = useMayChangeEndpoints(ownerId);
  return (
    <Page
      title={endpointName(endpoint, t)}
      crumbs={<Crumbs of={[[ownerName, paths.owner(ownerId)]]} />}
      about={endpoint.url === null ? undefined : (endpoint.description ?? undefined)}
      beside={
        <Group gap={6}>
          <StatusBadge of="health" status={endpoint.health} />
          {isForTests(endpoint) && <Pill>{t("keys.modes.test")}</Pill>}
        </Group>
      }
      actions={mayChange && <EndpointActions ownerId={ownerId} endpoint={endpoint} />}
    >
      <Stack gap="md">
        <WhyPaused endpoint={endpoint} />
        <Section
          title={t("endpoints.health")}
          actions={
            <TextLink to={paths.deliveries(ownerId, { endpointId })} size="sm">
              {t("deliveries.title")}
            </TextLink>
          }
        >
          <EndpointHealth endpoint={endpoint} />
        </Section>
        <EndpointSettings endpoint={endpoint} />
      </Stack>
    </Page>
  );
}

type Props = { readonly endpoint: ShownEndpoint };

/** Since when and why it fails, and when the next attempt is made. */
function EndpointHealth({ endpoint }: Props) {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  const { lastSuccessAt, failingSince, lastFailureAt, consecutiveFailures } = endpoint;
  const lastError = endpoint.lastError === null ? null : errorText(endpoint.lastError);
  const { backingOffUntil, nextAttemptAt, pendingDeliveries, behind } = endpoint;
  return (
    <>
      {backingOffUntil !== null && (
        <Text size="sm">
          {t("waits.backoff", {
            time: shortTime(new Date(backingOffUntil), new Date()),
            error: lastError ?? t("waits.failures"),
          })}
        </Text>
      )}
      <Facts
        of={[
          [
            t("endpoints.lastSuccess"),
            lastSuccessAt === null ? (
              t("endpoints.never")
            ) : (
              <Time key="success" at={lastSuccessAt} as="relative" />
            ),
          ],
          [
            t("endpoints.lastFailure"),
            lastFailureAt && (
              <span key="failure">
                <Time at={lastFailureAt} as="relative" />
                {lastError !== null && ` · ${lastError}`}
              </span>
            ),
          ],
          [t("endpoints.failingSince"), failingSince && <Time key="since" at={failingSince} />],
          [t("endpoints.failures"), String(consecutiveFailures)],
          [t("endpoints.nextAttempt"), nextAttemptAt && <DueTime key="next" at={nextAttemptAt} />],
          [t("endpoints.pending"), countOf(pendingDeliveries)],
          [
            t("endpoints.behind"),
            behind &&
              (behind.oldestSince === null ? (
                t("endpoints.upToDate")
              ) : (
                <span key="behind">
                  {t("endpoints.behindBy", {
                    orders: countOf(behind.orders),
                    events: countOf(behind.events),
                  })}{" "}
                  <Time at={behind.oldestSince} as="relative" />
                </span>
              )),
          ],
        ]}
      />
    </>
  );
}

type Made = ShownEndpoint["madeByTokens"][number];

/** The role partner sees no names of tokens. */
const tokenText = ({ tokenName, tokenId }: Made): string => tokenName ?? tokenId;

const hasEnded = ({ endsAt }: Made): boolean => endsAt !== null && new Date(endsAt) <= new Date();

function WhyPaused({ endpoint: { pauseReason, pausedAt, madeByTokens } }: Props) {
  const { t } = useTranslation();
  if (pauseReason === null) return null;
  const ended = [...new Set(madeByTokens.filter(hasEnded).map(tokenText))];
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title={t("status.endpoint.paused")}>
      {t(`endpoints.pauseReasons.${pauseReason}`)} {pauseReason === "access-ended" && ended.join(", ")}{" "}
      <Time at={pausedAt} />
    </Alert>
  );
}

function EndpointSettings({ endpoint }: Props) {
  const { t } = useTranslation();
  const { id, url, maxInFlight, headers, alertEmail, eventTypes, createdAt, madeByTokens } = endpoint;
  const headerNames = Object.keys(headers).join(", ");
  return (
    <Section title={t("endpoints.settings")}>
      <Facts
        of={[
          [t("endpoints.id"), <CopiedText key="id" value={id} of={t("endpoints.id")} />],
          [t(url === null ? "endpoints.maxLeased" : "endpoints.maxInFlight"), String(maxInFlight)],
          ...(url === null
            ? []
            : [[t("endpoints.headers"), headerNames === "" ? null : headerNames] as const]),
          [t("endpoints.alertEmail"), alertEmail],
          [t("endpoints.created"), <Time key="created" at={createdAt} />],
          [
            t("endpoints.madeByTokens"),
            madeByTokens.length === 0 ? null : (
              <span key="made" title={t("endpoints.madeByTokensHelp")}>
                {madeByTokens
                  .map((made) => t(`endpoints.parts.${made.part}`, { token: tokenText(made) }))
                  .join(", ")}
              </span>
            ),
          ],
        ]}
      />
      <Text size="sm" c="dimmed">
        {t("endpoints.eventTypes")}
      </Text>
      <Group gap={6}>
        {eventTypes.map((type) => (
          <Code key={type}>{type}</Code>
        ))}
      </Group>
    </Section>
  );
}

type EditEndpointProps = { readonly ownerId: string; readonly endpoint: ShownEndpoint };

/** What stands for the query of an address that the person may not see. */
const HIDDEN = "?…";

/** Changes what was set at the creation. The secret and the log stay. */
function EditEndpoint({ ownerId, endpoint }: EditEndpointProps) {
  const { t } = useTranslation();
  const { id, url, description, eventTypes, maxInFlight, headers, alertEmail } = endpoint;
  const isPull = url === null;
  const isHidden = url?.endsWith(HIDDEN) ?? false;
  return (
    <ConfirmAction<EndpointValues>
      label={t("endpoints.edit")}
      shortcut="e"
      confirm={t("endpoints.save")}
      effect={t(isHidden ? "endpoints.editHidden" : "endpoints.editEffect")}
      done={t("endpoints.edited")}
      initialValues={{
        url: url ?? "",
        description: description ?? "",
        eventTypes,
        maxInFlight,
        headers: headersText(headers),
        alertEmail: alertEmail ?? "",
      }}
      validate={(values) => ({
        ...(!isPull && values.url.trim() === "" && { url: t("ui.required") }),
        ...(values.url.trim() !== url && values.url.includes("…") && { url: t("endpoints.wholeAddress") }),
        ...(values.eventTypes.length === 0 && { eventTypes: t("ui.required") }),
        ...(values.maxInFlight === "" && { maxInFlight: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <EndpointFields
            form={form}
            isPull={isPull}
            kind={ownerKindOf(ownerId)}
            typesHelp={t("endpoints.editTypesHelp")}
          />
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
              ...(changed.headers !== undefined && { headers: headersIn(changed.headers) }),
              ...(changed.alertEmail !== undefined && { alertEmail: changed.alertEmail || null }),
            },
          }),
        )
      }
    />
  );
}

type EndpointActionsProps = { readonly ownerId: string; readonly endpoint: ShownEndpoint };

const paramsOf = ({ ownerId, endpoint }: EndpointActionsProps) => ({
  params: { path: { id: ownerId, endpointId: endpoint.id } },
});

function EndpointActions(props: EndpointActionsProps) {
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
function PingAction(props: EndpointActionsProps) {
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

function RotateSecret(props: EndpointActionsProps) {
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

function RecoverAction(props: EndpointActionsProps) {
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

function PauseAction(props: EndpointActionsProps) {
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

function ResumeAction(props: EndpointActionsProps) {
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

function DeleteAction(props: EndpointActionsProps) {
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

/** An endpoint of any owner. */
type ShownEndpoint = BackOfficeWebhookEndpoint | OwnWebhookEndpoint;

/** Only a connection has test orders, and so endpoints for them alone. */
const isForTests = (endpoint: ShownEndpoint): boolean => "mode" in endpoint && endpoint.mode === "test";
