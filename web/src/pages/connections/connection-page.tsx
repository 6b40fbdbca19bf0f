import { Grid, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Connection } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { fieldAmount, typedAmount } from "../../text/amount.ts";
import { formatLocale, formatNumber } from "../../text/format.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { ConnectionUsageSection } from "../../ui/usage-section.tsx";
import { merchantQuery } from "../merchants/queries.ts";
import { ConnectionTabs } from "../thing-tabs.tsx";
import { EndpointsSection } from "../webhooks/endpoints/endpoints-section.tsx";
import { CertificationSection } from "./certification-section.tsx";
import { EndConnection, StrangersPill } from "./end-connection.tsx";
import { KeysSection } from "./keys-section.tsx";
import { connectionQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/connections/$connectionId");

/** Its name is for people alone: keys, orders and endpoints stay. */
function RenameConnection({ connection: { id, name } }: { connection: Connection }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("connections.rename")}
      effect={t("connections.renameEffect")}
      done={t("connections.renamed")}
      initialValues={{ name }}
      validate={(values) => (values.name.trim() === "" ? { name: t("ui.required") } : {})}
      fields={(form) => (
        <TextInput
          label={t("connections.name")}
          maxLength={255}
          required
          data-autofocus
          {...form.getInputProps("name")}
        />
      )}
      run={(values) =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { name: values.name.trim() },
          }),
        )
      }
    />
  );
}

/** Whether coding agents may use live keys: a precaution that the merchant lifts. */
function ChangeAgents({ connection: { id, liveAgents } }: { connection: Connection }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={liveAgents ? t("connections.forbidAgents") : t("connections.permitAgents")}
      effect={liveAgents ? t("connections.forbidAgentsEffect") : t("connections.permitAgentsEffect")}
      done={t("connections.agentsDone")}
      run={() =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { liveAgents: !liveAgents },
          }),
        )
      }
    />
  );
}

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
      tabs={<ConnectionTabs connectionId={connectionId} />}
      actions={
        <>
          {mayEnd && <RenameConnection connection={connection} />}
          {isOfStranger && mayEnd && <EndConnection of={connection} />}
        </>
      }
    >
      <Grid>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="md">
            {seesKeys && <KeysSection connection={connection} />}
            <EndpointsSection ownerId={connectionId} />
            <CertificationSection connection={connection} />
            <ConnectionUsageSection connection={connection} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="md">
            <Section
              title={t("connections.details")}
              actions={mayEnd && <ChangeAgents connection={connection} />}
            >
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
  const { id, merchantId, merchantName, apiUrl, liveAgents, createdAt, endsAt } = connection;
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
        [
          t("connections.agents"),
          t(liveAgents ? "connections.agentsMay.live" : "connections.agentsMay.test"),
        ],
        [t("connections.created"), <Time key="created" at={createdAt} />],
        ...(endsAt === null
          ? []
          : [[t("connections.ends"), <Time key="ends" at={endsAt} />] as [string, ReactNode]]),
      ]}
    />
  );
}

type Props = { readonly connection: Connection; readonly policy: NonNullable<Connection["reviewPolicy"]> };

/** Which orders wait for a review. */
function ReviewPolicySection({ connection, policy }: Props) {
  const { t } = useTranslation();
  const mayChange = useHasRole("operator", "merchant");
  return (
    <Section
      title={t("reviewPolicy.title")}
      actions={mayChange && <ChangeReviewPolicy connection={connection} policy={policy} />}
    >
      <Text size="sm">{t("reviewPolicy.about")}</Text>
      <PolicyFacts policy={policy} />
    </Section>
  );
}

function PolicyFacts({ policy: { maxQuantity, maxOrderValue, countries } }: Pick<Props, "policy">) {
  const { t } = useTranslation();
  return (
    <Facts
      of={[
        [
          t("reviewPolicy.maxQuantity"),
          maxQuantity === null ? t("reviewPolicy.noLimit") : formatNumber(maxQuantity),
        ],
        [
          t("reviewPolicy.maxOrderValue"),
          maxOrderValue === null ? t("reviewPolicy.noLimit") : <Money key="value" of={maxOrderValue} />,
        ],
        [
          t("reviewPolicy.countries"),
          countries === null ? t("reviewPolicy.allCountries") : countries.join(", "),
        ],
      ]}
    />
  );
}

type Values = { maxQuantity: number | string; maxOrderValue: string; countries: string };

/** An empty field is no limit: the policy replaces the one of before. */
function ChangeReviewPolicy({ connection: { id, merchantId }, policy }: Props) {
  const { t } = useTranslation();
  const currency = useQuery(merchantQuery(merchantId)).data?.currency;
  const { maxQuantity, maxOrderValue, countries } = policy;
  return (
    <ConfirmAction<Values>
      label={t("reviewPolicy.change")}
      effect={t("reviewPolicy.changeEffect")}
      done={t("reviewPolicy.changed")}
      initialValues={{
        maxQuantity: maxQuantity ?? "",
        maxOrderValue:
          maxOrderValue === null
            ? ""
            : fieldAmount(maxOrderValue.amount, formatLocale(), maxOrderValue.currency),
        countries: countries?.join(", ") ?? "",
      }}
      version={policy.version}
      present={<PolicyFacts policy={policy} />}
      fields={(form) => (
        <Stack gap="sm">
          <NumberInput
            label={t("reviewPolicy.maxQuantity")}
            description={t("reviewPolicy.emptyHelp")}
            min={1}
            allowDecimal={false}
            data-autofocus
            {...form.getInputProps("maxQuantity")}
            error={form.errors["reviewPolicy.maxQuantity"]}
          />
          <TextInput
            label={`${t("reviewPolicy.maxOrderValue")} (${currency ?? "…"})`}
            inputMode="decimal"
            {...form.getInputProps("maxOrderValue")}
            error={
              form.errors["reviewPolicy.maxOrderValue"] ?? form.errors["reviewPolicy.maxOrderValue.amount"]
            }
          />
          <TextInput
            label={t("reviewPolicy.countries")}
            description={t("reviewPolicy.countriesHelp")}
            placeholder="DE, AT, CH"
            {...form.getInputProps("countries")}
            error={firstErrorOf(form.errors, "reviewPolicy.countries")}
          />
        </Stack>
      )}
      run={(values, { version }) =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { reviewPolicy: { ...policyOf(values, currency ?? ""), expectedVersion: version } },
          }),
        )
      }
    />
  );
}

const policyOf = ({ maxQuantity, maxOrderValue, countries }: Values, currency: string) => ({
  maxQuantity: maxQuantity === "" ? null : Number(maxQuantity),
  maxOrderValue:
    maxOrderValue.trim() === ""
      ? null
      : { amount: typedAmount(maxOrderValue, formatLocale(), currency), currency },
  countries:
    countries.trim() === ""
      ? null
      : countries
          .toUpperCase()
          .split(/[\s,;]+/)
          .filter(Boolean),
});

/** A list is one field here: its first error is shown. */
const firstErrorOf = (errors: Readonly<Record<string, React.ReactNode>>, field: string): React.ReactNode =>
  Object.entries(errors).find(([name]) => name === field || name.startsWith(`${field}.`))?.[1];
