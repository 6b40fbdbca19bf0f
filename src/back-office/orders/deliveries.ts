import { type Static, Type } from "typebox";
import { idErrors, idIn, type RouteResponse } from "../../http/route.ts";
import { fullAccess } from "../../merchants/api-key.ts";
import { readExternalIds } from "../../orders/owners-sql.ts";
import {
  DELIVERY_LIST,
  DeliveryQuery,
  deliveryFilter,
  deliveryIdField,
  deliveryPageResponse,
  EVENT_TYPE_TEXT,
  findDelivery,
  orderFinder,
  redeliveryResponse,
} from "../../partner-api/deliveries.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, toTypeId } from "../../platform/ids.ts";
import { rawCsvRow } from "../../platform/tables/csv.ts";
import { type TableColumns, writeTable } from "../../platform/tables/write-table.ts";
import { timeIn } from "../../platform/time.ts";
import { type PagePosition, pagePosition, toPage, UUID_MAX } from "../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  idField,
  limitField,
  nullable,
  nullableTime,
  PAGE_SIZE_MAX,
  pageOf,
} from "../../platform/wire/schemas.ts";
import { ENDPOINT_EVENT_TYPES, urlWithoutQuery, wireEndpointId } from "../../webhooks/endpoints/endpoint.ts";
import { BACK_OFFICE_EVENT_TYPES } from "../../webhooks/events/back-office-event.ts";
import { PING } from "../../webhooks/events/event.ts";
import { oldestShownId } from "../../webhooks/events/event-feed.ts";
import { DeliverySchema, DeliveryStatusSchema } from "../../webhooks/log/delivery.ts";
import {
  DeliveryDetailsSchema,
  OwnedDeliverySchema,
  readAllDeliveriesPage,
  readBackOfficePage,
  readWireDelivery,
} from "../../webhooks/log/delivery-log.ts";
import {
  DELIVERIES_SHOWN_MAX,
  listOrderEvents,
  listOrderProgress,
  type OrderEvent,
  type OrderProgress,
} from "../../webhooks/log/delivery-log-sql.ts";
import {
  BackOfficeDeliverySchema,
  backOfficeDeliveryFields,
  type ExternalIdsOf,
  showDeliveries,
} from "../../webhooks/log/waits.ts";
import { type OwnerKind, ownerField, WAREHOUSE_ID } from "../../webhooks/owner.ts";
import { andPartner, type BackOfficeRoute, everyone, merchantSide, ownerOf, route } from "../access.ts";
import { ENDPOINT_OWNERS, onOwner, ownerScope } from "../endpoint-owners.ts";
import { ConnectionIdParams, tableFiles, tableFormatField } from "../lookups.ts";
import { recordReads } from "./export.ts";
import { findOwner, OrderIdParams } from "./find-order.ts";

const tag = "Deliveries";
const AllDeliveriesPageSchema = pageOf(OwnedDeliverySchema, "DeliveryOfOwnerPage");
const BackOfficePageSchema = pageOf(BackOfficeDeliverySchema, "BackOfficeDeliveryPage");
const { limit, cursor, status, since, until } = DeliveryQuery.properties;
const AllDeliveriesQuery = Type.Object({
  limit,
  cursor,
  merchantId: Type.Optional(Type.String({ description: "Only deliveries of this merchant." })),
  owner: ownerField,
  status,
  eventType: Type.Optional(Type.Enum([...ENDPOINT_EVENT_TYPES, PING], { description: EVENT_TYPE_TEXT })),
  since,
  until,
});
const ShownDetailsSchema = Type.Object(
  { ...DeliveryDetailsSchema.properties, ...backOfficeDeliveryFields },
  { title: "BackOfficeDeliveryDetails", description: "A delivery with the requests of its attempts." },
);
const DeliveryParams = Type.Object({ ...ConnectionIdParams.properties, deliveryId: deliveryIdField });

/** A facility has orders of many merchants, which its deliveries do not name. */
const externalIdsIn =
  (db: Queryable): ExternalIdsOf =>
  (orders) =>
    readExternalIds(
      db,
      orders.filter(({ merchantId }) => merchantId !== WAREHOUSE_ID),
    );

/** The delivery logs of all owners of endpoints. */
export const allDeliveryRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/deliveries",
    operationId: "listAllDeliveries",
    admits: andPartner(everyone),
    tag,
    summary: "List the deliveries of all endpoints",
    description:
      "Of all connections, merchants and facilities that the caller sees, newest event first. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null. The log of each of them has further filters.",
    isList: true,
    query: AllDeliveriesQuery,
    responses: { 200: { description: "A page of deliveries.", schema: AllDeliveriesPageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("all-deliveries", query, UUID_MAX);
      if (isProblem(position)) return position;
      const filter = {
        scope: ownerScope(caller.grants),
        merchantId: idIn("mer", query.merchantId),
        owner: query.owner ?? null,
        status: query.status ?? null,
        eventType: query.eventType ?? null,
        since: timeIn(query.since),
        until: timeIn(query.until),
      };
      const page = await readAllDeliveriesPage(context.db, filter, position, {
        externalIdsOf: externalIdsIn(context.db),
        now: context.clock.now(),
      });
      return { status: 200, body: page };
    },
  }),
];

/** The log of the kinds of owners has different types of events. */
const queryOf = (kind: "merchant" | "facility") =>
  Type.Object({
    ...DeliveryQuery.properties,
    eventType: Type.Optional(
      Type.Enum([...BACK_OFFICE_EVENT_TYPES[kind], PING], { description: EVENT_TYPE_TEXT }),
    ),
    orderId: Type.Optional(
      Type.String({ description: "Only deliveries about this order, by the id of the service." }),
    ),
  });
type LogQuery = Omit<Static<typeof DeliveryQuery>, "eventType"> & { eventType?: string };
const OwnDeliveryQuery = {
  connection: Type.Unsafe<LogQuery>(DeliveryQuery),
  merchant: Type.Unsafe<LogQuery>(queryOf("merchant")),
  facility: Type.Unsafe<LogQuery>(queryOf("facility")),
};

const FormatQuery = Type.Object({ format: tableFormatField });
/** The filters of a log, for a file of it. */
const exportQueryOf = (kind: OwnerKind) => {
  const {
    limit: _,
    cursor: __,
    ...filters
  } = (kind === "connection" ? DeliveryQuery : queryOf(kind)).properties;
  return Type.Unsafe<LogQuery & Static<typeof FormatQuery>>(
    Type.Object({ ...filters, ...FormatQuery.properties }),
  );
};
/** Deliveries of a file. */
const EXPORTED_MAX = 50_000;

const EXPORTED_DELIVERIES: TableColumns = {
  columns: [
    ...["id", "createdAt", "eventType", "eventId", "status", "orderId", "externalOrderId", "endpointId"],
    ...["attemptCount", "lastAttemptAt", "durationMs", "responseStatus", "error", "nextAttemptAt"],
  ],
  numbers: ["attemptCount", "durationMs", "responseStatus"],
};

type ShownDelivery = Static<typeof BackOfficeDeliverySchema>;

const toRow = (delivery: ShownDelivery): unknown[] => {
  const { id, createdAt, eventType, eventId, status, orderId, externalOrderId, endpointId } = delivery;
  const last = delivery.attempts.at(-1);
  return [
    ...[id, createdAt, eventType, eventId, status, orderId, externalOrderId, endpointId],
    ...[delivery.attemptCount, last?.startedAt, last?.durationMs, last?.responseStatus, last?.error],
    delivery.nextAttemptAt,
  ].map((cell) => cell ?? "");
};

type ReadShown = (
  position: PagePosition,
) => Promise<{ data: readonly ShownDelivery[]; nextCursor: string | null }>;

/** Rows page by page. The last one of a file that is not complete says where the next one continues. */
export async function* deliveryRows(read: ReadShown, max: number): AsyncGenerator<unknown[][]> {
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const query = { limit: PAGE_SIZE_MAX, ...(cursor !== undefined && { cursor }) };
    const position = pagePosition(DELIVERY_LIST, query, UUID_MAX);
    if (isProblem(position)) throw new Error("A cursor of the log is none of its cursors.");
    const { data, nextCursor } = await read(position);
    yield data.map(toRow);
    count += data.length;
    if (nextCursor === null) return;
    const last = data.at(-1);
    if (count >= max && last !== undefined) {
      // Events of the same millisecond are in both files.
      const until = new Date(Date.parse(last.createdAt) + 1).toISOString();
      yield [["not complete", until, ...EXPORTED_DELIVERIES.columns.slice(2).map(() => "")]];
      return;
    }
    cursor = nextCursor;
  }
}

/** The delivery log of each owner of endpoints; that of a connection as its partner sees it. */
export const deliveryRoutes: readonly BackOfficeRoute[] = ENDPOINT_OWNERS.flatMap((owner) => [
  route({
    method: "GET",
    path: `${owner.path}/deliveries`,
    operationId: owner.operation("listDeliveries"),
    admits: owner.admits,
    tag,
    summary: `List the deliveries of a ${owner.kind}`,
    description: "Newest event first. If a filter matches nothing, the list is empty.",
    params: owner.params,
    query: OwnDeliveryQuery[owner.kind],
    responses: { 200: { description: "A page of deliveries.", schema: BackOfficePageSchema } },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, query }, { context, readOrder }) =>
      onOwner(context, caller, owner, params.id, (key) =>
        deliveryPageResponse(
          context,
          orderFinder(readOrder, key),
          fullAccess(key),
          query,
          (db, access, filter, position, now) =>
            readBackOfficePage(db, access, filter, position, { externalIdsOf: externalIdsIn(db), now }),
        ),
      ),
  }),
  route({
    method: "GET",
    path: `${owner.path}/deliveries/export`,
    operationId: owner.operation("exportDeliveries"),
    admits: owner.admits,
    tag,
    summary: `Export the deliveries of a ${owner.kind}`,
    description: `A row for each delivery, with its last attempt, newest event first, with the filters of the list. At most about ${EXPORTED_MAX} rows: if there are more, the last one says that the file is not complete, and with which \`until\` the next file continues. The file is sent while the log is read: if the connection closes before the end of the response, the file is not complete.`,
    isList: true,
    params: owner.params,
    query: exportQueryOf(owner.kind),
    responses: {
      200: { description: "The deliveries.", file: tableFiles(rawCsvRow(EXPORTED_DELIVERIES.columns)) },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: ({ caller, params, query }, { context, readOrder, bulk }) =>
      onOwner(context, caller, owner, params.id, async (key) => {
        const filter = await deliveryFilter(orderFinder(readOrder, key), query);
        if (filter !== null && isProblem(filter)) return filter;
        const { format = "csv" } = query;
        // All callers of a merchant share its exports, those of its partners among them.
        return bulk.export(caller, ownerOf(caller).merchantId, async ({ db, clock }) => {
          const read: ReadShown = async (position) =>
            filter === null
              ? { data: [], nextCursor: null }
              : readBackOfficePage(db, fullAccess(key), filter, position, {
                  ...{ externalIdsOf: externalIdsIn(db), now: clock.now() },
                });
          const rows = deliveryRows(read, EXPORTED_MAX);
          return writeTable(format, "deliveries", EXPORTED_DELIVERIES, rows);
        });
      }),
  }),
  route({
    method: "GET",
    path: `${owner.path}/deliveries/{deliveryId}`,
    operationId: owner.operation("getDelivery"),
    admits: owner.admits,
    tag,
    summary: "Get a delivery",
    params: DeliveryParams,
    description:
      "The delivery with its newest attempts, each with its request and its response. The body of a request contains the order with its address, so the audit log records who reads it.",
    responses: { 200: { description: "The delivery with its attempts.", schema: ShownDetailsSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        const found = await findDelivery(context, fullAccess(key), params.deliveryId);
        if (found === null) return notFound("delivery");
        const { orderId, notAfter } = found.delivery;
        await recordReads(context, by, {
          orders: orderId === null ? [] : [{ ...key, id: orderId }],
          testMode: notAfter !== null,
          details: { deliveryId: params.deliveryId },
        });
        const { db, clock } = context;
        const { merchantId, connectionId } = key;
        const owned = { ...found.delivery, merchantId, connectionId };
        const show = await showDeliveries(db, [owned], externalIdsIn(db), clock.now());
        return { status: 200, body: { ...show(owned, found.logged), ...found.details } };
      }),
  }),
  route({
    method: "POST",
    path: `${owner.path}/deliveries/{deliveryId}/redeliver`,
    operationId: owner.operation("redeliverDelivery"),
    admits: owner.admits,
    tag,
    summary: "Redeliver an event",
    description:
      "Sends the delivery once more at once, whatever its status. While that attempt is pending, repeating the request has no further effect.",
    params: DeliveryParams,
    responses: {
      202: { description: "The delivery, which will be sent once more.", schema: DeliverySchema },
    },
    problems: ["not-found", "endpoint-paused", "limit-reached"],
    handle: ({ caller, params, by }, { context }) =>
      onOwner(context, caller, owner, params.id, (key) => {
        const access = fullAccess(key);
        return redeliveryResponse(context, access, params.deliveryId, by, (id) =>
          readWireDelivery(context.db, access, id, context.clock.now()),
        );
      }),
  }),
]);

const OrderEventSchema = Type.Object(
  {
    id: idField("evt", "Id of the event, and `webhook-id` of its deliveries."),
    type: Type.String({ description: "Type of the event.", examples: ["order.created"] }),
    sequence: Type.Integer({ description: "Counts the events of the order from 1." }),
    createdAt: dateTime("When the event happened."),
    deliveries: Type.Array(
      Type.Object(
        {
          id: idField("dlv", "Id of the delivery."),
          endpointId: Type.String({ description: "Id of the endpoint." }),
          endpointUrl: nullable(
            Type.String(),
            "URL of the endpoint, without its query. Null of a pull endpoint.",
          ),
          status: DeliveryStatusSchema,
        },
        { title: "OrderEventDelivery", description: "The delivery of an event to an endpoint." },
      ),
      { description: `Its deliveries, at most ${DELIVERIES_SHOWN_MAX}. Empty if no endpoint wanted it.` },
    ),
  },
  { title: "OrderEvent", description: "An event about an order, without its body." },
);

const toWireEvent = ({ id, type, sequence, deliveries }: OrderEvent): Static<typeof OrderEventSchema> => ({
  id: toTypeId("evt", id),
  type,
  sequence,
  createdAt: momentOf(id).toISOString(),
  deliveries: deliveries.map((delivery) => ({
    id: toTypeId("dlv", delivery.id),
    endpointId: wireEndpointId(delivery.endpointId),
    endpointUrl: urlWithoutQuery(delivery.url),
    status: delivery.status,
  })),
});

const OrderEventPageSchema = Type.Object(
  {
    ...pageOf(OrderEventSchema, "OrderEventPage").properties,
    endpoints: Type.Array(
      Type.Object(
        {
          endpointId: idField("whe", "Id of the endpoint."),
          endpointUrl: nullable(
            Type.String(),
            "URL of the endpoint, without its query. Null of a pull endpoint.",
          ),
          acknowledgedSequence: nullable(
            Type.Integer({ minimum: 1 }),
            "The highest `sequence` that the endpoint has accepted. Null if it has accepted none.",
          ),
          sequence: nullable(
            Type.Integer({ minimum: 1 }),
            "The highest `sequence` that was published to the endpoint, which receives only the types that it names. Null if there is none.",
          ),
          behindSince: nullableTime("When the oldest event happened that is pending. Null if none is."),
        },
        { title: "OrderProgress", description: "How much of an order an endpoint has accepted." },
      ),
      { description: "The endpoints of the connection that received events of the order." },
    ),
  },
  {
    title: "OrderEventPage",
    description: "A page of events, and what the endpoints have accepted of the order.",
  },
);

const toWireProgress = ({ endpointId, url, pendingEventId, ...sequences }: OrderProgress) => ({
  endpointId: wireEndpointId(endpointId),
  endpointUrl: urlWithoutQuery(url),
  acknowledgedSequence: sequences.acknowledgedSequence,
  sequence: sequences.sequence,
  behindSince: pendingEventId === null ? null : momentOf(pendingEventId).toISOString(),
});

/** The events of an order and what became of them. */
export const orderEventRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders/{id}/events",
    operationId: "listOrderEvents",
    admits: andPartner(merchantSide),
    tag: "Orders",
    summary: "List an order's events",
    description:
      "Oldest first, those of the last 30 days, each with its deliveries. The bodies are those of `GET /api/connections/{id}/events` with `orderId`.",
    params: OrderIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: { description: "A page of events.", schema: OrderEventPageSchema },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      const position = pagePosition(`events of ${owner.id}`, query);
      if (isProblem(position)) return position;
      const now = context.clock.now();
      const page = { ...position, oldestId: oldestShownId(now), now };
      const events = await listOrderEvents(context.db, owner, page);
      const endpoints = (await listOrderProgress(context.db, owner)).map(toWireProgress);
      return { status: 200, body: { ...toPage(events, position, toWireEvent), endpoints } };
    },
  }),
];
