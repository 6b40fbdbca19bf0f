import IconPlus from "icon:plus";
import { NumberInput, Select, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import { ApiProblem } from "../../../api/problem.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { useAnnounce } from "../../../ui/announce.ts";
import { DownloadButton } from "../../../ui/download-button.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { lookUp } from "../../../ui/scan/look-up.ts";
import { readScan } from "../../../ui/scan/read-scan.ts";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { FacilityTabs } from "../../thing-tabs.tsx";
import { facilityQuery, stockFile, stockListQuery } from "../queries.ts";
import { useStockScans } from "./use-product-scans.ts";

const route = getRouteApi("/signed-in/facilities/$facilityId/stock");

/** What few is, in the filter. Any other number can stand in the address. */
const FEW = [1, 5, 10, 50, 100] as const;

export function StockListPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const search = route.useSearch();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const mayChange = useHasRole("operator", "warehouse");
  useStockScans(facilityId);
  const isFiltered = Object.keys(search).length > 0;
  const few = search.availableBelow;
  const choices = [...new Set([...FEW, ...(few === undefined ? [] : [few])])].sort(
    (one, other) => one - other,
  );
  return (
    <ListPage
      title={t("stock.at", { facility: facility.name })}
      crumbs={
        <Crumbs
          of={[
            [t("facilities.title"), paths.facilities()],
            [facility.name, paths.facility(facilityId)],
          ]}
        />
      }
      tabs={<FacilityTabs facilityId={facilityId} />}
      actions={
        mayChange && (
          <>
            <ButtonLink to={paths.importStock(facilityId)} size="xs" variant="default">
              {t("stockImport.open")}
            </ButtonLink>
            <DownloadButton address={stockFile(facilityId)} />
            <RecordStock facilityId={facilityId} code={search.q ?? ""} />
          </>
        )
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
      empty={
        search.q !== undefined && few === undefined
          ? t("stock.emptySearch", { q: search.q })
          : t(isFiltered ? "stock.emptyFiltered" : "stock.empty")
      }
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
/** The products that have a code. */
type Choices = { readonly code: string; readonly of: readonly Choice[] };

/** A scan returns no more products. */
const SCANNED_MAX = 10;
const PRODUCT_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

type RecordProps = {
  readonly facilityId: string;
  /** What was searched for. A scanned product without stock is counted next. */
  readonly code: string;
};

/**
 * The first count of a product here: it is found by its barcode or SKU, else by its id. A scan picks the product and moves to the
 * quantity. Merchants can sell the same article; then the person chooses whose it is.
 */
function RecordStock({ facilityId, code: searched }: RecordProps) {
  const { t } = useTranslation();
  const [choices, setChoices] = useState<Choices>({ code: "", of: [] });
  const announce = useAnnounce();
  const codeField = useRef<HTMLInputElement>(null);
  const quantityField = useRef<HTMLInputElement>(null);
  // One request for a code: leaving the field looks for it, and so does the form.
  const asked = useRef<{ readonly code: string; readonly of: Promise<readonly Choice[]> }>(null);
  const choicesOf = async (code: string): Promise<readonly Choice[]> => {
    if (asked.current?.code !== code) asked.current = { code, of: productsOf(code) };
    const { of } = asked.current;
    try {
      setChoices({ code, of: await of });
    } catch (error) {
      asked.current = null;
      throw error;
    }
    return of;
  };
  const productOf = async (code: string, chosen: string | null): Promise<string> => {
    const found = await choicesOf(code);
    const [product, other] = found;
    if (product !== undefined && other === undefined) return product.value;
    if (chosen !== null && found.some(({ value }) => value === chosen)) return chosen;
    codeField.current?.focus();
    codeField.current?.select(); // The next scan replaces the code.
    throw rejected(t(product === undefined ? "stock.noProduct" : "stock.severalProducts"));
  };
  /** Before the quantity is typed, so that it is typed for the right product. */
  const pick = async (form: UseFormReturnType<RecordValues>, code: string) => {
    if (code === "") return;
    const found = await choicesOf(code);
    if (found.length > 0 || codeField.current?.value.trim() !== code) return;
    form.setFieldError("code", t("stock.noProduct"));
    codeField.current.focus();
    codeField.current.select();
  };
  return (
    <ConfirmAction<RecordValues>
      label={t("stock.record")}
      effect={t("stock.recordEffect")}
      done={t("stock.counted")}
      isPrimary
      icon={<IconPlus size={14} />}
      initialValues={{ code: searched, onHand: "", productId: null }}
      validate={({ code, onHand }) => ({
        ...(code.trim() === "" && { code: t("ui.required") }),
        ...(onHand === "" && { onHand: t("ui.required") }),
      })}
      fields={(form) => {
        const isPicked = choices.code === form.values.code.trim();
        const [only, other] = isPicked ? choices.of : [];
        return (
          <Stack gap="sm">
            <TextInput
              ref={codeField}
              label={t("stock.code")}
              required
              data-autofocus
              {...form.getInputProps("code")}
              {...(only !== undefined && other === undefined && { description: only.label })}
              inputWrapperOrder={["label", "input", "description", "error"]}
              onChange={(event) => form.setValues({ code: event.currentTarget.value, productId: null })}
              onFocus={(event) => event.currentTarget.select()} // A scan replaces what is there.
              // A scanner ends with Enter or with Tab: both lead to the quantity, and neither sends the form.
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.currentTarget.value.trim() === "") return;
                event.preventDefault();
                quantityField.current?.focus();
              }}
              onBlur={(event) => void pick(form, event.currentTarget.value.trim()).catch(announce.failed)}
            />
            {other !== undefined && (
              <Select
                label={t("stock.whichProduct")}
                {...(choices.of.length >= SCANNED_MAX && { description: t("stock.firstProducts") })}
                required
                data={[...choices.of]}
                {...form.getInputProps("productId")}
              />
            )}
            <NumberInput
              ref={quantityField}
              label={t("stock.onHand")}
              required
              min={0}
              allowDecimal={false}
              {...form.getInputProps("onHand")}
            />
          </Stack>
        );
      }}
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

type RecordValues = { code: string; onHand: number | ""; productId: string | null };

/** The products that a code names, at most SCANNED_MAX, with their merchants if there are several. */
async function productsOf(code: string): Promise<Choice[]> {
  const { products } = await lookUp(readScan(code));
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
