import { type Static, Type } from "typebox";
import { OrderStatusSchema } from "../../../orders/order-wire.ts";
import type { OrdersByDay } from "../../../orders/overview/orders-by-day.ts";
import type { Durations } from "../../../orders/overview/overview-sql.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { dateTime, describedAs, nullable, nullableTime } from "../../../platform/wire/schemas.ts";
import type { DeliveryFigures } from "../../../webhooks/health/delivery-figures-sql.ts";
import {
  AttentionSchema,
  attentionToEndpoints,
  attentionToOrders,
  countField,
  type HeldOrders,
  queriesOf,
  queryField,
  withQuery,
} from "./attention-wire.ts";

const seconds = (description: string) => nullable(Type.Integer(), `${description} Null if there is none.`);

const DurationsSchema = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: "Orders that the figures are of." }),
    medianSeconds: seconds("Half of the orders took no longer, in seconds."),
    p90Seconds: seconds("Nine of ten orders took no longer, in seconds."),
  },
  { title: "OrderDurations", description: "How long the newest shipped orders took, about 2 000 at most." },
);

export const OverviewSchema = Type.Object(
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

export function toWireOverview(
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
