import IconBarcode from "icon:barcode";
import { Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { PickList, Work, WorkLine } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { countryName, exactTime, formatNumber } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ButtonLink, useGo } from "../../ui/link.tsx";
import { Crumbs, Page, Parts } from "../../ui/page.tsx";
import { Barcode, PrintButton } from "../../ui/scan/barcode.tsx";
import classes from "../../ui/scan/paper.module.css";
import { useScans } from "../../ui/scan/use-scans.ts";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { pickListQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/work/pick-lists/$pickListId");

/** A batch of orders that one person picks: on the screen and on paper. */
export function PickListPage() {
  const { t } = useTranslation();
  const { pickListId } = route.useParams();
  const { data } = useSuspenseQuery(pickListQuery(pickListId));
  const go = useGo();
  const mayChange = useHasRole("operator", "warehouse");
  useScans((code) => void go(paths.station({ pickListId, scan: code })));
  const { pickList, orders } = data;
  if (pickList === null) return null; // The list exists, or the page has shown that it does not.
  // The service decides what has expired: it lists the orders that are still taken.
  const isOpen =
    orders.length > 0 || (pickList.releasedAt === null && new Date(pickList.expiresAt) > new Date());
  return (
    <Page
      title={t("pickList.title", { name: pickList.takenBy })}
      crumbs={<Crumbs of={[[t("work.title"), paths.work()]]} />}
      beside={isOpen ? <Pill tone="info">{t("pickList.open")}</Pill> : <Pill>{t("pickList.ended")}</Pill>}
      about={
        isOpen ? (
          <>
            {t("pickList.until")} <Time at={pickList.expiresAt} />
          </>
        ) : (
          t("pickList.endedHelp")
        )
      }
      actions={
        orders.length > 0 && (
          <>
            {mayChange && (
              <ButtonLink
                to={paths.station({ pickListId })}
                size="xs"
                leftSection={<IconBarcode size={14} />}
              >
                {t("pickList.pack")}
              </ButtonLink>
            )}
            <ButtonLink to={paths.pickListSlips(pickListId)} size="xs" variant="default">
              {t("pickList.slips")}
            </ButtonLink>
            <PrintButton isPrimary={false} />
            {mayChange && <Release pickListId={pickListId} />}
          </>
        )
      }
    >
      {orders.length === 0 ? (
        <Text size="sm" c="dimmed">
          {isOpen ? t("pickList.allShipped") : t("pickList.nothing")}
        </Text>
      ) : (
        <PickSheet orders={orders} pickList={pickList} />
      )}
    </Page>
  );
}

const Release = ({ pickListId }: { pickListId: string }) => {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("pickList.release")}
      effect={t("pickList.releaseEffect")}
      done={t("pickList.released")}
      run={() => dataOf(api.POST("/api/pick-lists/{id}/release", { params: { path: { id: pickListId } } }))}
    />
  );
};

type Picked = Pick<WorkLine, "productId" | "sku" | "name" | "barcode"> & {
  readonly boxes: readonly { readonly box: number; readonly quantity: number }[];
};

/** The number that the order has on its list for good: it stays when others have shipped. */
const boxOf = ({ pickList }: Work): number => pickList?.box ?? 0;

/** Each product once, with the boxes that it goes to. Goods are fetched in the order of their SKUs. */
function picksOf(orders: readonly Work[]): readonly Picked[] {
  const lines = orders.flatMap((order) => order.lines.map((line) => ({ ...line, box: boxOf(order) })));
  return [...Map.groupBy(lines, ({ productId }) => productId).values()]
    .flatMap((of) => of.slice(0, 1).map((first) => ({ ...first, boxes: of })))
    .sort((one, other) => one.sku.localeCompare(other.sku, undefined, { numeric: true }));
}

type SheetProps = { readonly orders: readonly Work[]; readonly pickList: PickList };

function PickSheet({ orders, pickList }: SheetProps) {
  const { t } = useTranslation();
  return (
    <div data-papers>
      <section className={classes["paper"]} aria-label={t("pickList.sheet")}>
        <div className={classes["head"]}>
          <div>
            <h2>{t("pickList.sheet")}</h2>
            {pickList.takenBy} · {exactTime(new Date(pickList.takenAt))}
          </div>
          <Barcode of={pickList.id} moduleMm={0.2} />
        </div>
        <table>
          <thead>
            <tr>
              <th>✓</th>
              <th>{t("stock.sku")}</th>
              <th>{t("order.product")}</th>
              <th data-number>{t("order.quantity")}</th>
              <th>{t("pickList.boxes")}</th>
            </tr>
          </thead>
          <tbody>
            {picksOf(orders).map(({ productId, sku, name, barcode, boxes }) => (
              <tr key={productId}>
                <td>
                  <span className={classes["box"]} />
                </td>
                <td data-sku>
                  <strong>{sku}</strong>
                  <br />
                  <small>{barcode}</small>
                </td>
                <td>{name}</td>
                <td data-number>
                  <strong>{formatNumber(boxes.reduce((sum, { quantity }) => sum + quantity, 0))}</strong>
                </td>
                <td>{boxes.map(({ box, quantity }) => `${box}: ${quantity}`).join(" · ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <BoxSheet orders={orders} />
    </div>
  );
}

/** Which order goes into which box. */
function BoxSheet({ orders }: Pick<SheetProps, "orders">) {
  const { t } = useTranslation();
  return (
    <section className={classes["paper"]} aria-label={t("pickList.orders")}>
      <h2>{t("pickList.orders")}</h2>
      <table>
        <thead>
          <tr>
            <th>{t("pickList.box")}</th>
            <th>{t("orders.order")}</th>
            <th>{t("work.to")}</th>
            <th data-number>{t("order.quantity")}</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((order) => (
            <tr key={order.orderId}>
              <td>
                <strong>{boxOf(order)}</strong>
              </td>
              <td>
                <Stack gap={4}>
                  {order.externalOrderId !== null && <span>{order.externalOrderId}</span>}
                  <Barcode of={order.orderId} moduleMm={0.2} />
                </Stack>
              </td>
              <td>
                <div>{order.shippingAddress.name}</div>
                <Parts
                  of={[order.shippingAddress.city, countryName(order.shippingAddress.countryCode)]}
                  between=", "
                />
                {order.note !== null && <p style={{ whiteSpace: "pre-line" }}>{order.note}</p>}
              </td>
              <td data-number>
                {formatNumber(order.lines.reduce((sum, { quantity }) => sum + quantity, 0))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
