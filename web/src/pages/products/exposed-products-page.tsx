import { Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { formatWeight } from "../../text/format.ts";
import { ButtonLink } from "../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Crumbs } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionQuery } from "../connections/queries.ts";
import { ConnectionTabs } from "../thing-tabs.tsx";
import { exposedProductsQuery, PRODUCT_STATUSES } from "./queries.ts";

const route = getRouteApi("/signed-in/connections/$connectionId/products");

/** The products that a partner can order. Partners read the same by `GET /v1/products`. */
export function ExposedProductsPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const search = route.useSearch();
  const { data: connection } = useSuspenseQuery(connectionQuery(connectionId));
  const seesCatalog = useHasRole("operator", "merchant", "support", "warehouse", "monitoring");
  const mayChange = useHasRole("operator", "merchant");
  const isFiltered = search.q !== undefined || search.status !== undefined;
  const toChange = paths.merchantProducts(connection.merchantId, { connectionId, exposed: false });
  return (
    <ListPage
      title={t("exposed.title", { connection: connection.name })}
      label={t("products.title")}
      crumbs={
        <Crumbs
          of={[
            [t("connections.title"), paths.connections()],
            [connection.name, paths.connection(connectionId)],
          ]}
        />
      }
      tabs={<ConnectionTabs connectionId={connectionId} />}
      actions={
        mayChange && (
          <ButtonLink to={toChange} size="xs">
            {t("exposed.change")}
          </ButtonLink>
        )
      }
      filters={
        <Filters>
          <SearchFilter label={t("products.search")} value={search.q} />
          <SelectFilter
            label={t("products.status")}
            name="status"
            value={search.status}
            options={PRODUCT_STATUSES.map((value) => ({ value, label: t(`status.product.${value}`) }))}
          />
        </Filters>
      }
      query={exposedProductsQuery(connectionId, search)}
      rowKey={({ id }) => id}
      {...(seesCatalog && { rowTo: ({ id }: { id: string }) => paths.product(id) })}
      empty={
        isFiltered ? t("products.emptyFiltered") : <NothingExposed toChange={mayChange ? toChange : null} />
      }
      columns={[
        { name: t("products.sku"), cell: ({ sku }) => sku },
        { name: t("products.name"), cell: ({ name }) => name, isLong: true, phone: "below" },
        {
          name: t("products.status"),
          cell: ({ status }) => <StatusBadge of="product" status={status} />,
          phone: "beside",
        },
        {
          name: t("products.weight"),
          align: "right",
          cell: ({ weightGrams }) => (weightGrams === null ? "–" : formatWeight(weightGrams)),
        },
        {
          name: t("products.changed"),
          align: "right",
          isMinor: true,
          cell: ({ updatedAt }) => <Time at={updatedAt} />,
        },
      ]}
    />
  );
}

/** @param toChange where the person exposes products. Null: it may not. */
function NothingExposed({ toChange }: { toChange: string | null }) {
  const { t } = useTranslation();
  return (
    <>
      <Text c="dimmed" size="sm">
        {t(toChange === null ? "exposed.emptyPartner" : "exposed.empty")}
      </Text>
      {toChange !== null && (
        <ButtonLink to={toChange} size="xs">
          {t("exposed.change")}
        </ButtonLink>
      )}
    </>
  );
}
