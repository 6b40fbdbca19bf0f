import { Anchor, Button, Grid, Stack, Text, Title } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Product, ProductExposure } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatNumber, formatWeight } from "../../text/format.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Filters, FlagFilter, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { merchantQuery } from "../merchants/queries.ts";
import { ExposureBar } from "./exposure-bar.tsx";
import { EditProduct } from "./product-form.tsx";
import { MerchantCrumbs } from "./products-page.tsx";
import { productConnectionsQuery, productQuery, productStockQuery } from "./queries.ts";
import type { Target } from "./run-exposure.ts";

const route = getRouteApi("/signed-in/products/$productId");

/** One product, and the connections to which it is exposed. */
export function ProductPage() {
  const { t } = useTranslation();
  const { productId } = route.useParams();
  const search = route.useSearch();
  const { data: product } = useSuspenseQuery(productQuery(productId));
  const { data: merchant } = useSuspenseQuery(merchantQuery(product.merchantId));
  const mayChange = useHasRole("operator", "merchant");
  const [selected, setSelected] = useState<ReadonlyMap<string, ProductExposure>>(new Map());
  const isFiltered = search.q !== undefined || search.exposed !== undefined;
  const listed = useQuery(productConnectionsQuery(productId, search)).data?.data ?? [];
  return (
    <ListPage<ProductExposure>
      title={product.name}
      label={t("exposure.title")}
      crumbs={
        <MerchantCrumbs
          merchant={merchant}
          below={[[t("products.title"), paths.merchantProducts(merchant.id)]]}
        />
      }
      beside={<StatusBadge of="product" status={product.status} />}
      actions={mayChange && <ProductActions product={product} />}
      above={<ProductFacts product={product} />}
      filters={
        <Stack gap="md">
          <ConnectionFilters />
          {mayChange && (listed.length > 0 || selected.size > 0) && (
            <ExposureBar
              selected={selected.size === 0 ? null : t("selection.connections", { count: selected.size })}
              clear={() => setSelected(new Map())}
              merchantId={product.merchantId}
              products={{ ids: [product.id] }}
              targets={[...selected.values()].map(targetOf)}
            >
              <Button
                size="xs"
                variant="default"
                onClick={() =>
                  setSelected(
                    new Map([...selected, ...listed.map((one) => [one.connectionId, one] as const)]),
                  )
                }
              >
                {t("selection.page")}
              </Button>
            </ExposureBar>
          )}
        </Stack>
      }
      query={productConnectionsQuery(productId, search)}
      rowKey={({ connectionId }) => connectionId}
      rowTo={({ connectionId }) => paths.connection(connectionId)}
      selection={
        mayChange
          ? {
              chosen: selected,
              choose: setSelected,
              labelOf: ({ connectionName: name }) => t("selection.selectOf", { name }),
              allLabel: t("selection.page"),
            }
          : undefined
      }
      empty={t(isFiltered ? "exposure.emptyFiltered" : "exposure.empty")}
      columns={[
        { name: t("exposure.title"), cell: ({ connectionName }) => connectionName },
        { name: t("exposure.state"), cell: ({ exposedAt }) => <Exposure since={exposedAt} /> },
      ]}
    />
  );
}

function ConnectionFilters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  return (
    <>
      <Title order={2} size="h5" mt="xs">
        {t("exposure.title")}
      </Title>
      <Filters>
        <SearchFilter label={t("exposure.search")} value={search.q} />
        <FlagFilter
          label={t("exposure.state")}
          name="exposed"
          value={search.exposed}
          yes={t("exposure.exposed")}
          no={t("exposure.hidden")}
        />
      </Filters>
    </>
  );
}

const targetOf = ({ connectionId: id, connectionName: name }: ProductExposure): Target => ({ id, name });

function Exposure({ since }: { since: string | null }) {
  const { t } = useTranslation();
  if (since === null) return <Pill>{t("exposure.hidden")}</Pill>;
  return (
    <>
      <Pill tone="success">{t("exposure.exposed")}</Pill> {t("exposure.since")} <Time at={since} />
    </>
  );
}

const ProductActions = ({ product }: { product: Product }) => (
  <>
    <EditProduct product={product} />
    <ChangeStatus product={product} />
  </>
);

function ChangeStatus({ product: { id, status } }: { product: Product }) {
  const { t } = useTranslation();
  const isActive = status === "active";
  return (
    <ConfirmAction
      label={t(isActive ? "product.discontinue" : "product.activate")}
      effect={t(isActive ? "product.discontinueEffect" : "product.activateEffect")}
      done={t(isActive ? "product.discontinued" : "product.activated")}
      isDanger={isActive}
      run={() =>
        dataOf(
          api.PATCH("/api/products/{id}", {
            params: { path: { id } },
            body: { status: isActive ? "discontinued" : "active" },
          }),
        )
      }
    />
  );
}

function ProductFacts({ product }: { product: Product }) {
  const { t } = useTranslation();
  const { id, sku, price, weightGrams, barcode, lowStockBelow, description, imageUrl, createdAt, updatedAt } =
    product;
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Section title={t("products.details")}>
          <Facts
            of={[
              [t("products.id"), <CopiedText key="id" value={id} of={t("products.id")} />],
              [t("products.sku"), sku],
              [t("products.price"), <Money key="price" of={price} />],
              [t("products.weight"), weightGrams === null ? null : formatWeight(weightGrams)],
              [t("products.barcode"), barcode],
              [t("products.lowStockBelow"), lowStockBelow],
              [
                t("products.imageUrl"),
                // Shown as an address: the console loads nothing from other hosts.
                imageUrl === null ? null : (
                  <Anchor key="image" href={imageUrl} target="_blank" rel="noreferrer" size="sm">
                    {imageUrl}
                  </Anchor>
                ),
              ],
              [
                t("products.description"),
                description === null ? null : (
                  <Text key="description" span inherit style={{ whiteSpace: "pre-line" }}>
                    {description}
                  </Text>
                ),
              ],
              [t("products.created"), <Time key="created" at={createdAt} />],
              [t("products.changed"), <Time key="changed" at={updatedAt} />],
            ]}
          />
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <StockSection productId={id} />
      </Grid.Col>
    </Grid>
  );
}

/** The stock at each facility that the caller may see: of its own products a merchant sees all. */
function StockSection({ productId }: { productId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(productStockQuery(productId));
  return (
    <Section title={t("products.stock")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data !== undefined &&
        (data.data.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t("products.stockNone")}
          </Text>
        ) : (
          <DataTable
            label={t("products.stock")}
            rows={data.data}
            rowKey={({ facilityId }) => facilityId}
            columns={[
              { name: t("work.facility"), cell: ({ facilityName }) => facilityName },
              {
                name: t("stock.available"),
                align: "right",
                cell: ({ available }) => formatNumber(available),
              },
              { name: t("stock.onHand"), align: "right", cell: ({ onHand }) => formatNumber(onHand) },
            ]}
          />
        ))}
      {data?.nextCursor != null && (
        <Text size="xs" c="dimmed">
          {t("products.stockMore")}
        </Text>
      )}
    </Section>
  );
}
