import { Stack, Text } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { BackOfficeDeliveryDetails } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { CopiedText } from "../../../ui/copied-text.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Crumbs, Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { outcomesDueInMs } from "../outcomes-due.ts";
import { ownerRoute, useMayChangeEndpoints, useOwnerName } from "../owner.ts";
import { deliveryQuery, endpointQuery } from "../queries.ts";
import { AttemptSection } from "./attempt-section.tsx";
import { WaitText } from "./wait-text.tsx";

/** One delivery: its attempts, the newest first, each with its request beside the response. */
export function DeliveryPage() {
  const { t } = useTranslation();
  // Each kind of owner has a route for this page, with the same parameters.
  const { ownerId = "", deliveryId = "" } = useParams({ strict: false });
  const ownerName = useOwnerName(ownerId);
  const { data: delivery } = useSuspenseQuery({
    ...deliveryQuery(ownerId, deliveryId),
    refetchInterval: ({ state }) => outcomesDueInMs(state.data === undefined ? [] : [state.data]),
  });
  const mayChange = useMayChangeEndpoints(ownerId);
  return (
    <Page
      title={delivery.eventType}
      crumbs={
        <Crumbs
          of={[
            [ownerName, paths.owner(ownerId)],
            [t("deliveries.title"), paths.deliveries(ownerId)],
          ]}
        />
      }
      beside={<StatusBadge of="delivery" status={delivery.status} />}
      actions={mayChange && <RedeliverAction ownerId={ownerId} deliveryId={deliveryId} />}
    >
      <Stack gap="md">
        <Section title={t("deliveries.details")}>
          <DeliveryFacts delivery={delivery} ownerId={ownerId} />
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
            doctorTo={paths.signatureDoctor({ ownerId, deliveryId, attempt: attempt.number })}
          />
        ))}
      </Stack>
    </Page>
  );
}

function DeliveryFacts({ delivery, ownerId }: { delivery: BackOfficeDeliveryDetails; ownerId: string }) {
  const { t } = useTranslation();
  const { eventId, endpointId, orderId, externalOrderId, attemptCount, wait, createdAt } = delivery;
  // A deleted endpoint has no page: its id stands for it.
  const { data: endpoint } = useQuery(endpointQuery(ownerId, endpointId));
  return (
    <Facts
      of={[
        [t("deliveries.eventId"), <CopiedText key="event" value={eventId} of={t("deliveries.eventId")} />],
        [
          t("deliveries.endpoint"),
          <TextLink key="endpoint" to={paths.endpoint(ownerId, endpointId)}>
            {endpoint?.url ?? endpointId}
          </TextLink>,
        ],
        [
          t("deliveries.order"),
          orderId && (
            <TextLink key="order" to={paths.order(orderId)}>
              {externalOrderId ?? orderId}
            </TextLink>
          ),
        ],
        [t("deliveries.created"), <Time key="created" at={createdAt} as="exact" />],
        [t("deliveries.attempts"), String(attemptCount)],
        [t("deliveries.wait"), wait && <WaitText key="wait" wait={wait} />],
      ]}
    />
  );
}

function RedeliverAction({ ownerId, deliveryId }: { ownerId: string; deliveryId: string }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("deliveries.redeliver")}
      effect={t("deliveries.redeliverEffect")}
      done={t("deliveries.redelivered")}
      isPrimary
      run={() =>
        dataOf(
          api.POST(ownerRoute(ownerId, "/deliveries/{deliveryId}/redeliver"), {
            params: { path: { id: ownerId, deliveryId } },
          }),
        )
      }
    />
  );
}
