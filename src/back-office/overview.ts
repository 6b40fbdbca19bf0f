import { type Static, Type } from "typebox";
import {
  connectionScope,
  facilityScope,
  type Grant,
  grantsWith,
  merchantScope,
  orderScope,
  scopeWithin,
} from "../audit/grant.ts";
import { countToShip } from "../fulfilment/work-list-sql.ts";
import { idErrors, idIn } from "../http/route.ts";
import { countOpenFailures } from "../ledger/payment-failures-sql.ts";
import { HOLD_REASONS, PAYMENT_FAILED } from "../lifecycle/order.ts";
import { OrderStatusSchema } from "../orders/order-wire.ts";
import { type OrdersByDay, readOrdersByDay } from "../orders/reading/orders-by-day.ts";
import {
  countHolds,
  countTwoDays,
  countUpTo,
  countWaiting,
  type DayFact,
  type Durations,
  hasAnyOrder,
  readDurations,
  type TwoDays,
  type Waiting,
  type WaitingOrders,
} from "../orders/reading/overview-sql.ts";
import { toTypeId, uuidAt } from "../platform/ids.ts";
import { formatMoney } from "../platform/money.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { dayIn, isTimeZone, startOfDayIn } from "../platform/time-zone.ts";
import { validationFailed } from "../platform/wire/problems.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  MoneySchema,
  nullable,
  nullableTime,
} from "../platform/wire/schemas.ts";
import {
  countUnhealthyEndpoints,
  type DeliveryFigures,
  readDeliveryFigures,
  type UnhealthyEndpoints,
} from "../webhooks/endpoints/shown-health-sql.ts";
import { andPartner, type BackOfficeRoute, everyone, merchantSide, route } from "./access.ts";

const ATTENTION_KINDS = [
  "review",
  "hold",
  "not_routed",
  "late",
  "endpoint_paused",
  "endpoint_failing",
  "payment_declined",
] as const;

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
      "`review`: orders wait for a review. `hold`: orders are on hold for a reason that a person must resolve. `not_routed`: accepted orders that were not routed within an hour. `late`: orders that are ready to ship and were created more than 2 days ago. `endpoint_paused`, `endpoint_failing`: endpoints that get no events now. `payment_declined`: orders with a declined payment that is still owed, instead of their holds for callers who see payments. More values may be added.",
    ),
    reason: nullable(Type.String(), "The reason of a hold. Null for other kinds."),
    count: countField,
    oldestAt: nullableTime(
      "When the oldest of the orders was created, since when the first of the endpoints has failed or is paused, or when the first of the payments was declined. Null if it is not known.",
    ),
    list: enumeration(
      "AttentionList",
      ["orders", "webhook-endpoints", "payment-failures"],
      "The list behind it. `orders`: that of orders. `webhook-endpoints`: that of endpoints. `payment-failures`: that of declined payments.",
    ),
    query: queryField,
  },
  { title: "Attention", description: "Something that needs attention now." },
);

type Attention = Static<typeof AttentionSchema>;

type HeldOrders = Waiting & { readonly reason: string };

/** The first is the worst: what costs sales comes before what is late, and that before what a person has decided. */
const HARM: readonly string[] = [
  "payment_declined",
  "hold payment_failed",
  "endpoint_failing",
  "not_routed",
  "hold out_of_stock",
  "late",
  "hold address_unserviceable",
  "review",
  "endpoint_paused",
  "hold merchant_request",
];

const byHarm = (one: Attention, other: Attention): number => harmOf(one) - harmOf(other);

function harmOf({ kind, reason }: Attention): number {
  const name = reason === null ? kind : `${kind} ${reason}`;
  const place = HARM.indexOf(name);
  return place === -1 ? HARM.length : place;
}

const toIso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** The query strings of lists, each narrowed to a merchant. Null: not narrowed. */
export const queriesOf =
  (merchantId: string | null) =>
  (filters: Record<string, string>): string =>
    new URLSearchParams({ ...filters, ...(merchantId !== null && { merchantId }) }).toString();

type QueryOf = ReturnType<typeof queriesOf>;

const withQuery = ({ reason, count, oldestAt }: HeldOrders, queryOf: QueryOf) => ({
  ...{ reason, count, oldestAt: toIso(oldestAt) },
  query: queryOf({ onHold: "true", holdReason: reason }),
});

/** Orders that wait for a person: in review, on hold for a reason that the service knows, not routed, or late. */
export function attentionToOrders(
  holds: readonly HeldOrders[],
  waiting: Pick<WaitingOrders, "inReview" | "unrouted" | "late">,
  now: Date,
  queryOf: QueryOf,
): Attention[] {
  const ofOrders = (
    kind: Attention["kind"],
    { count, oldestAt }: Waiting,
    filters: Record<string, string>,
  ): Attention => ({
    ...{ kind, reason: null, count, oldestAt: toIso(oldestAt) },
    ...{ list: "orders", query: queryOf(filters) },
  });
  const lateSince = before(now, LATE_MS).toISOString();
  const known: readonly string[] = HOLD_REASONS;
  return [
    ofOrders("review", waiting.inReview, { status: "PROCESSING", sort: "oldest" }),
    ...holds
      .filter(({ reason }) => known.includes(reason))
      .map((hold): Attention => ({ ...withQuery(hold, queryOf), kind: "hold", list: "orders" })),
    ofOrders("not_routed", waiting.unrouted, { status: "ACCEPTED", ready: "false", sort: "oldest" }),
    ofOrders("late", waiting.late, { ready: "true", createdUntil: lateSince, sort: "oldest" }),
  ]
    .filter(({ count }) => count > 0)
    .sort(byHarm);
}

/** Endpoints that get no events now. */
function attentionToEndpoints(
  { paused, failing }: Record<"paused" | "failing", UnhealthyEndpoints>,
  queryOf: QueryOf,
): Attention[] {
  const ofEndpoints = (
    kind: Attention["kind"],
    { count, oldestAt }: UnhealthyEndpoints,
    health: string,
  ): Attention => ({
    ...{ kind, reason: null, count, oldestAt: toIso(oldestAt) },
    ...{ list: "webhook-endpoints", query: queryOf({ health }) },
  });
  return [
    ofEndpoints("endpoint_paused", paused, "paused"),
    ofEndpoints("endpoint_failing", failing, "failing"),
  ].filter(({ count }) => count > 0);
}

/** Declined payments, in the place of the holds that come with most of them. */
function withDeclined(attention: Attention[], declined: Waiting | null, queryOf: QueryOf): Attention[] {
  if (declined === null) return attention;
  const { count, oldestAt } = declined;
  const task: Attention = {
    ...{ kind: "payment_declined", reason: null, count, oldestAt: toIso(oldestAt) },
    ...{ list: "payment-failures", query: queryOf({}) },
  };
  return [...attention.filter(({ reason }) => reason !== PAYMENT_FAILED), ...(count > 0 ? [task] : [])];
}

/** Orders that are ready to ship are late from this age on. */
export const LATE_MS = 2 * DAY_MS;

const ComparedSchema = Type.Object(
  {
    today: Type.Integer({ minimum: 0, description: "Today up to now." }),
    yesterday: Type.Integer({ minimum: 0, description: "Yesterday up to the same time of the day." }),
  },
  { title: "ComparedCount", description: "A number of today beside that of yesterday." },
);

const DayFiguresSchema = Type.Object(
  {
    since: dateTime("When today began."),
    created: describedAs(ComparedSchema, "Orders that were created."),
    shipped: describedAs(ComparedSchema, "Orders of which something was shipped."),
    returned: describedAs(ComparedSchema, "Orders of which something came back."),
    late: nullable(
      ComparedSchema,
      "Orders that are ready to ship and were created more than 2 days ago, now, and a day ago. Null for the role `partner`.",
    ),
    value: nullable(
      Type.Array(
        Type.Object(
          {
            today: describedAs(MoneySchema, "Of the orders that were created today."),
            yesterday: describedAs(MoneySchema, "Of those created yesterday up to the same time."),
          },
          { title: "ComparedMoney", description: "A sum of today beside that of yesterday." },
        ),
      ),
      "Price of the goods of these orders, by currency, also of those canceled since then. Null for the role `partner`.",
    ),
    isComplete: Type.Boolean({
      description:
        "Whether all orders were counted. False: there were too many, and the numbers are at least these.",
    }),
  },
  { title: "DayFigures", description: "Today beside yesterday, in the time zone of the request." },
);

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
      description: "What needs attention now, the most harmful first. Empty if nothing does.",
    }),
    day: DayFiguresSchema,
    hasOrders: Type.Boolean({ description: "Whether there is any real order, of any time." }),
    holds: Type.Array(
      Type.Object(
        {
          reason: Type.String({ description: "The reason of the hold." }),
          count: countField,
          oldestAt: nullableTime("When the oldest of them was created. Null if there is none."),
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
          day: Type.String({
            description:
              "The day of their creation, in the time zone of the request. In UTC, if `countedAt` is not null.",
            examples: ["2026-03-02"],
          }),
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
  readonly waiting: WaitingOrders;
  readonly endpoints: Record<"paused" | "failing", UnhealthyEndpoints>;
  /** Null: the caller sees no payments. */
  readonly declined: Waiting | null;
  readonly day: Static<typeof DayFiguresSchema>;
  readonly hasOrders: boolean;
  readonly deliveries: DeliveryFigures;
  readonly durations: { readonly acceptance: Durations; readonly shipping: Durations };
  readonly orders: OrdersByDay;
  readonly readAt: Date;
};

function toWireOverview(
  { holds, waiting, endpoints, declined, day, hasOrders, deliveries, durations, orders, readAt }: Figures,
  merchantId: string | null,
): Static<typeof OverviewSchema> {
  const queryOf = queriesOf(merchantId === null ? null : toTypeId("mer", merchantId));
  return {
    attention: [
      ...withDeclined(attentionToOrders(holds, waiting, readAt, queryOf), declined, queryOf),
      ...attentionToEndpoints(endpoints, queryOf),
    ].sort(byHarm),
    day,
    hasOrders,
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

/** Today beside yesterday. Partners see neither routing nor prices. */
function toDayFigures(
  { facts, isCut }: Awaited<ReturnType<typeof countTwoDays>>,
  { late, lateBefore }: WaitingOrders,
  since: Date,
  isPartner: boolean,
): Static<typeof DayFiguresSchema> {
  const sumOf = (kind: DayFact["kind"], isToday: boolean): number =>
    facts
      .filter((fact) => fact.kind === kind && fact.isToday === isToday)
      .reduce((sum, { count }) => sum + count, 0);
  const compared = (kind: DayFact["kind"]) => ({ today: sumOf(kind, true), yesterday: sumOf(kind, false) });
  const created = facts.filter(({ kind }) => kind === "created");
  const sumIn = (currency: string, isToday: boolean) =>
    formatMoney({
      minor: created.find((fact) => fact.currency === currency && fact.isToday === isToday)?.minor ?? 0n,
      currency,
    });
  const currencies = [...new Set(created.map(({ currency }) => currency))].toSorted();
  return {
    since: since.toISOString(),
    created: compared("created"),
    shipped: compared("shipped"),
    returned: compared("returned"),
    // What was late a day ago is so still, or has shipped since.
    late: isPartner ? null : { today: late.count, yesterday: lateBefore + sumOf("late_shipped", true) },
    value: isPartner
      ? null
      : currencies.map((currency) => ({
          today: sumIn(currency, true),
          yesterday: sumIn(currency, false),
        })),
    isComplete: !isCut,
  };
}

/** Today up to now, and as much of yesterday. */
function twoDaysOf(timeZone: string, now: Date): TwoDays {
  const number = dayIn(timeZone, now);
  const [yesterday, today] = [startOfDayIn(timeZone, number - 1), startOfDayIn(timeZone, number)];
  return { yesterday, until: before(now, today.getTime() - yesterday.getTime()), today, now };
}

/** Declined payments of an overview, at most. */
const COUNTED_MAX = 1_000;

/** The merchants whose payments a caller sees (null: all), as the list of declined payments does. */
function payersOf(grants: readonly Grant[], merchantId: string | null): readonly string[] | null | "none" {
  const own = grantsWith(grants, ["operator", "support", "merchant"]);
  if (own.length === 0) return "none";
  const ids = merchantScope(own);
  if (merchantId === null) return ids;
  return ids === null || ids.includes(merchantId) ? [merchantId] : [];
}

/** Where the navigation ends to count: it says "99+". */
const COUNT_MAX = 100;

const waitingCount = (what: string) =>
  nullable(
    Type.Integer({ minimum: 0, maximum: COUNT_MAX }),
    `${what} At most ${COUNT_MAX} are counted. Null: the caller sees none of them.`,
  );

const CountsSchema = Type.Object(
  {
    inReview: waitingCount("Orders in review."),
    onHold: waitingCount("Orders on hold."),
    toShip: waitingCount("Orders that can be shipped now."),
    declinedPayments: waitingCount("Orders with a declined payment that is still owed."),
    failingEndpoints: waitingCount("Active webhook endpoints whose last attempt failed."),
  },
  { title: "WaitingCounts", description: "How much waits for the caller, in real orders." },
);

const DAYS_DEFAULT = 30;
const DAYS_MAX = 90;

/** The figures of the overview (docs/design/console.md, "Overview"). They hold no personal data. */
export const overviewRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/overview/counts",
    operationId: "getWaitingCounts",
    admits: andPartner(everyone),
    tag: "Overview",
    summary: "Count what waits",
    description:
      "The numbers beside the navigation of the console. Small: nothing is counted beyond 100, and a caller of named facilities gets the orders to ship alone.",
    responses: { 200: { description: "The numbers.", schema: CountsSchema } },
    problems: [],
    handle: async ({ caller: { grants } }, { context: { db } }) => {
      const orders = orderScope(grants);
      const seesOrders = orders === null || orders.merchantIds.length + orders.connections.length > 0;
      const waiting = seesOrders ? await countUpTo(db, orders, COUNT_MAX) : null;
      const facilityIds = facilityScope(grants);
      const ships = facilityIds === null || facilityIds.length > 0;
      const payers = payersOf(grants, null);
      const owners = grantsWith(grants, ["operator", "support", "merchant", "partner"]);
      const failing =
        owners.length === 0 ? null : (await countUnhealthyEndpoints(db, connectionScope(owners))).failing;
      return {
        status: 200,
        body: {
          inReview: waiting?.inReview ?? null,
          onHold: waiting?.onHold ?? null,
          toShip: ships ? await countToShip(db, facilityIds, COUNT_MAX) : null,
          declinedPayments: payers === "none" ? null : (await countOpenFailures(db, payers, COUNT_MAX)).count,
          failingEndpoints: failing === null ? null : Math.min(failing.count, COUNT_MAX),
        },
      };
    },
  }),
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
      timeZone: Type.Optional(
        Type.String({
          maxLength: 100,
          default: "UTC",
          description: "The time zone of the days, by its name in the database of the IANA.",
          examples: ["Europe/Berlin"],
        }),
      ),
    }),
    responses: { 200: { description: "The figures.", schema: OverviewSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const timeZone = query.timeZone ?? "UTC";
      const errors = [
        ...idErrors("mer", "merchantId", query),
        ...(isTimeZone(timeZone)
          ? []
          : [{ parameter: "timeZone", rule: "format" as const, format: "time-zone" as const }]),
      ];
      if (errors.length > 0) return validationFailed(errors);
      const { db, clock } = context;
      const now = clock.now();
      const merchantId = idIn("mer", query.merchantId);
      const scope = scopeWithin(connectionScope(caller.grants), merchantId);
      const days = query.days ?? DAYS_DEFAULT;
      // One after the other: an overview takes one connection of the pool, not all of them.
      const holds = await countHolds(db, scope);
      const waiting = await countWaiting(db, scope, {
        unrouted: before(now, HOUR_MS),
        late: before(now, LATE_MS),
        lateBefore: before(now, LATE_MS + DAY_MS),
      });
      const twoDays = twoDaysOf(timeZone, now);
      const ofTwoDays = await countTwoDays(db, scope, twoDays, before(now, LATE_MS + DAY_MS));
      const isPartner = caller.grants.some(({ role }) => role === "partner");
      const day = toDayFigures(ofTwoDays, waiting, twoDays.today, isPartner);
      const endpoints = await countUnhealthyEndpoints(db, scope);
      const payers = payersOf(caller.grants, merchantId);
      const declined = payers === "none" ? null : await countOpenFailures(db, payers, COUNTED_MAX);
      const deliveries = await readDeliveryFigures(db, scope, now);
      const durations = await readDurations(db, scope, uuidAt(before(now, days * DAY_MS)));
      const orders = await readOrdersByDay(db, scope, { days, timeZone }, now);
      const hasOrders = orders.counts.length > 0 || (await hasAnyOrder(db, scope));
      const counted = { holds, waiting, endpoints, declined, day, hasOrders, deliveries, durations, orders };
      const figures = { ...counted, readAt: now };
      return { status: 200, body: toWireOverview(figures, merchantId) };
    },
  }),
];
