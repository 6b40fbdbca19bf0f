import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { merchantsQuery } from "../merchants/queries.ts";

const route = getRouteApi("/signed-in/products");

/** Whose products? */
export function ChooseMerchantPage() {
  const { t } = useTranslation();
  const { cursor } = route.useSearch();
  return (
    <ListPage
      title={t("products.title")}
      about={t("products.choose")}
      query={merchantsQuery({ cursor })}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.merchantProducts(id)}
      empty={t("products.chooseEmpty")}
      columns={[
        { name: t("products.merchant"), cell: ({ name }) => name, isLong: true },
        { name: t("merchants.email"), cell: ({ accountEmail }) => accountEmail, isName: true },
      ]}
    />
  );
}
