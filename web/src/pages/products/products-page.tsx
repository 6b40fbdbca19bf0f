import { Button, Stack } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
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
import { merchantQuery } from "../merchants/queries.ts";
import { ExposureBar } from "./exposure/exposure-bar.tsx";
import { ExposureFilter } from "./exposure/exposure-filter.tsx";
import { CreateProduct } from "./product-form.tsx";
import { PRODUCT_STATUSES, productsCsv, productsQuery } from "./queries.ts";

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
      about={t("products.about")}
      crumbs={<MerchantCrumbs merchant={merchant} />}
      actions={
        <>
          {mayExport && <DownloadButton address={productsCsv(merchantId)} label={t("products.export")} />}
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
        { name: t("products.name"), cell: ({ name }) => name },
        { name: t("products.status"), cell: ({ status }) => <StatusBadge of="product" status={status} /> },
        { name: t("products.barcode"), cell: ({ barcode }) => barcode ?? "–", isMinor: true, isLong: true },
        { name: t("products.price"), cell: ({ price }) => <Money of={price} />, align: "right" },
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
