import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { Filters, FlagFilter, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Crumbs } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { MerchantTabs } from "../thing-tabs.tsx";
import { merchantQuery, merchantStockQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants/$merchantId/stock");

/** What there is of a merchant's products, at all facilities together and at each. */
export function MerchantStockPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  return (
    <ListPage
      title={t("stock.at", { facility: merchant.name })}
      crumbs={
        <Crumbs
          of={[
            [t("merchants.title"), paths.merchants()],
            [merchant.name, paths.merchant(merchantId)],
          ]}
        />
      }
      tabs={<MerchantTabs merchantId={merchantId} />}
      query={merchantStockQuery(merchantId, search)}
      filters={
        <Filters>
          <SearchFilter label={t("stock.search")} value={search.q} />
          <FlagFilter
            label={t("stock.available")}
            name="available"
            value={search.available}
            yes={t("stock.available")}
            no={t("stock.none")}
          />
        </Filters>
      }
      rowKey={({ productId }) => productId}
      rowTo={({ productId }) => paths.product(productId)}
      empty={
        search.q === undefined && search.available === undefined ? t("stock.empty") : t("stock.emptyFiltered")
      }
      columns={[
        { name: t("order.product"), cell: ({ name }) => name, isName: true },
        { name: t("stock.sku"), cell: ({ sku }) => sku, phone: "below" },
        {
          name: t("stock.available"),
          align: "right",
          cell: ({ available }) => formatNumber(available),
          phone: "beside",
        },
        {
          name: t("stock.reserved"),
          align: "right",
          cell: ({ reserved }) => formatNumber(reserved),
          drop: 3,
        },
        { name: t("stock.onHand"), align: "right", cell: ({ onHand }) => formatNumber(onHand), drop: 3 },
        {
          name: t("facilities.title"),
          cell: ({ facilities }) =>
            facilities
              .map(({ facilityName, available }) => `${facilityName}: ${formatNumber(available)}`)
              .join(", "),
          isLong: true,
          drop: 2,
        },
        {
          name: t("stock.changed"),
          align: "right",
          cell: ({ updatedAt }) => <Time at={updatedAt} />,
          isMinor: true,
        },
      ]}
    />
  );
}
