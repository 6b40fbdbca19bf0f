import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { TextLink } from "../../../ui/link.tsx";
import { ActiveFilters, Filters, SelectFilter, useSetFilters } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { productQuery } from "../../products/queries.ts";
import { FacilityTabs } from "../../thing-tabs.tsx";
import { facilityQuery, MOVEMENT_KINDS, movementsQuery } from "../queries.ts";
import { movementKey, useMovementColumns } from "./movement-columns.tsx";
import { useProductScans } from "./use-product-scans.ts";

const route = getRouteApi("/signed-in/facilities/$facilityId/movements");

export function MovementsPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const search = route.useSearch();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const setFilters = useSetFilters();
  useProductScans({ onProduct: ({ id }) => setFilters({ productId: id }) });
  const product = useQuery({
    ...productQuery(search.productId ?? ""),
    enabled: search.productId !== undefined,
  });
  const [when, ...others] = useMovementColumns();
  if (when === undefined) return null; // The first column is the time.
  return (
    <ListPage
      title={t("stock.movementsAt", { facility: facility.name })}
      crumbs={
        <Crumbs
          of={[
            [t("facilities.title"), paths.facilities()],
            [facility.name, paths.facility(facilityId)],
          ]}
        />
      }
      tabs={<FacilityTabs facilityId={facilityId} />}
      filters={
        <>
          <Filters>
            <SelectFilter
              label={t("stock.what")}
              name="kind"
              value={search.kind}
              options={MOVEMENT_KINDS.map((value) => ({ value, label: t(`movementKinds.${value}`) }))}
            />
          </Filters>
          <ActiveFilters
            of={[
              {
                name: "productId",
                label:
                  search.productId &&
                  (product.data === undefined
                    ? search.productId
                    : `${product.data.sku} ${product.data.name}`),
              },
            ]}
          />
        </>
      }
      query={movementsQuery(facilityId, search)}
      rowKey={movementKey}
      empty={
        search.kind === undefined && search.productId === undefined
          ? t("stock.noMovements")
          : t("stock.noMovementsFiltered")
      }
      columns={[
        when,
        {
          name: t("order.product"),
          isLong: true,
          phone: "below",
          cell: ({ productId, sku, name }) => (
            <TextLink to={paths.stock(facilityId, productId)}>
              {sku} {name}
            </TextLink>
          ),
        },
        ...others,
      ]}
    />
  );
}
