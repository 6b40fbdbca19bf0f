import { Divider, Grid, Group, Stack, Text, Textarea } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import type { Money as MoneyValue, Order, TimelineEntry } from "../../../api/schema.d.ts";
import { useLiveQueries } from "../../../api/updates.ts";
import { paths } from "../../../paths.ts";
import { formatMoney, formatNumber } from "../../../text/format.ts";
import { OPERATIONS, useActor, useDeclineReason, useHoldReason } from "../../../text/words.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { Below, DataTable } from "../../../ui/list/data-table.tsx";
import { Money } from "../../../ui/money.tsx";
import { Crumbs, Page, Section } from "../../../ui/page.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { ShortWait } from "../../webhooks/deliveries/delivery-columns.tsx";
import { endpointName } from "../../webhooks/owner.tsx";
import { ownerEndpointsQuery } from "../../webhooks/queries.ts";
import { OrderActions } from "../actions/order-actions.tsx";
import { orderDeliveriesQuery, orderProgressQuery, orderQuery } from "../queries.ts";
import { type ChargeLine, chargeLines } from "./charge-lines.ts";
import { OrderAddress, OrderDetails, OrderNote } from "./details.tsx";
import { actionsInBoxes, OrderHolds } from "./holds.tsx";
import { OrderLines } from "./lines.tsx";
import classes from "./order.module.css";
import { OrderReturns, OrderShipments } from "./shipments.tsx";

const route = getRouteApi("/signed-in/orders/$orderId");

/** One order: what it is, what happened to it, and what can be done now. */
export function OrderPage() {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const { orderId } = route.useParams();
  const seesDeliveries = useHasRole("operator", "support", "merchant", "partner");
  const { data: order } = useSuspenseQuery(orderQuery(orderId));
  useLiveQueries(
    [
      orderQuery(orderId),
      ...(seesDeliveries ? [orderDeliveriesQuery(order), orderProgressQuery(order)] : []),
    ],
    ({ orders }) => orders.some(({ id }) => id === order.id),
  );
  const inBoxes = actionsInBoxes(order);
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
      actions={
        <OrderActions
          order={{ ...order, actions: order.actions.filter(({ name }) => !inBoxes.includes(name)) }}
        />
      }
    >
      <Grid>
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

/**
 * Adds a note to the timeline, for all who see it. Shown to those who may, for real orders
 * (docs/design/lifecycle.md, "The timeline").
 */
function NoteAction({ order: { id, testMode } }: { order: Order }) {
  const { t } = useTranslation();
  const mayAdd = useHasRole("operator", "warehouse", "merchant");
  if (testMode || !mayAdd) return null;
  return (
    <ConfirmAction
      label={t("orderActions.addNote")}
      effect={t("orderActions.addNoteEffect")}
      done={t("orderActions.noteAdded")}
      initialValues={{ text: "" }}
      validate={({ text }) => (text.trim() === "" ? { text: t("ui.required") } : {})}
      fields={(form) => (
        <Textarea
          label={t("orderActions.note")}
          maxLength={1_000}
          autosize
          minRows={3}
          maxRows={12}
          required
          data-autofocus
          {...form.getInputProps("text")}
        />
      )}
      run={({ text }) =>
        dataOf(api.POST("/api/orders/{id}/notes", { params: { path: { id } }, body: { text: text.trim() } }))
      }
    />
  );
}

/** The events of the order on their way to the partner. */
function OrderDeliveries({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(orderDeliveriesQuery(order));
  const { data: endpoints } = useQuery(ownerEndpointsQuery(order.connectionId));
  // A deleted endpoint has no URL any more.
  const urlOf = (endpointId: string) => {
    const endpoint = endpoints?.data.find(({ id }) => id === endpointId);
    return endpoint === undefined ? "–" : endpointName(endpoint, t).replace(/^https?:\/\//, "");
  };
  return (
    <Section title={t("order.deliveries")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("order.noDeliveries")}
        </Text>
      )}
      <OrderProgress order={order} urlOf={urlOf} />
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={t("order.deliveries")}
          rows={data.data}
          rowKey={({ id }) => id}
          rowTo={({ id }) => paths.delivery(order.connectionId, id)}
          columns={[
            {
              name: t("order.event"),
              // An event has a delivery for each endpoint.
              cell: ({ eventType, endpointId }) => (
                <Below text={urlOf(endpointId)}>
                  <Text span inherit ff="monospace">
                    {eventType}
                  </Text>
                </Below>
              ),
            },
            { name: t("orders.status"), cell: ({ status }) => <StatusBadge of="delivery" status={status} /> },
            {
              name: t("order.attempts"),
              align: "right",
              cell: ({ attemptCount }) => formatNumber(attemptCount),
            },
            { name: t("deliveries.wait"), isName: true, cell: ({ wait }) => <ShortWait wait={wait} /> },
            { name: t("orders.created"), align: "right", cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      )}
    </Section>
  );
}

/** How much of the order each endpoint has accepted. */
function OrderProgress({ order, urlOf }: { order: Order; urlOf: (endpointId: string) => string }) {
  const { t } = useTranslation();
  const { data } = useQuery(orderProgressQuery(order));
  return data?.endpoints.map(({ endpointId, acknowledgedSequence, sequence, behindSince }) => (
    <Text key={endpointId} size="sm">
      {urlOf(endpointId)}:{" "}
      {t("order.acknowledged", {
        acknowledged: formatNumber(acknowledgedSequence ?? 0),
        newest: formatNumber(sequence ?? 0),
      })}
      {behindSince !== null && (
        <>
          {` · ${t("order.behindSince")} `}
          <Time at={behindSince} />
        </>
      )}
    </Text>
  ));
}

/** The history of the order, newest first. */
function OrderTimeline({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { timeline } = order;
  return (
    <Section title={t("order.timeline")} actions={<NoteAction order={order} />}>
      <ol className={classes["timeline"]}>
        {timeline.toReversed().map((entry) => (
          <Entry key={`${entry.at} ${entry.operation}`} entry={entry} order={order} />
        ))}
      </ol>
    </Section>
  );
}

type EntryProps = { readonly entry: TimelineEntry; readonly order: Order };

function Entry({ entry, order }: EntryProps) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const actorOf = useActor();
  const { at, actor, operation, onHoldReasons, detail } = entry;
  const known = OPERATIONS.find((each) => each === operation);
  const refund = order.refunds.find(({ id }) => id === entry.refundId);
  const about =
    refund !== undefined
      ? `: ${formatMoney(refund.amount)}, ${t(`refundReasons.${refund.reason}`)}`
      : operation === "hold" || operation === "addHold"
        ? `: ${onHoldReasons.map(holdReason).join(", ")}`
        : "";
  // The detail of a refund begins with the code of its reason.
  const text = refund === undefined ? detail : refund.note;
  return (
    <li className={classes["entry"]}>
      <span className={classes["what"]}>
        {known === undefined ? operation : t(`operations.${known}`)}
        {about}
      </span>
      <span className={classes["when"]}>
        {actorOf(actor)}
        {refund !== undefined && ` · ${t("order.reference", { reference: refund.reference })}`}
        {" · "}
        <Time at={at} />
      </span>
      {text !== null && <span className={classes["said"]}>{text}</span>}
    </li>
  );
}

/** What the order costs the merchant: each charge and refund once, and what they come to. */
function OrderMoney({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { goods, totals } = order;
  // Partners do not see the merchant's money.
  if (goods === null || totals === null) return null;
  const lines = chargeLines(order);
  return (
    <Section title={t("order.money")}>
      <Stack gap={6}>
        <Sum name={t("order.value")} amount={goods} />
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
        {lines.length > 0 && (
          <>
            <Divider my={2} />
            <Sum name={t("order.charged")} amount={totals.charged} />
            {lines.some(({ kind }) => kind === "refund") && (
              <Sum name={t("order.refundedSum")} amount={negative(totals.refunded)} />
            )}
            <Sum name={t("order.net")} amount={totals.net} isMain />
          </>
        )}
      </Stack>
    </Section>
  );
}

type SumProps = { readonly name: string; readonly amount: MoneyValue; readonly isMain?: boolean };

const Sum = ({ name, amount, isMain = false }: SumProps) => (
  <div className={classes["row"]}>
    <Text size="sm" fw={isMain ? 600 : 400}>
      {name}
    </Text>
    <Text size="sm" fw={isMain ? 600 : 400}>
      <Money of={amount} />
    </Text>
  </div>
);

function Line({ line: { kind, amount, status, failureReason, attempts, refund } }: { line: ChargeLine }) {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  const notes = [
    refund !== null && `${t(`refundReasons.${refund.reason}`)} · ${refund.reference}`,
    failureReason !== null && declineReason(failureReason),
    attempts > 1 && t("order.attemptsOf", { number: formatNumber(attempts) }),
  ].filter(Boolean);
  return (
    <div className={classes["row"]}>
      <Text size="sm" c="dimmed" component="div" miw={0} style={{ overflowWrap: "anywhere" }}>
        {t(`chargeKinds.${kind}`)} <StatusBadge of="charge" status={status} />
        {notes.length > 0 && <Text size="xs">{notes.join(" · ")}</Text>}
      </Text>
      <Text size="sm">
        <Money of={kind === "refund" ? negative(amount) : amount} />
      </Text>
    </div>
  );
}

/** Money that goes back. Nothing has no sign. */
const negative = ({ amount, currency }: MoneyValue): MoneyValue => ({
  amount: /^[0.]+$/.test(amount) ? amount : `-${amount}`,
  currency,
});
