import { Code, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Delivery, OrderEvent, PartnerOrder } from "../../../api/schema.d.ts";
import { useLiveQueries } from "../../../api/updates/use-live-queries.ts";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Section } from "../../../ui/section.tsx";
import { Time } from "../../../ui/time.tsx";
import { CreateEndpoint } from "../../webhooks/endpoints/create-endpoint.tsx";
import { outcomesDueInMs } from "../../webhooks/outcomes-due.ts";
import { useMemory } from "../memory.ts";
import { orderDeliveriesQuery, orderEventsQuery, testOrderQuery } from "../queries.ts";
import { EventDelivery } from "./event-delivery.tsx";
import classes from "./transition-list.module.css";

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
      event.deliveries.map(({ endpointId, endpointUrl }) => [endpointId, endpointUrl] as const),
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
