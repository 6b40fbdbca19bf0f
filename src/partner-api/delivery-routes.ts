import { Type } from "typebox";
import { NEWEST_FIRST, pagePosition } from "../http/cursor.ts";
import { idFaults, idIn } from "../http/id-parameters.ts";
import { isProblem, notFound, validationFailed } from "../http/problems.ts";
import { type Route, routeTable } from "../http/route.ts";
import { cursorField, limitField, pageOf } from "../http/schemas.ts";
import { fromTypeId } from "../ids.ts";
import type { ReadOrder } from "../orders/read-order.ts";
import type { Service } from "../service.ts";
import { DELIVERY_STATUSES, DeliverySchema } from "../webhooks/log/delivery.ts";
import { readDeliveryPage, readWireDelivery } from "../webhooks/log/delivery-log.ts";
import { redeliver } from "../webhooks/log/redeliver.ts";
import type { PartnerCaller } from "./authentication.ts";
import { findOrderId, orderIdFilter } from "./order-filter.ts";

const tag = "Deliveries";
const DeliveryIdParams = Type.Object({ deliveryId: Type.String({ description: "The delivery's id." }) });

const route = routeTable<PartnerCaller>();

/** What was sent to a partner's endpoints, and what became of it. */
export function deliveryRoutes(service: Service, readOrder: ReadOrder): Route<PartnerCaller>[] {
  const { db, clock } = service;
  return [
    route({
      method: "GET",
      path: "/v1/deliveries",
      operationId: "listDeliveries",
      tag,
      summary: "List deliveries",
      description:
        "The log of what was sent or is to be sent to the connection's endpoints, newest event first; also to endpoints that were deleted. A filter that names nothing answers an empty list.",
      query: Type.Object({
        limit: limitField,
        cursor: cursorField,
        endpointId: Type.Optional(Type.String({ description: "Only to this endpoint." })),
        orderId: orderIdFilter,
        eventId: Type.Optional(Type.String({ description: "Only of this event." })),
        status: Type.Optional(Type.Enum([...DELIVERY_STATUSES], { description: "Only with this status." })),
      }),
      answers: {
        200: { description: "A page of deliveries.", schema: pageOf(DeliverySchema, "DeliveryPage") },
      },
      problems: ["validation-failed"],
      handle: async ({ caller: { connectionId }, query }) => {
        const faults = [...idFaults("whe", "endpointId", query), ...idFaults("evt", "eventId", query)];
        if (faults.length > 0) return validationFailed(faults);
        const position = pagePosition("deliveries", query, NEWEST_FIRST);
        if (isProblem(position)) return position;
        const orderId = await findOrderId(readOrder, connectionId, query.orderId);
        if (orderId === undefined) return { status: 200, body: { data: [], nextCursor: null } };
        const filter = {
          endpointId: idIn("whe", query.endpointId),
          orderId,
          eventId: idIn("evt", query.eventId),
          status: query.status ?? null,
        };
        const page = await readDeliveryPage(db, connectionId, filter, position, clock.now());
        return { status: 200, body: page };
      },
    }),
    route({
      method: "GET",
      path: "/v1/deliveries/{deliveryId}",
      operationId: "readDelivery",
      tag,
      summary: "Read a delivery",
      params: DeliveryIdParams,
      answers: { 200: { description: "The delivery with its attempts.", schema: DeliverySchema } },
      problems: ["not-found"],
      handle: async ({ caller, params }) => {
        const id = fromTypeId("dlv", params.deliveryId);
        const delivery =
          id === null ? null : await readWireDelivery(db, caller.connectionId, id, clock.now());
        return delivery === null ? notFound("delivery") : { status: 200, body: delivery };
      },
    }),
    route({
      method: "POST",
      path: "/v1/deliveries/{deliveryId}/redeliver",
      operationId: "redeliver",
      tag,
      summary: "Send a delivery once more",
      description:
        "At once, and whatever became of it so far; the event's id stays the same. While such a sending is still to be done, asking again changes nothing. A body is ignored.",
      params: DeliveryIdParams,
      answers: {
        202: { description: "The delivery, which will be sent once more.", schema: DeliverySchema },
      },
      problems: ["not-found", "endpoint-paused"],
      handle: async ({ caller, params }) => {
        const id = fromTypeId("dlv", params.deliveryId);
        const asked = id === null ? notFound("delivery") : await redeliver(service, caller.connectionId, id);
        if (isProblem(asked)) return asked;
        const delivery = await readWireDelivery(db, caller.connectionId, asked.id, clock.now());
        return delivery === null ? notFound("delivery") : { status: 202, body: delivery };
      },
    }),
  ];
}
