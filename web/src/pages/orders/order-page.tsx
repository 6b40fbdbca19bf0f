import { Stack } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { orderQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/orders/$orderId");

export function OrderPage() {
  const { orderId } = route.useParams();
  const { data: order } = useSuspenseQuery(orderQuery(orderId));
  return (
    <Page title={order.externalOrderId ?? order.id} beside={<StatusBadge of="order" status={order.status} />}>
      <Stack />
    </Page>
  );
}
