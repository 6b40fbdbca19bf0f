import { Grid, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { PartnerOrder } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates/use-live-queries.ts";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionQuery } from "../connections/queries.ts";
import { CreateTestOrder } from "./create-test-order.tsx";
import { testOrdersQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/sandbox/$connectionId");

/** The sandbox of a connection: make a test order, or continue with one that exists. */
export function WorkbenchPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const { data: connection } = useSuspenseQuery(connectionQuery(connectionId));
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Page
      title={t("sandbox.title")}
      about={t("sandbox.about")}
      crumbs={
        <Crumbs
          of={[
            [t("sandbox.title"), paths.sandbox()],
            [connection.name, paths.connection(connectionId)],
          ]}
        />
      }
    >
      <Grid gap="md">
        {mayChange && (
          <Grid.Col span={{ base: 12, md: 6 }}>
            <CreateTestOrder connection={connection} />
          </Grid.Col>
        )}
        <Grid.Col span={{ base: 12, md: mayChange ? 6 : 12 }}>
          <TestOrders connectionId={connectionId} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function TestOrders({ connectionId }: { connectionId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(testOrdersQuery(connectionId));
  useLiveQueries([testOrdersQuery(connectionId)], ({ orders }) =>
    orders.some((order) => order.connectionId === connectionId && order.id.startsWith("test_")),
  );
  return (
    <Section title={t("sandbox.orders")}>
      <Stack gap="xs">
        {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && (
          <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
        )}
        {data?.data.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("sandbox.noOrders")}
          </Text>
        )}
        {data !== undefined && data.data.length > 0 && (
          <DataTable
            label={t("sandbox.orders")}
            rows={data.data}
            rowKey={({ id }) => id}
            rowTo={({ id }) => paths.testOrder(connectionId, id)}
            columns={[
              {
                name: t("orders.order"),
                cell: ({ id, externalOrderId }) => (
                  <span style={{ overflowWrap: "anywhere" }}>{externalOrderId ?? id}</span>
                ),
              },
              { name: t("orders.status"), cell: (order) => <Status order={order} /> },
              {
                name: t("order.quantity"),
                cell: ({ lines }) => formatNumber(unitsOf(lines)),
                align: "right",
              },
              { name: t("orders.created"), cell: ({ createdAt }) => <Time at={createdAt} />, align: "right" },
            ]}
          />
        )}
      </Stack>
    </Section>
  );
}

function Status({ order: { status, onHold } }: { order: PartnerOrder }) {
  const { t } = useTranslation();
  return (
    <>
      <StatusBadge of="order" status={status} />
      {onHold && <Pill tone="warning">{t("orders.onHold")}</Pill>}
    </>
  );
}

const unitsOf = (lines: PartnerOrder["lines"]): number =>
  lines.reduce((sum, { quantity }) => sum + quantity, 0);
