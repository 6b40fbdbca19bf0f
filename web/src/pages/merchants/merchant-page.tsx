import { Checkbox, Grid, Group, Stack, TextInput, Title } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Merchant } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs, Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { MerchantUsageSection } from "../../ui/usage-section.tsx";
import { CreateConnection } from "../connections/connections-page.tsx";
import { ConnectionName } from "../connections/end-connection.tsx";
import { ChangeCreditLimit } from "../money/payment-actions.tsx";
import { MerchantTabs } from "../thing-tabs.tsx";
import { EndpointsSection } from "../webhooks/endpoints/endpoints-section.tsx";
import { merchantConnectionsQuery, merchantQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants/$merchantId");

/** One merchant and its connections: the partners who sell its products. */
export function MerchantPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const isOperator = useHasRole("operator");
  const mayChange = useHasRole("operator", "merchant");
  const seesEndpoints = useHasRole("operator", "merchant", "support", "monitoring");
  return (
    <ListPage
      title={merchant.name}
      crumbs={<Crumbs of={[[t("merchants.title"), paths.merchants()]]} />}
      tabs={<MerchantTabs merchantId={merchantId} />}
      above={
        <Stack gap="md">
          <Grid>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <Section
                title={t("merchants.details")}
                actions={
                  isOperator && (
                    <Group gap={6}>
                      <ChangeMerchant merchant={merchant} />
                      <ChangeCreditLimit merchant={merchant} />
                    </Group>
                  )
                }
              >
                <MerchantFacts merchant={merchant} />
              </Section>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <MerchantUsageSection merchant={merchant} />
            </Grid.Col>
          </Grid>
          {seesEndpoints && <EndpointsSection ownerId={merchantId} />}
        </Stack>
      }
      actions={mayChange && <CreateConnection merchantId={merchantId} />}
      query={merchantConnectionsQuery(merchantId, search)}
      label={t("connections.title")}
      filters={
        <>
          <Title order={2} size="h5" mt="xs">
            {t("connections.title")}
          </Title>
          <Filters>
            <SearchFilter label={t("connections.search")} value={search.q} />
          </Filters>
        </>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.connection(id)}
      empty={search.q === undefined ? t("connections.empty") : t("connections.emptyFiltered")}
      columns={[
        {
          name: t("connections.name"),
          cell: (connection) => <ConnectionName of={connection} />,
          isLong: true,
        },
        {
          name: t("connections.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
        },
      ]}
    />
  );
}

function MerchantFacts({ merchant }: { merchant: Merchant }) {
  const { t } = useTranslation();
  const { id, accountEmail, currency, creditLimit, completeWhenShipped } = merchant;
  return (
    <Facts
      of={[
        [t("merchants.id"), <CopiedText key="id" value={id} of={t("merchants.id")} />],
        [t("merchants.email"), accountEmail],
        [t("merchants.currency"), currency],
        [
          t("merchants.creditLimit"),
          creditLimit === null ? t("merchants.unlimited") : <Money key="limit" of={creditLimit} />,
        ],
        [
          t("merchants.completion"),
          t(completeWhenShipped ? "merchants.completedByService" : "merchants.completedByWarehouse"),
        ],
      ]}
    />
  );
}

/** What was given when the merchant was created, but its currency, which never changes. */
function ChangeMerchant({
  merchant: { id, name, accountEmail, completeWhenShipped },
}: {
  merchant: Merchant;
}) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("merchants.change")}
      effect={t("merchants.changeEffect")}
      done={t("merchants.changed")}
      initialValues={{ name, accountEmail, completeWhenShipped }}
      validate={(values) => ({
        ...(values.name.trim() === "" && { name: t("ui.required") }),
        ...(values.accountEmail.trim() === "" && { accountEmail: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("merchants.name")}
            maxLength={255}
            required
            data-autofocus
            {...form.getInputProps("name")}
          />
          <TextInput
            label={t("merchants.email")}
            description={t("merchants.emailHelp")}
            type="email"
            required
            {...form.getInputProps("accountEmail")}
          />
          <Checkbox
            label={t("merchants.completeWhenShipped")}
            {...form.getInputProps("completeWhenShipped", { type: "checkbox" })}
          />
        </Stack>
      )}
      run={(_, { changed }) =>
        dataOf(api.PATCH("/api/merchants/{id}", { params: { path: { id } }, body: changed }))
      }
    />
  );
}
