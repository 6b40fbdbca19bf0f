import { Button, Code, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
  OrderEvent,
  OrderEventDelivery,
  PartnerOrder,
} from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { formatNumber, headerText } from "../../text/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { canDiagnose, DiagnosisView, useDiagnosis } from "../signatures/diagnosis.tsx";
import { CreateEndpoint } from "../webhooks/endpoints/create-endpoint.tsx";
import { outcomesDueInMs } from "../webhooks/filter-values.ts";
import { endpointName } from "../webhooks/owner.tsx";
import { deliveryQuery } from "../webhooks/queries.ts";
import { useMemory } from "./memory.ts";
import { orderDeliveriesQuery, orderEventsQuery, testOrderQuery } from "./queries.ts";
import classes from "./test-order.module.css";

type Props = { readonly connectionId: string; readonly order: PartnerOrder };

/** The events of the order as they arrive at the partner's endpoints. */
export function EventsSection({ connectionId, order }: Props) {
  const { t } = useTranslation();
  const deliveriesQuery = orderDeliveriesQuery(connectionId, order.id);
  const deliveries = useQuery({
    ...deliveriesQuery,
    refetchInterval: ({ state }) => outcomesDueInMs(state.data?.data ?? []),
  });
  const events = useQuery({
    ...orderEventsQuery(order.id),
    refetchInterval: outcomesDueInMs(deliveries.data?.data ?? []),
  });
  // The partner's own program may change the order at the same time.
  useLiveQueries(
    [testOrderQuery(connectionId, order.id), orderEventsQuery(order.id), deliveriesQuery],
    ({ orders }) => orders.some(({ id }) => id === order.id),
  );
  const list = events.data?.data;
  const endpoints = new Map(
    (list ?? []).flatMap((event) =>
      event.deliveries.map(
        ({ endpointId, endpointUrl }) =>
          [endpointId, endpointName({ id: endpointId, url: endpointUrl }, t)] as const,
      ),
    ),
  );
  return (
    <Section title={t("sandbox.events")}>
      {events.error !== null && <ProblemMessage error={events.error} retry={() => void events.refetch()} />}
      {list === undefined && events.error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {list !== undefined && endpoints.size === 0 && (
        <Group justify="space-between">
          <Text size="sm">{t("sandbox.noEndpoint")}</Text>
          <CreateEndpoint ownerId={connectionId} />
        </Group>
      )}
      {[...endpoints].map(([endpointId, url]) => (
        <SecretField key={endpointId} endpointId={endpointId} url={url} />
      ))}
      <Stack
        component="ol"
        gap={0}
        m={0}
        p={0}
        className={classes["list"] ?? ""}
        aria-live="polite"
        style={{ display: "block" }}
      >
        {list?.toReversed().map((event) => (
          <li key={event.id} className={classes["item"]}>
            <EventItem connectionId={connectionId} event={event} deliveries={deliveries.data?.data ?? []} />
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function SecretField({ endpointId, url }: { endpointId: string; url: string }) {
  const { t } = useTranslation();
  const [secret, change] = useMemory(["signing-secret", endpointId], "");
  return (
    <TextInput
      label={t("sandbox.secretOf", { url })}
      description={t("sandbox.secretHelp")}
      placeholder="whsec_…"
      maw={560}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      data-1p-ignore
      data-lpignore="true"
      value={secret}
      onChange={({ currentTarget: { value } }) => change(() => value)}
    />
  );
}

type ItemProps = {
  readonly connectionId: string;
  readonly event: OrderEvent;
  readonly deliveries: readonly Delivery[];
};

function EventItem({ connectionId, event, deliveries }: ItemProps) {
  const { t } = useTranslation();
  return (
    <Stack gap={6} style={{ flex: 1, minWidth: 0 }}>
      <Group gap="xs">
        <Code>{event.type}</Code>
        <Text size="xs" c="dimmed">
          {event.sequence}. · <Time at={event.createdAt} />
        </Text>
      </Group>
      {event.deliveries.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("sandbox.unwanted")}
        </Text>
      )}
      {event.deliveries.map((shown) => {
        const delivery = deliveries.find(({ id }) => id === shown.id);
        return (
          <EventDelivery
            key={shown.id}
            connectionId={connectionId}
            shown={shown}
            lastAttempt={delivery?.attempts.at(-1)}
            attemptCount={delivery?.attemptCount ?? 0}
          />
        );
      })}
    </Stack>
  );
}

type EventDeliveryProps = {
  readonly connectionId: string;
  readonly shown: OrderEventDelivery;
  readonly lastAttempt: DeliveryAttempt | undefined;
  readonly attemptCount: number;
};

/** The event at one endpoint: how the receiver responded, and whether the signature is right. */
function EventDelivery({ connectionId, shown, lastAttempt, attemptCount }: EventDeliveryProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const [secret] = useMemory(["signing-secret", shown.endpointId], "");
  const contentId = useId();
  const { request, error } = useRequest({ connectionId, shown, attemptCount }, isOpen || secret !== "");
  return (
    <Stack gap={6} pl="sm">
      <Group gap="xs">
        <StatusBadge of="delivery" status={shown.status} />
        <TextLink to={paths.delivery(connectionId, shown.id)} size="sm" style={{ overflowWrap: "anywhere" }}>
          {endpointName({ id: shown.endpointId, url: shown.endpointUrl }, t)}
        </TextLink>
        {lastAttempt !== undefined && <Outcome attempt={lastAttempt} />}
        {attemptCount > 0 && secret !== "" && request !== null && (
          <SignaturePill secret={secret} request={request} isOpen={isOpen} />
        )}
        {attemptCount > 0 && (
          <Button
            size="compact-xs"
            variant="default"
            aria-expanded={isOpen}
            aria-controls={contentId}
            onClick={() => setOpen(!isOpen)}
          >
            {t("deliveries.request")}
          </Button>
        )}
      </Group>
      <div id={contentId} hidden={!isOpen}>
        {isOpen && error !== null && <ProblemMessage error={error} />}
        {isOpen && request !== null && <Request request={request} />}
      </div>
    </Stack>
  );
}

type Asked = Pick<EventDeliveryProps, "connectionId" | "shown" | "attemptCount">;

/** The request of the last attempt. Reading it is recorded, so it is read once for each attempt, and only when needed. */
function useRequest({ connectionId, shown, attemptCount }: Asked, isNeeded: boolean) {
  const query = deliveryQuery(connectionId, shown.id);
  const { data, error } = useQuery({
    ...query,
    queryKey: [...query.queryKey, "attempt", attemptCount],
    staleTime: "static",
    enabled: isNeeded && attemptCount > 0,
  });
  return { request: data?.attempts.at(-1)?.request ?? null, error };
}

function Outcome({ attempt: { error, responseStatus, durationMs, fault } }: { attempt: DeliveryAttempt }) {
  const { t } = useTranslation();
  return (
    <>
      <Text size="xs" c="dimmed">
        {error ?? `HTTP ${responseStatus}`}
        {durationMs !== null && ` · ${formatNumber(durationMs)} ms`}
      </Text>
      {fault !== null && <Pill>{t("deliveries.rehearsed", { fault: t(`faults.names.${fault}`) })}</Pill>}
    </>
  );
}

type CheckProps = { readonly secret: string; readonly request: DeliveryRequest; readonly isOpen: boolean };

/** True if the given secret signed the request; opened, with what was found. */
function SignaturePill({ secret, request: { headers, body }, isOpen }: CheckProps) {
  const { t } = useTranslation();
  const canCheck = headers["webhook-signature"] !== null && body !== null && canDiagnose();
  const evidence = { headers: headerText(headers), body: body ?? "", secret, computed: "", arrival: "" };
  const diagnosis = useDiagnosis(canCheck ? evidence : null);
  if (!canCheck) return <Pill>{t("sandbox.signatureUnknown")}</Pill>;
  if (diagnosis === null) return null;
  const isRight = diagnosis.verdict === "genuine";
  return (
    <>
      <Pill tone={isRight ? "success" : "danger"}>{t(`doctor.verdicts.${diagnosis.verdict}`)}</Pill>
      {isOpen && !isRight && <DiagnosisView of={diagnosis} />}
    </>
  );
}

function Request({ request: { headers, body } }: { request: DeliveryRequest }) {
  const { t } = useTranslation();
  return (
    <Stack gap={6}>
      {(
        [
          [t("deliveries.headers"), headerText(headers)],
          [t("deliveries.body"), body ?? t("deliveries.bodyGone")],
        ] as const
      ).map(([name, text]) => (
        <Code
          key={name}
          block
          tabIndex={0}
          aria-label={name}
          style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", maxHeight: 280, overflow: "auto" }}
        >
          {text}
        </Code>
      ))}
    </Stack>
  );
}
