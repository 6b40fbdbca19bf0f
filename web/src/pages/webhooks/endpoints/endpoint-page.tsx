import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { shortTime } from "../../../text/format.ts";
import { CopiedText } from "../../../ui/copied-text.tsx";
import { DueTime } from "../../../ui/due-time.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Crumbs, Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { useMayChangeEndpoints, useOwnerName } from "../owner.ts";
import { endpointQuery } from "../queries.ts";
import { EndpointActions } from "./endpoint-actions.tsx";
import { countOf } from "./endpoint-columns.tsx";
import { isForTests, type ShownEndpoint } from "./shown-endpoint.ts";

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
      title={endpoint.url}
      crumbs={<Crumbs of={[[ownerName, paths.owner(ownerId)]]} />}
      about={endpoint.description ?? undefined}
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
            <ButtonLink to={paths.deliveries(ownerId, { endpointId })} size="xs" variant="default">
              {t("deliveries.title")}
            </ButtonLink>
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
  const { lastSuccessAt, failingSince, lastFailureAt, lastError, consecutiveFailures } = endpoint;
  const { backingOffUntil, nextAttemptAt, pendingDeliveries } = endpoint;
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
          [t("endpoints.failingSince"), failingSince && <Time key="since" at={failingSince} as="exact" />],
          [t("endpoints.failures"), String(consecutiveFailures)],
          [t("endpoints.nextAttempt"), nextAttemptAt && <DueTime key="next" at={nextAttemptAt} />],
          [t("endpoints.pending"), countOf(pendingDeliveries)],
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
      <Time at={pausedAt} as="exact" />
    </Alert>
  );
}

function EndpointSettings({ endpoint }: Props) {
  const { t } = useTranslation();
  const { id, maxInFlight, eventTypes, createdAt, madeByTokens } = endpoint;
  return (
    <Section title={t("endpoints.settings")}>
      <Facts
        of={[
          [t("endpoints.id"), <CopiedText key="id" value={id} of={t("endpoints.id")} />],
          [t("endpoints.maxInFlight"), String(maxInFlight)],
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
