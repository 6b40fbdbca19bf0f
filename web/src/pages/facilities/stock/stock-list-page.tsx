import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { ButtonLink } from "../../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { facilityQuery, stockListQuery } from "../queries.ts";
import { RecordStock } from "./record-stock.tsx";

const route = getRouteApi("/signed-in/facilities/$facilityId/stock");

/** What few is, in the filter. Any other number can stand in the address. */
const FEW = [1, 5, 10, 50, 100] as const;

export function StockListPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const search = route.useSearch();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const mayImport = useHasRole("operator", "warehouse");
  const isFiltered = Object.keys(search).length > 0;
  const few = search.availableBelow;
  const choices = [...new Set([...FEW, ...(few === undefined ? [] : [few])])].sort(
    (one, other) => one - other,
  );
  return (
    <ListPage
      title={t("stock.at", { facility: facility.name })}
      about={t("stock.about")}
      crumbs={
        <Crumbs
          of={[
            [t("facilities.title"), paths.facilities()],
            [facility.name, paths.facility(facilityId)],
          ]}
        />
      }
      actions={
        <>
          <ButtonLink to={paths.movements(facilityId)} size="xs" variant="default">
            {t("stock.movements")}
          </ButtonLink>
          {mayImport && (
            <ButtonLink to={paths.importStock(facilityId)} size="xs" variant="default">
              {t("stockImport.open")}
            </ButtonLink>
          )}
          <RecordStock facilityId={facilityId} />
        </>
      }
      filters={
        <Filters>
          <SearchFilter label={t("stock.search")} value={search.q} />
          <SelectFilter
            label={t("stock.few")}
            name="availableBelow"
            value={few === undefined ? undefined : String(few)}
            options={choices.map((value) => ({
              value: String(value),
              label: value === 1 ? t("stock.none") : t("stock.fewerThan", { count: value }),
            }))}
          />
        </Filters>
      }
      query={stockListQuery(facilityId, search)}
      rowKey={({ productId }) => productId}
      rowTo={({ productId }) => paths.stock(facilityId, productId)}
      empty={isFiltered ? t("stock.emptyFiltered") : t("stock.empty")}
      columns={[
        { name: t("stock.sku"), cell: ({ sku }) => sku },
        { name: t("order.product"), cell: ({ name }) => name },
        { name: t("stock.barcode"), cell: ({ barcode }) => barcode ?? "–", isMinor: true, isLong: true },
        {
          name: t("stock.available"),
          align: "right",
          cell: ({ available }) =>
            available === 0 ? <Pill tone="danger">{t("stock.soldOut")}</Pill> : formatNumber(available),
        },
        { name: t("stock.reserved"), align: "right", cell: ({ reserved }) => formatNumber(reserved) },
        { name: t("stock.onHand"), align: "right", cell: ({ onHand }) => formatNumber(onHand) },
        {
          name: t("stock.changed"),
          align: "right",
          isMinor: true,
          cell: ({ updatedAt }) => <Time at={updatedAt} />,
        },
      ]}
    />
  );
}
