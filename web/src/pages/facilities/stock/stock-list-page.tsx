import { NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import { ApiProblem } from "../../../api/problem.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { facilityQuery, stockListQuery } from "../queries.ts";

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
        { name: t("order.product"), cell: ({ name }) => name, isLong: true, phone: "below" },
        { name: t("stock.barcode"), cell: ({ barcode }) => barcode ?? "–", drop: 2 },
        {
          name: t("stock.available"),
          align: "right",
          phone: "beside",
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

type Choice = { readonly value: string; readonly label: string };
/** The products that have a code, if there are several. */
type Choices = { readonly code: string; readonly of: readonly Choice[] };

/** A scan returns no more products. */
const SCANNED_MAX = 10;
const PRODUCT_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The first count of a product here: it is found by its barcode or SKU, else by its id. Merchants can sell the same article;
 * then the person chooses whose it is.
 */
function RecordStock({ facilityId }: { facilityId: string }) {
  const { t } = useTranslation();
  const [choices, setChoices] = useState<Choices | null>(null);
  const codeField = useRef<HTMLInputElement>(null);
  const productOf = async (code: string, chosen: string | null): Promise<string> => {
    if (chosen !== null && choices?.code === code) return chosen;
    const found = await productsOf(code);
    const [product, other] = found;
    if (product !== undefined && other === undefined) return product.value;
    codeField.current?.focus();
    codeField.current?.select(); // The next scan replaces the code.
    if (product === undefined) throw rejected(t("stock.noProduct"));
    setChoices({ code, of: found });
    throw rejected(t("stock.severalProducts"));
  };
  return (
    <ConfirmAction<{ code: string; onHand: number | ""; productId: string | null }>
      label={t("stock.record")}
      effect={t("stock.recordEffect")}
      done={t("stock.counted")}
      isPrimary
      icon={<IconPlus size={14} />}
      initialValues={{ code: "", onHand: "", productId: null }}
      validate={({ code, onHand }) => ({
        ...(code.trim() === "" && { code: t("ui.required") }),
        ...(onHand === "" && { onHand: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            ref={codeField}
            label={t("stock.code")}
            required
            maxLength={255}
            data-autofocus
            {...form.getInputProps("code")}
            onChange={(event) => form.setValues({ code: event.currentTarget.value, productId: null })}
          />
          {choices !== null && choices.code === form.values.code.trim() && (
            <Select
              label={t("stock.whichProduct")}
              {...(choices.of.length >= SCANNED_MAX && { description: t("stock.firstProducts") })}
              required
              data={[...choices.of]}
              {...form.getInputProps("productId")}
            />
          )}
          <NumberInput
            label={t("stock.onHand")}
            required
            min={0}
            allowDecimal={false}
            {...form.getInputProps("onHand")}
          />
        </Stack>
      )}
      run={async ({ code, onHand, productId: chosen }) => {
        const productId = await productOf(code.trim(), chosen);
        // Only the first count: an existing record is counted on its own page, which knows what was there.
        const body = { onHand: Number(onHand), expectedOnHand: 0 };
        return dataOf(
          api.PUT("/api/facilities/{id}/stock/{productId}", {
            params: { path: { id: facilityId, productId } },
            body,
          }),
        );
      }}
    />
  );
}

/** The products that a code names, at most SCANNED_MAX, with their merchants if there are several. */
async function productsOf(code: string): Promise<Choice[]> {
  const { products } = await dataOf(api.GET("/api/work-list/scan", { params: { query: { code } } }));
  if (products.length === 0 && PRODUCT_ID.test(code)) return [{ value: code.toLowerCase(), label: code }];
  if (products.length < 2) return products.map(({ id, name }) => ({ value: id, label: name }));
  const ids = [...new Set(products.map(({ merchantId }) => merchantId))];
  const merchants = await Promise.all(
    ids.map((id) => dataOf(api.GET("/api/merchants/{id}", { params: { path: { id } } }))),
  );
  const nameOf = new Map(merchants.map(({ id, name }) => [id, name]));
  return products.map(({ id, merchantId, name, sku, barcode }) => ({
    value: id,
    // A merchant can have two products with one name and SKU. Their barcodes differ.
    label: [nameOf.get(merchantId), name, sku, barcode].filter(Boolean).join(" · "),
  }));
}

const rejected = (detail: string): ApiProblem =>
  new ApiProblem(422, new Headers(), { code: "product", detail });
