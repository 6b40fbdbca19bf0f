import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import type { Order, OrderLine } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { TextLink } from "../../../ui/link.tsx";
import { Below, DataTable } from "../../../ui/list/data-table.tsx";
import { Money } from "../../../ui/money.tsx";
import { Section } from "../../../ui/page.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";

/** The lines of the order, with their shipments. */
export function OrderLines({ order }: { order: Order }) {
  const { t } = useTranslation();
  const seesProducts = useHasRole("operator", "warehouse", "merchant", "support");
  const shipmentOf = ({ shipmentId }: OrderLine) => order.shipments.find(({ id }) => id === shipmentId);
  return (
    <Section title={t("order.lines")}>
      <DataTable
        label={t("order.lines")}
        rows={order.lines}
        rowKey={({ id }) => id}
        columns={[
          {
            name: t("order.product"),
            cell: ({ productId, name, sku }) => (
              <Below text={sku}>
                {seesProducts ? <TextLink to={paths.product(productId)}>{name}</TextLink> : name}
              </Below>
            ),
            isLong: true,
          },
          { name: t("order.quantity"), align: "right", cell: ({ quantity }) => formatNumber(quantity) },
          // Partners do not see the merchant's prices.
          ...(order.goods === null
            ? []
            : [
                {
                  name: t("order.unitPrice"),
                  align: "right" as const,
                  cell: ({ unitPrice }: OrderLine) => <Money of={unitPrice} />,
                },
              ]),
          {
            name: t("order.shipment"),
            cell: (line) => {
              const shipment = shipmentOf(line);
              if (line.canceledQuantity > 0) return <Pill>{t("order.canceledUnits")}</Pill>;
              return shipment === undefined ? "–" : <StatusBadge of="shipment" status={shipment.status} />;
            },
          },
          {
            name: t("order.returned"),
            align: "right",
            isMinor: true,
            cell: ({ returnedQuantity }) => (returnedQuantity === 0 ? "–" : formatNumber(returnedQuantity)),
          },
        ]}
      />
    </Section>
  );
}
