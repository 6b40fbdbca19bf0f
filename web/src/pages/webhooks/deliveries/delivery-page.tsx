import { Stack, Text } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import type { BackOfficeDeliveryDetails } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { CopiedText } from "../../../ui/copied-text.tsx";
import { DueTime } from "../../../ui/due-time.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Crumbs, Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { useConnectionName } from "../../connections/connection-name.ts";
import { outcomesDueInMs } from "../outcomes-due.ts";
import { deliveryQuery, endpointQuery } from "../queries.ts";
import { AttemptSection } from "./attempt-section.tsx";

const route = getRouteApi("/signed-in/connections/$connectionId/deliveries/$deliveryId");

/** One delivery: its attempts, the newest first, each with its request beside the response. */
export function DeliveryPage() {
  const { t } = useTranslation();
  const { connectionId, deliveryId } = route.useParams();
  const connectionName = useConnectionName(connectionId);
  const { data: delivery } = useSuspenseQuery({
    ...deliveryQuery(connectionId, deliveryId),
    refetchInterval: ({ state }) => outcomesDueInMs(state.data === undefined ? [] : [state.data]),
  });
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Page
      title={delivery.eventType}
      crumbs={
        <Crumbs
          of={[
            [connectionName, paths.connection(connectionId)],
            [t("deliveries.title"), paths.deliveries(connectionId)],
          ]}
        />
      }
      beside={<StatusBadge of="delivery" status={delivery.status} />}
      actions={mayChange && <RedeliverAction connectionId={connectionId} deliveryId={deliveryId} />}
    >
      <Stack gap="md">
        <Section title={t("deliveries.details")}>
          <DeliveryFacts delivery={delivery} connectionId={connectionId} />
        </Section>
        {delivery.attempts.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("deliveries.noAttempts")}
          </Text>
        )}
        {delivery.attempts.toReversed().map((attempt) => (
          <AttemptSection
            key={attempt.number}
            attempt={attempt}
            doctorTo={paths.signatureDoctor({ connectionId, deliveryId, attempt: attempt.number })}
          />
        ))}
      </Stack>
    </Page>
  );
}

function DeliveryFacts({
  delivery,
  connectionId,
}: {
  delivery: BackOfficeDeliveryDetails;
  connectionId: string;
}) {
  const { t } = useTranslation();
  const { eventId, endpointId, orderId, attemptCount, nextAttemptAt, createdAt } = delivery;
  // A deleted endpoint has no page: its id stands for it.
  const { data: endpoint } = useQuery(endpointQuery(connectionId, endpointId));
  return (
    <Facts
      of={[
        [t("deliveries.eventId"), <CopiedText key="event" value={eventId} of={t("deliveries.eventId")} />],
        [
          t("deliveries.endpoint"),
          <TextLink key="endpoint" to={paths.endpoint(connectionId, endpointId)}>
            {endpoint?.url ?? endpointId}
          </TextLink>,
        ],
        [
          t("deliveries.order"),
          orderId && (
            <TextLink key="order" to={paths.order(orderId)}>
              {orderId}
            </TextLink>
          ),
        ],
        [t("deliveries.created"), <Time key="created" at={createdAt} as="exact" />],
        [t("deliveries.attempts"), String(attemptCount)],
        [t("deliveries.nextAttempt"), <DueTime key="next" at={nextAttemptAt} />],
      ]}
    />
  );
}

function RedeliverAction({ connectionId, deliveryId }: { connectionId: string; deliveryId: string }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("deliveries.redeliver")}
      effect={t("deliveries.redeliverEffect")}
      done={t("deliveries.redelivered")}
      isPrimary
      run={() =>
        dataOf(
          api.POST("/api/connections/{id}/deliveries/{deliveryId}/redeliver", {
            params: { path: { id: connectionId, deliveryId } },
          }),
        )
      }
    />
  );
}
