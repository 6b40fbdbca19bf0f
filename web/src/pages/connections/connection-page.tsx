import { Grid, Stack } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Connection } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { CopiedText } from "../../ui/copied-text.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import { ConnectionUsageSection } from "../../ui/usage-section.tsx";
import { EndpointsSection } from "../webhooks/endpoints/endpoints-section.tsx";
import { EndConnection, StrangersPill } from "./end-connection.tsx";
import { KeysSection } from "./keys-section.tsx";
import { connectionQuery } from "./queries.ts";
import { ReviewPolicySection } from "./review-policy.tsx";

const route = getRouteApi("/signed-in/connections/$connectionId");

/** One connection: the access of a partner to the products of a merchant. */
export function ConnectionPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const { data: connection } = useSuspenseQuery(connectionQuery(connectionId));
  const seesMerchant = useSeesMerchant();
  const mayEnd = useHasRole("operator", "merchant");
  const isOfStranger = connection.endsAt !== null && new Date(connection.endsAt) > new Date();
  const seesKeys = useHasRole("operator", "merchant", "support", "partner");
  return (
    <Page
      title={connection.name}
      beside={<StrangersPill of={connection} />}
      crumbs={
        <Crumbs
          of={
            seesMerchant
              ? [
                  [t("merchants.title"), paths.merchants()],
                  [connection.merchantName, paths.merchant(connection.merchantId)],
                ]
              : [[t("connections.title"), paths.connections()]]
          }
        />
      }
      actions={
        <>
          <ButtonLink to={paths.orders({ connectionId })} size="xs" variant="default">
            {t("connections.orders")}
          </ButtonLink>
          <ButtonLink to={paths.exposedProducts(connectionId)} size="xs" variant="default">
            {t("products.title")}
          </ButtonLink>
          <ButtonLink to={paths.deliveries(connectionId)} size="xs" variant="default">
            {t("deliveries.title")}
          </ButtonLink>
          {isOfStranger && mayEnd && <EndConnection of={connection} />}
          {seesKeys && (
            <ButtonLink to={paths.workbench(connectionId)} size="xs" variant="default">
              {t("sandbox.title")}
            </ButtonLink>
          )}
        </>
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="md">
            {seesKeys && <KeysSection connection={connection} />}
            <EndpointsSection ownerId={connectionId} />
            <ConnectionUsageSection connectionId={connectionId} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="md">
            <Section title={t("connections.details")}>
              <ConnectionFacts connection={connection} />
            </Section>
            {connection.reviewPolicy !== null && (
              <ReviewPolicySection connection={connection} policy={connection.reviewPolicy} />
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** Partners know the merchant by its name alone. */
const useSeesMerchant = (): boolean =>
  useHasRole("operator", "merchant", "warehouse", "support", "monitoring");

function ConnectionFacts({ connection }: { connection: Connection }) {
  const { t } = useTranslation();
  const seesMerchant = useSeesMerchant();
  const { id, merchantId, merchantName, apiUrl, createdAt, endsAt } = connection;
  return (
    <Facts
      of={[
        [t("connections.id"), <CopiedText key="id" value={id} of={t("connections.id")} />],
        [
          t("connections.merchant"),
          seesMerchant ? (
            <TextLink key="merchant" to={paths.merchant(merchantId)}>
              {merchantName}
            </TextLink>
          ) : (
            merchantName
          ),
        ],
        [t("connections.apiUrl"), <CopiedText key="api" value={apiUrl} of={t("connections.apiUrl")} />],
        [t("connections.created"), <Time key="created" at={createdAt} />],
        ...(endsAt === null
          ? []
          : [[t("connections.ends"), <Time key="ends" at={endsAt} />] as [string, ReactNode]]),
      ]}
    />
  );
}
