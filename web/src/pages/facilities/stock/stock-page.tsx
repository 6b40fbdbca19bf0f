import { NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import { newReference } from "../../../api/reference.ts";
import type { Stock, StockAdjustmentReason } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { Figure, Figures } from "../../../ui/figures.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Crumbs, Page, Section } from "../../../ui/page.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { facilityQuery, movementsQuery, stockQuery } from "../queries.ts";
import { movementKey, useMovementColumns } from "./movement-columns.tsx";
import { useStockScans } from "./use-product-scans.ts";

const route = getRouteApi("/signed-in/facilities/$facilityId/stock/$productId");

/** One product at one facility: how much there is, and where it went. */
export function StockPage() {
  const { t } = useTranslation();
  const { facilityId, productId } = route.useParams();
  const mayChange = useHasRole("operator", "warehouse");
  useStockScans(facilityId);
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const { data: stock } = useSuspenseQuery(stockQuery(facilityId, productId));
  return (
    <Page
      title={stock.name}
      crumbs={
        <Crumbs
          of={[
            [t("facilities.title"), paths.facilities()],
            [facility.name, paths.facility(facilityId)],
            [t("stock.title"), paths.stockList(facilityId)],
          ]}
        />
      }
      about={[stock.sku, stock.barcode].filter(Boolean).join(" · ")}
      actions={
        mayChange && (
          <>
            <Adjust stock={stock} />
            <Count stock={stock} />
          </>
        )
      }
    >
      <Figures>
        <Figure name={t("stock.available")}>{formatNumber(stock.available)}</Figure>
        <Figure name={t("stock.reserved")}>{formatNumber(stock.reserved)}</Figure>
        <Figure name={t("stock.onHand")}>{formatNumber(stock.onHand)}</Figure>
      </Figures>
      <Movements facilityId={facilityId} productId={productId} />
    </Page>
  );
}

function Movements({ facilityId, productId }: { facilityId: string; productId: string }) {
  const { t } = useTranslation();
  const columns = useMovementColumns();
  const { data, error, refetch } = useQuery(movementsQuery(facilityId, { productId }));
  const movements = data?.data ?? [];
  return (
    <Section title={t("stock.movements")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data !== undefined && movements.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("stock.noMovements")}
        </Text>
      ) : (
        <DataTable label={t("stock.movements")} rows={movements} rowKey={movementKey} columns={columns} />
      )}
    </Section>
  );
}

const REASONS = [
  "received",
  "returned",
  "found",
  "damaged",
  "lost",
  "sample",
  "correction",
  "other",
] as const satisfies readonly StockAdjustmentReason[];

type Props = { readonly stock: Stock };
const paramsOf = ({ facilityId, productId }: Stock) => ({ params: { path: { id: facilityId, productId } } });

/** A difference. Each opening of the dialog has a reference, by which a retry after a lost response is the same adjustment. */
function Adjust({ stock }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{
      difference: number | "";
      reason: StockAdjustmentReason;
      note: string;
      reference: string;
    }>
      label={t("stock.adjust")}
      effect={t("stock.adjustEffect")}
      done={t("stock.adjusted")}
      isPrimary
      initialValues={{ difference: "", reason: "received", note: "", reference: newReference("console") }}
      validate={({ difference }) =>
        difference === "" || difference === 0 ? { difference: t("stock.notZero") } : {}
      }
      fields={(form) => (
        <Stack gap="sm">
          <NumberInput
            label={t("stock.difference")}
            description={t("stock.differenceHelp")}
            allowDecimal={false}
            data-autofocus
            {...form.getInputProps("difference")}
          />
          <Select
            label={t("order.reason")}
            data={REASONS.map((value) => ({ value, label: t(`adjustmentReasons.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("reason")}
          />
          <TextInput label={t("stock.note")} maxLength={500} {...form.getInputProps("note")} />
        </Stack>
      )}
      run={({ difference, reason, note, reference }) =>
        dataOf(
          api.POST("/api/facilities/{id}/stock/{productId}/adjust", {
            ...paramsOf(stock),
            body: { difference: Number(difference), reason, reference, ...filled({ note }) },
          }),
        )
      }
    />
  );
}

/**
 * A count. If units have moved since the dialog opened, the service says so, and nothing changes, also if the page has read
 * the stock again by then. An empty field is an error, because 0 says that nothing is left.
 */
function Count({ stock }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{ onHand: number | ""; expectedOnHand: number }>
      label={t("stock.count")}
      effect={({ expectedOnHand }) => t("stock.countEffect", { onHand: formatNumber(expectedOnHand) })}
      done={t("stock.counted")}
      initialValues={{ onHand: stock.onHand, expectedOnHand: stock.onHand }}
      validate={({ onHand }) => (onHand === "" ? { onHand: t("ui.required") } : {})}
      fields={(form) => (
        <NumberInput
          label={t("stock.onHand")}
          min={0}
          allowDecimal={false}
          data-autofocus
          {...form.getInputProps("onHand")}
        />
      )}
      run={({ onHand, expectedOnHand }) =>
        dataOf(
          api.PUT("/api/facilities/{id}/stock/{productId}", {
            ...paramsOf(stock),
            body: { onHand: Number(onHand), expectedOnHand },
          }),
        )
      }
    />
  );
}
