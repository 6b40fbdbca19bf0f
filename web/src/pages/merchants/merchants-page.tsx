import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateMerchant } from "./create-merchant.tsx";
import { merchantsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants");

export function MerchantsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isOperator = useHasRole("operator");
  return (
    <ListPage
      title={t("merchants.title")}
      about={t("merchants.about")}
      query={merchantsQuery(search)}
      actions={isOperator && <CreateMerchant />}
      filters={
        <Filters>
          <SearchFilter label={t("merchants.search")} value={search.q} />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.merchant(id)}
      empty={search.q === undefined ? t("merchants.empty") : t("merchants.emptyFiltered")}
      columns={[
        { name: t("merchants.name"), cell: ({ name }) => name },
        { name: t("merchants.email"), cell: ({ accountEmail }) => accountEmail },
        { name: t("merchants.currency"), cell: ({ currency }) => currency, isMinor: true },
        {
          name: t("merchants.creditLimit"),
          cell: ({ creditLimit }) =>
            creditLimit === null ? t("merchants.unlimited") : <Money of={creditLimit} />,
          align: "right",
        },
        {
          name: t("merchants.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
          isMinor: true,
        },
      ]}
    />
  );
}
