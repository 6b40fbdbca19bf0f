import { type Static, Type } from "typebox";
import { connectionScope, scopeWithin } from "../audit/grant.ts";
import { idErrors, idIn } from "../http/route.ts";
import { HOLD_REASONS } from "../lifecycle/order.ts";
import { OrderStatusSchema } from "../orders/order-wire.ts";
import { type OrdersByDay, readOrdersByDay } from "../orders/reading/orders-by-day.ts";
import { countHolds, countWaiting, type Durations, readDurations } from "../orders/reading/overview-sql.ts";
import { toTypeId, uuidAt } from "../platform/ids.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { validationFailed } from "../platform/wire/problems.ts";
import { dateTime, describedAs, enumeration, nullable, nullableTime } from "../platform/wire/schemas.ts";
import {
  countUnhealthyEndpoints,
  type DeliveryFigures,
  readDeliveryFigures,
} from "../webhooks/endpoints/shown-health-sql.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "./access.ts";

const ATTENTION_KINDS = ["review", "hold", "not_routed", "endpoint_paused", "endpoint_failing"] as const;

const countField = Type.Integer({
  minimum: 0,
  description: "How many there are. At most 1 000 of a connection count.",
});
const queryField = Type.String({
  description: "The query string of the list behind the figure, without the question mark.",
  examples: ["onHold=true&holdReason=out_of_stock"],
});

export const AttentionSchema = Type.Object(
  {
    kind: enumeration(
      "AttentionKind",
      ATTENTION_KINDS,
      "`review`: orders wait for a review. `hold`: orders are on hold for a reason that a person must resolve. `not_routed`: accepted orders that were not routed within an hour. `endpoint_paused`, `endpoint_failing`: endpoints that get no events now. More values may be added.",
    ),
    reason: nullable(Type.String(), "The reason of a hold. Null for other kinds."),
    count: countField,
    list: enumeration(
      "AttentionList",
      ["orders", "webhook-endpoints"],
      "The list behind it. `orders`: that of orders. `webhook-endpoints`: that of endpoints.",
    ),
    query: queryField,
  },
  { title: "Attention", description: "Something that needs attention now." },
);

type Attention = Static<typeof AttentionSchema>;

type HeldOrders = { readonly reason: string; readonly count: number };

/** The query strings of lists, each narrowed to a merchant. Null: not narrowed. */
export const queriesOf =
  (merchantId: string | null) =>
  (filters: Record<string, string>): string =>
    new URLSearchParams({ ...filters, ...(merchantId !== null && { merchantId }) }).toString();

type QueryOf = ReturnType<typeof queriesOf>;

const withQuery = (hold: HeldOrders, queryOf: QueryOf) => ({
  ...hold,
  query: queryOf({ onHold: "true", holdReason: hold.reason }),
});

/** Orders that wait for a person: in review, on hold for a reason that the service knows, or not routed. */
export function attentionToOrders(
  holds: readonly HeldOrders[],
  waiting: { readonly inReview: number; readonly unrouted: number },
  queryOf: QueryOf,
): Attention[] {
  const ofOrders = (kind: Attention["kind"], count: number, filters: Record<string, string>): Attention => ({
    ...{ kind, reason: null, count },
    ...{ list: "orders", query: queryOf(filters) },
  });
  const known: readonly string[] = HOLD_REASONS;
  return [
    ofOrders("review", waiting.inReview, { status: "PROCESSING", sort: "oldest" }),
    ...holds
      .filter(({ reason }) => known.includes(reason))
      .map((hold): Attention => ({ ...withQuery(hold, queryOf), kind: "hold", list: "orders" })),
    ofOrders("not_routed", waiting.unrouted, { status: "ACCEPTED", ready: "false", sort: "oldest" }),
  ].filter(({ count }) => count > 0);
}

/** Endpoints that get no events now. */
function attentionToEndpoints(
  { paused, failing }: { readonly paused: number; readonly failing: number },
  queryOf: QueryOf,
): Attention[] {
  const ofEndpoints = (kind: Attention["kind"], count: number, health: string): Attention => ({
    ...{ kind, reason: null, count },
    ...{ list: "webhook-endpoints", query: queryOf({ health }) },
  });
  return [
    ofEndpoints("endpoint_paused", paused, "paused"),
    ofEndpoints("endpoint_failing", failing, "failing"),
  ].filter(({ count }) => count > 0);
}

const seconds = (description: string) => nullable(Type.Integer(), `${description} Null if there is none.`);

const DurationsSchema = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: "Orders that the figures are of." }),
    medianSeconds: seconds("Half of the orders took no longer, in seconds."),
    p90Seconds: seconds("Nine of ten orders took no longer, in seconds."),
  },
  { title: "OrderDurations", description: "How long the newest shipped orders took, about 2 000 at most." },
);

const OverviewSchema = Type.Object(
  {
    attention: Type.Array(AttentionSchema, {
      description: "What needs attention now. Empty if nothing does.",
    }),
    holds: Type.Array(
      Type.Object(
        {
          reason: Type.String({ description: "The reason of the hold." }),
          count: countField,
          query: queryField,
        },
        { title: "HeldOrders", description: "Orders on hold for a reason." },
      ),
      {
        description:
          "Orders on hold by reason, the most frequent first. An order counts for each of its reasons.",
      },
    ),
    ordersByDay: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: "The day of their creation, in UTC.", examples: ["2026-03-02"] }),
          counts: Type.Array(
            Type.Object(
              {
                status: describedAs(OrderStatusSchema, "Their status when they were counted."),
                count: Type.Integer({ minimum: 1, description: "How many orders have it." }),
              },
              { title: "OrdersOfStatus", description: "Orders of a day with the same status." },
            ),
            { description: "Number of orders by present status. A status that none has is left out." },
          ),
          countedAt: nullableTime(
            "When the orders of the day were counted, if there are too many to count them for this request. Null: now.",
          ),
        },
        { title: "OrdersOfDay", description: "The orders that were created on a day." },
      ),
      { description: "Orders by the day of their creation, oldest first. Days without orders are left out." },
    ),
    readAt: dateTime("When the figures were read."),
    completeSince: dateTime(
      "The start of the first day that `ordersByDay` counts. Later than requested if there are very many orders and earlier days are not counted yet.",
    ),
    acceptance: describedAs(DurationsSchema, "From the creation to the acceptance."),
    shipping: describedAs(DurationsSchema, "From the creation to the first shipment."),
    deliveries: Type.Object(
      {
        succeeded: Type.Integer({ minimum: 0, description: "Deliveries that succeeded." }),
        succeededAtOnce: Type.Integer({
          minimum: 0,
          description: "Those of them that succeeded with their first attempt.",
        }),
        failed: Type.Integer({ minimum: 0, description: "Deliveries that failed." }),
        pending: Type.Integer({ minimum: 0, description: "Deliveries that are not finished." }),
        medianDelayMs: nullable(
          Type.Integer(),
          "Half of the deliveries that succeeded took no longer from the event, in milliseconds. Null if there is none.",
        ),
        p90DelayMs: nullable(
          Type.Integer(),
          "Nine of ten took no longer, in milliseconds. Null if there is none.",
        ),
      },
      {
        title: "DeliveryFigures",
        description: "The newest deliveries of the last 24 hours, about 3 000 at most.",
      },
    ),
  },
  { title: "Overview", description: "Figures about the orders that the caller sees." },
);

type Figures = {
  readonly holds: readonly HeldOrders[];
  readonly waiting: { readonly inReview: number; readonly unrouted: number };
  readonly endpoints: { readonly paused: number; readonly failing: number };
  readonly deliveries: DeliveryFigures;
  readonly durations: { readonly acceptance: Durations; readonly shipping: Durations };
  readonly orders: OrdersByDay;
  readonly readAt: Date;
};

function toWireOverview(
  { holds, waiting, endpoints, deliveries, durations, orders, readAt }: Figures,
  merchantId: string | null,
): Static<typeof OverviewSchema> {
  const queryOf = queriesOf(merchantId === null ? null : toTypeId("mer", merchantId));
  return {
    attention: [...attentionToOrders(holds, waiting, queryOf), ...attentionToEndpoints(endpoints, queryOf)],
    holds: holds.map((hold) => withQuery(hold, queryOf)),
    ordersByDay: byDay(orders),
    readAt: readAt.toISOString(),
    completeSince: orders.completeSince.toISOString(),
    ...durations,
    deliveries,
  };
}

const byDay = ({ counts, countedAt }: OrdersByDay) =>
  [...Map.groupBy(counts, ({ day }) => day)].map(([day, ofDay]) => ({
    day,
    counts: ofDay.map(({ status, count: number }) => ({ status, count: number })),
    countedAt: countedAt.get(day)?.toISOString() ?? null,
  }));

const DAYS_DEFAULT = 30;
const DAYS_MAX = 90;

/** The figures of the overview (docs/design/console.md, "Overview"). They hold no personal data. */
export const overviewRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/overview",
    operationId: "getOverview",
    admits: andPartner(merchantSide),
    tag: "Overview",
    summary: "Get the figures of the overview",
    description:
      "Real orders of all connections that the caller sees: by day and status, how long they took, what is on hold, and what needs attention, each with the list behind it.",
    query: Type.Object({
      merchantId: Type.Optional(Type.String({ description: "Only this merchant." })),
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: DAYS_MAX,
          default: DAYS_DEFAULT,
          description: "How many days are shown, with today.",
        }),
      ),
    }),
    responses: { 200: { description: "The figures.", schema: OverviewSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { db, clock } = context;
      const now = clock.now();
      const merchantId = idIn("mer", query.merchantId);
      const scope = scopeWithin(connectionScope(caller.grants), merchantId);
      const days = query.days ?? DAYS_DEFAULT;
      // One after the other: an overview takes one connection of the pool, not all of them.
      const holds = await countHolds(db, scope);
      const waiting = await countWaiting(db, scope, before(now, HOUR_MS));
      const endpoints = await countUnhealthyEndpoints(db, scope);
      const deliveries = await readDeliveryFigures(db, scope, now);
      const durations = await readDurations(db, scope, uuidAt(before(now, days * DAY_MS)));
      const orders = await readOrdersByDay(db, scope, days, now);
      const figures = { holds, waiting, endpoints, deliveries, durations, orders, readAt: now };
      return { status: 200, body: toWireOverview(figures, merchantId) };
    },
  }),
];
