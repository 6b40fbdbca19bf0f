import { Box, Grid, Group, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole, useMe } from "../../api/me.ts";
import type { OrderSummary } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { countryName } from "../../text/format.ts";
import { TextLink, useGo } from "../../ui/link.tsx";
import { useRowKeys } from "../../ui/list/data-table.tsx";
import { Paging } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { worksEverywhere } from "../facilities/queries.ts";
import { OrderActions } from "../orders/actions/order-actions.tsx";
import { OrderAddress, OrderNote } from "../orders/order/details.tsx";
import { WhyInReview } from "../orders/order/holds.tsx";
import { OrderLines } from "../orders/order/lines.tsx";
import { orderQuery, reviewQuery } from "../orders/queries.ts";
import classes from "./review-page.module.css";

const route = getRouteApi("/signed-in/review");

/** Orders that wait for a decision: the queue beside the order. After a decision the next one is shown. */
export function ReviewPage() {
  const { t } = useTranslation();
  const { order: chosen, cursor } = route.useSearch();
  const { data, error, refetch } = useQuery({ ...reviewQuery(cursor), placeholderData: keepPreviousData });
  const me = useMe();
  const isReader = useHasRole("support");
  const seesAll = isReader || worksEverywhere(me);
  useRowKeys();
  useLiveQueries([reviewQuery(cursor)], ({ orders }) => orders.length > 0);
  const orders = data?.data ?? [];
  const shown = orders.find(({ id }) => id === chosen) ?? orders[0];
  const isBehindTheLast = cursor !== undefined && data?.data.length === 0;
  if (isBehindTheLast) return <Navigate to={paths.review()} replace />;
  return (
    <Page title={t("review.title")} about={t("review.about")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={240} role="status" aria-label={t("ui.loading")} />
      )}
      {data !== undefined && shown === undefined && (
        <Section title={t("review.emptyTitle")}>
          <Text size="sm" c="dimmed">
            {t(seesAll ? "review.empty" : "review.emptyElsewhere")}
          </Text>
        </Section>
      )}
      {shown !== undefined && (
        <Grid>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Queue orders={orders} shownId={shown.id} cursor={cursor} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 8 }}>
            <Decision key={shown.id} id={shown.id} />
          </Grid.Col>
        </Grid>
      )}
      <Paging nextCursor={data?.nextCursor ?? null} />
    </Page>
  );
}

type QueueProps = {
  readonly orders: readonly OrderSummary[];
  readonly shownId: string;
  readonly cursor: string | undefined;
};

function Queue({ orders, shownId, cursor }: QueueProps) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <Box component="ul" className={classes["queue"] ?? ""} aria-label={t("review.queue")}>
      {orders.map((order) => (
        <li key={order.id}>
          <UnstyledButton
            className={classes["item"] ?? ""}
            aria-current={order.id === shownId}
            data-row-link
            onClick={() => void go(paths.review({ order: order.id, cursor }), { replace: true })}
          >
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" fw={500} truncate dir="auto">
                {order.externalOrderId ?? order.id}
              </Text>
              <Text size="sm">
                <Money of={order.goods} />
              </Text>
            </Group>
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="xs" c="dimmed" truncate dir="auto">
                {order.merchantName} · {countryName(order.shippingAddress.countryCode)}
              </Text>
              <Text size="xs" c="dimmed">
                <Time at={order.createdAt} as="relative" />
              </Text>
            </Group>
          </UnstyledButton>
        </li>
      ))}
    </Box>
  );
}

function Decision({ id }: { id: string }) {
  const { t } = useTranslation();
  const { data: order, error, refetch } = useQuery(orderQuery(id));
  if (error !== null) return <ProblemMessage error={error} retry={() => void refetch()} />;
  if (order === undefined) return <Skeleton height={320} role="status" aria-label={t("ui.loading")} />;
  const decisions = order.actions.filter(({ name }) => DECISIONS.includes(name));
  return (
    <Stack gap="md">
      <Section
        title={order.externalOrderId ?? order.id}
        actions={
          <Group gap="xs">
            <OrderActions order={{ ...order, actions: decisions }} />
          </Group>
        }
      >
        <Group gap="xs">
          <Text size="sm">
            {order.merchantName} · {order.connectionName} · <Money of={order.goods} />
          </Text>
          {order.onHoldReasons.length > 0 && <Pill tone="warning">{t("orders.onHold")}</Pill>}
          <TextLink to={paths.order(order.id)} size="sm">
            {t("review.wholeOrder")}
          </TextLink>
        </Group>
        <WhyInReview order={order} />
      </Section>
      <OrderLines order={order} />
      <OrderAddress order={order} />
      <OrderNote order={order} />
    </Stack>
  );
}

const DECISIONS: readonly string[] = ["approve", "reject", "hold", "releaseHold", "updateShippingAddress"];
