import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import type { BackOfficeWebhookEndpoint } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { CopiedText } from "../../../ui/copied-text.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Crumbs, Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { useConnectionName } from "../../connections/connection-name.ts";
import { endpointQuery } from "../queries.ts";
import { EndpointActions } from "./endpoint-actions.tsx";
import { countOf } from "./endpoint-columns.tsx";

const route = getRouteApi("/signed-in/connections/$connectionId/webhook-endpoints/$endpointId");

/** One endpoint: whether it works, and what to do if it does not. */
export function EndpointPage() {
  const { t } = useTranslation();
  const { connectionId, endpointId } = route.useParams();
  const connectionName = useConnectionName(connectionId);
  const { data: endpoint } = useSuspenseQuery(endpointQuery(connectionId, endpointId));
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Page
      title={endpoint.url}
      crumbs={<Crumbs of={[[connectionName, paths.connection(connectionId)]]} />}
      about={endpoint.description ?? undefined}
      beside={
        <Group gap={6}>
          <StatusBadge of="health" status={endpoint.health} />
          {endpoint.mode === "test" && <Pill>{t("keys.modes.test")}</Pill>}
        </Group>
      }
      actions={mayChange && <EndpointActions endpoint={endpoint} />}
    >
      <Stack gap="md">
        <WhyPaused endpoint={endpoint} />
        <Section
          title={t("endpoints.health")}
          actions={
            <ButtonLink to={paths.deliveries(connectionId, { endpointId })} size="xs" variant="default">
              {t("deliveries.title")}
            </ButtonLink>
          }
        >
          <Facts
            of={[
              [
                t("endpoints.lastSuccess"),
                endpoint.lastSuccessAt === null ? (
                  t("endpoints.never")
                ) : (
                  <Time key="success" at={endpoint.lastSuccessAt} as="relative" />
                ),
              ],
              [t("endpoints.failures"), String(endpoint.consecutiveFailures)],
              [
                t("endpoints.backingOffUntil"),
                endpoint.backingOffUntil && <Time key="backoff" at={endpoint.backingOffUntil} />,
              ],
              [t("endpoints.pending"), countOf(endpoint.pendingDeliveries)],
            ]}
          />
        </Section>
        <EndpointSettings endpoint={endpoint} />
      </Stack>
    </Page>
  );
}

type Props = { readonly endpoint: BackOfficeWebhookEndpoint };

type Made = BackOfficeWebhookEndpoint["madeByTokens"][number];

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
            madeByTokens.length > 0 && (
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
