import { Code, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { BackOfficeDeliveryDetails, DeliveryAttemptDetails } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber, headerText } from "../../../text/format.ts";
import { useAttemptError } from "../../../text/words.ts";
import { CopiedText, CopyButton } from "../../../ui/copy-button.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ButtonLink, TextLink } from "../../../ui/link.tsx";
import { Crumbs, Page, Section } from "../../../ui/page.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { outcomesDueInMs } from "../filter-values.ts";
import { endpointName, ownerRoute, useMayChangeEndpoints, useOwnerName } from "../owner.tsx";
import { deliveryQuery, endpointQuery } from "../queries.ts";
import { WaitText } from "./delivery-columns.tsx";

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
  const { eventId, endpointId, orderId, externalOrderId, attemptCount, fault, wait, createdAt } = delivery;
  // A deleted endpoint has no page: its id stands for it.
  const { data: endpoint } = useQuery(endpointQuery(ownerId, endpointId));
  return (
    <Facts
      of={[
        [t("deliveries.eventId"), <CopiedText key="event" value={eventId} of={t("deliveries.eventId")} />],
        [
          t("deliveries.endpoint"),
          <TextLink key="endpoint" to={paths.endpoint(ownerId, endpointId)}>
            {endpoint === undefined ? endpointId : endpointName(endpoint, t)}
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
        ...(fault === null ? [] : [[t("deliveries.fault"), t(`faults.names.${fault}`)] as const]),
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

type Props = {
  readonly attempt: DeliveryAttemptDetails;
  /** The address of the page that checks its signature. */
  readonly doctorTo: string;
};

/** One attempt: what was sent, beside what came back. */
function AttemptSection({ attempt, doctorTo }: Props) {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  const { number, startedAt, durationMs, trigger, error, fault, request, responseStatus, responseBody } =
    attempt;
  // What a rehearsed attempt should get depends on its fault.
  const tone = error === null ? "success" : "danger";
  const outcome = errorText(error ?? `HTTP ${responseStatus}`);
  return (
    <Section
      title={t("deliveries.attempt", { number })}
      actions={
        <Group gap={6}>
          {fault === null ? <Pill tone={tone}>{outcome}</Pill> : <Pill>{outcome}</Pill>}
          {fault !== null && <Pill>{t("deliveries.rehearsed", { fault: t(`faults.names.${fault}`) })}</Pill>}
          {trigger !== "schedule" && <Pill>{t(`deliveries.triggers.${trigger}`)}</Pill>}
        </Group>
      }
    >
      <Text size="sm" c="dimmed">
        <Time at={startedAt} as="exact" />
        {durationMs !== null && ` · ${formatNumber(durationMs)} ms`}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="xs" miw={0}>
          <Text size="sm" fw={600}>
            {t("deliveries.request")}
          </Text>
          {request === null ? (
            <Text size="sm">{t("deliveries.requestUnknown")}</Text>
          ) : (
            <>
              <Block of={t("deliveries.headers")} text={headerText(request.headers)} />
              {request.body === null ? (
                <Text size="sm">{t("deliveries.bodyGone")}</Text>
              ) : (
                <Block
                  of={t("deliveries.body")}
                  text={request.body}
                  shown={indented(request.body)}
                  copyOf={t("deliveries.bodyAsSent")}
                />
              )}
              <Group>
                <ButtonLink to={doctorTo} size="xs" variant="default">
                  {t("doctor.check")}
                </ButtonLink>
              </Group>
            </>
          )}
        </Stack>
        <Stack gap="xs" miw={0}>
          <Text size="sm" fw={600}>
            {t("deliveries.response")}
          </Text>
          {responseBody === null || responseBody === "" ? (
            <Text size="sm">
              {t(responseBody === null ? "deliveries.noResponse" : "deliveries.emptyBody")}
            </Text>
          ) : (
            <Block of={t("deliveries.response")} text={responseBody} />
          )}
        </Stack>
      </SimpleGrid>
    </Section>
  );
}

/** The body of an event is JSON without spaces, which has one line. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/**
 * @param text as it was sent, to the byte, because the signature is over these bytes: it is copied
 * @param shown the same for people, if that is another one
 */
function Block({
  of,
  text,
  shown = text,
  copyOf = of,
}: {
  of: string;
  text: string;
  shown?: string;
  copyOf?: string;
}) {
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Code
        block
        tabIndex={0}
        aria-label={of}
        style={{
          flex: 1,
          whiteSpace: "pre-wrap",
          overflowWrap: "anywhere",
          maxHeight: 320,
          overflow: "auto",
        }}
      >
        {shown}
      </Code>
      <CopyButton value={text} of={copyOf} />
    </Group>
  );
}
