import IconUpload from "icon:upload";
import { Button, Select, Stack } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Product } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter, useSetFilters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionQuery } from "../connections/queries.ts";
import { merchantQuery, merchantsQuery } from "../merchants/queries.ts";
import { MerchantTabs } from "../thing-tabs.tsx";
import { ExposureBar } from "./exposure-bar.tsx";
import { CreateProduct } from "./product-form.tsx";
import { merchantConnectionsQuery, PRODUCT_STATUSES, productsFile, productsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/products/of/$merchantId");

type Selected = { readonly rows: ReadonlyMap<string, Product> } | "matching";

const NOTHING: Selected = { rows: new Map() };

/** A merchant's catalog. Selected products are exposed and withdrawn together. */
export function ProductsPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { cursor: _, ...filter } = search;
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const mayChange = useHasRole("operator", "merchant");
  const mayExport = useHasRole("operator", "merchant", "warehouse");
  const isFiltered = Object.keys(filter).length > 0;
  const [selected, setSelected] = useState<Selected>(NOTHING);
  return (
    <ListPage<Product>
      title={t("products.of", { merchant: merchant.name })}
      label={t("products.title")}
      crumbs={<MerchantCrumbs merchant={merchant} />}
      tabs={<MerchantTabs merchantId={merchantId} />}
      actions={
        <>
          {mayExport && <DownloadButton address={productsFile(merchantId)} label={t("products.export")} />}
          {mayChange && (
            <ButtonLink
              to={paths.importProducts(merchantId)}
              size="xs"
              variant="default"
              leftSection={<IconUpload size={14} />}
            >
              {t("products.import")}
            </ButtonLink>
          )}
          {mayChange && <CreateProduct merchantId={merchantId} currency={merchant.currency} />}
        </>
      }
      filters={
        <Stack gap="md">
          <ProductFilters clear={() => setSelected(NOTHING)} />
          {mayChange && <SelectionBar selected={selected} select={setSelected} isFiltered={isFiltered} />}
        </Stack>
      }
      query={productsQuery(merchantId, search)}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.product(id)}
      selection={
        mayChange && selected !== "matching"
          ? {
              chosen: selected.rows,
              choose: (rows) => setSelected({ rows }),
              labelOf: ({ sku, name }) => t("selection.selectOf", { name: `${sku}, ${name}` }),
              allLabel: t("selection.page"),
            }
          : undefined
      }
      empty={t(isFiltered ? "products.emptyFiltered" : mayChange ? "products.empty" : "products.emptyReader")}
      columns={[
        { name: t("products.sku"), cell: ({ sku }) => sku },
        { name: t("products.name"), cell: ({ name }) => name, isLong: true, phone: "below" },
        {
          name: t("products.status"),
          cell: ({ status }) => <StatusBadge of="product" status={status} />,
          phone: "beside",
        },
        { name: t("products.barcode"), cell: ({ barcode }) => barcode ?? "–", drop: 2 },
        {
          name: t("products.price"),
          cell: ({ price }) => <Money of={price} />,
          align: "right",
          phone: "end",
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

export function MerchantCrumbs({ merchant, below = [] }: CrumbsProps) {
  const { t } = useTranslation();
  return (
    <Crumbs
      of={[[t("merchants.title"), paths.merchants()], [merchant.name, paths.merchant(merchant.id)], ...below]}
    />
  );
}

type CrumbsProps = {
  readonly merchant: { readonly id: string; readonly name: string };
  readonly below?: readonly (readonly [name: string, to: string])[];
};

function ProductFilters({ clear }: { clear: () => void }) {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const { q, status, connectionId, exposed } = route.useSearch();
  const setFilters = useSetFilters();
  return (
    <Filters>
      <SearchFilter label={t("products.search")} value={q} />
      <SelectFilter
        label={t("products.status")}
        name="status"
        value={status}
        options={PRODUCT_STATUSES.map((value) => ({ value, label: t(`status.product.${value}`) }))}
      />
      <ExposureFilter
        merchantId={merchantId}
        connectionId={connectionId}
        exposed={exposed}
        set={(filter) => {
          clear();
          setFilters(filter);
        }}
      />
    </Filters>
  );
}

type BarProps = {
  readonly selected: Selected;
  readonly select: (selected: Selected) => void;
  readonly isFiltered: boolean;
};

function SelectionBar({ selected, select, isFiltered }: BarProps) {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const { cursor, ...filter } = route.useSearch();
  const { data } = useQuery(
    productsQuery(merchantId, { ...filter, ...(cursor !== undefined && { cursor }) }),
  );
  const page = data?.data ?? [];
  if (page.length === 0) return null;
  const ids = selected === "matching" ? [] : [...selected.rows.keys()];
  const text =
    selected === "matching"
      ? t(isFiltered ? "selection.allMatching" : "selection.allProducts")
      : ids.length === 0
        ? null
        : t("selection.products", { count: ids.length });
  return (
    <ExposureBar
      selected={text}
      clear={() => select(NOTHING)}
      merchantId={merchantId}
      products={selected === "matching" ? { filter } : { ids }}
      suggested={filter.connectionId}
    >
      <Button
        size="xs"
        variant="default"
        onClick={() =>
          select({
            rows: new Map([
              ...(selected === "matching" ? [] : selected.rows),
              ...page.map((product) => [product.id, product] as const),
            ]),
          })
        }
      >
        {t("selection.page")}
      </Button>
      {data?.nextCursor != null && (
        <Button size="xs" variant="default" onClick={() => select("matching")}>
          {t("selection.matching")}
        </Button>
      )}
    </ExposureBar>
  );
}

type Filter = { readonly connectionId: string | undefined; readonly exposed: boolean | undefined };

type Props = Filter & { readonly merchantId: string; readonly set: (filter: Filter) => void };

/** A connection is chosen with whether the products are exposed to it: the two parameters of the address are one choice. */
const choiceOf = ({ connectionId, exposed }: Filter): string | null =>
  connectionId === undefined && exposed === undefined
    ? null
    : `${exposed === false ? "not" : "is"}:${connectionId ?? ""}`;

function filterOf(value: string | null): Filter {
  if (value === null) return { connectionId: undefined, exposed: undefined };
  const [state, connectionId = ""] = value.split(":");
  return { connectionId: connectionId === "" ? undefined : connectionId, exposed: state === "is" };
}

/** To which connection products are exposed, or are not. */
function ExposureFilter({ merchantId, set, ...filter }: Props) {
  const { t } = useTranslation();
  const { data } = useQuery(merchantConnectionsQuery(merchantId));
  const listed = data?.data ?? [];
  // An address can name a connection beyond those that are offered.
  const { data: named } = useQuery({
    ...connectionQuery(filter.connectionId ?? ""),
    enabled: filter.connectionId !== undefined && !listed.some(({ id }) => id === filter.connectionId),
  });
  const connections = named === undefined ? listed : [...listed, named];
  const options = (state: "is" | "not") => [
    {
      value: `${state}:`,
      label:
        state === "is"
          ? t("products.exposedTo", { connection: t("products.anyConnection") })
          : t("products.exposedTo", { connection: t("products.noConnection") }),
    },
    ...connections.map(({ id, name }) => ({
      value: `${state}:${id}`,
      label: t(state === "is" ? "products.exposedTo" : "products.notExposed", { connection: name }),
    })),
  ];
  return (
    <Select
      size="xs"
      w={{ base: "100%", xs: 260 }}
      aria-label={t("products.connection")}
      placeholder={t("products.connection")}
      data={[
        { group: t("exposure.exposed"), items: options("is") },
        { group: t("exposure.hidden"), items: options("not") },
      ]}
      value={choiceOf(filter)}
      onChange={(value) => set(filterOf(value))}
      searchable
      clearable
      comboboxProps={{ withinPortal: true }}
    />
  );
}

const chooseRoute = getRouteApi("/signed-in/products");

/** Whose products? */
export function ChooseMerchantPage() {
  const { t } = useTranslation();
  const { cursor } = chooseRoute.useSearch();
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
