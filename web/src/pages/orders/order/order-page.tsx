import { Grid, Group, Stack } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import { useLiveQueries } from "../../../api/updates/use-live-queries.ts";
import { paths } from "../../../paths.ts";
import { Crumbs, Page } from "../../../ui/page.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { OrderActions } from "../actions/order-actions.tsx";
import { useHoldReason } from "../hold-reason.ts";
import { orderDeliveriesQuery, orderQuery } from "../queries.ts";
import { OrderDeliveries } from "./deliveries.tsx";
import { OrderAddress, OrderDetails, OrderNote } from "./details.tsx";
import { OrderHolds } from "./holds.tsx";
import { OrderLines } from "./lines.tsx";
import { OrderMoney } from "./money.tsx";
import { OrderReturns, OrderShipments } from "./shipments.tsx";
import { OrderTimeline } from "./timeline.tsx";

const route = getRouteApi("/signed-in/orders/$orderId");

/** One order: what it is, what happened to it, and what can be done now. */
export function OrderPage() {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const { orderId } = route.useParams();
  const seesDeliveries = useHasRole("operator", "support", "merchant", "partner");
  const { data: order } = useSuspenseQuery(orderQuery(orderId));
  useLiveQueries(
    [orderQuery(orderId), ...(seesDeliveries ? [orderDeliveriesQuery(order)] : [])],
    ({ orders }) => orders.some(({ id }) => id === order.id),
  );
  return (
    <Page
      title={order.externalOrderId ?? order.id}
      crumbs={<Crumbs of={[[t("orders.title"), paths.orders()]]} />}
      beside={
        <Group gap={6}>
          <StatusBadge of="order" status={order.status} />
          {order.onHoldReasons.map((reason) => (
            <Pill key={reason} tone="warning">
              {holdReason(reason)}
            </Pill>
          ))}
          {order.testMode && <Pill>{t("orders.test")}</Pill>}
        </Group>
      }
      actions={<OrderActions order={order} />}
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <OrderHolds order={order} />
            <OrderLines order={order} />
            <OrderShipments order={order} />
            <OrderReturns order={order} />
            <OrderTimeline order={order} />
            {seesDeliveries && <OrderDeliveries order={order} />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="md">
            <OrderDetails order={order} />
            <OrderAddress order={order} />
            <OrderMoney order={order} />
            <OrderNote order={order} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
