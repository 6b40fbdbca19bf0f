import { type Static, Type } from "typebox";
import { orderScope } from "../../../access/scope.ts";
import { findOrdersByExternalId, type OrderReference } from "../../../orders/order-owners-sql.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../../../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { isProblem, validationFailed } from "../../../platform/wire/problems.ts";
import { cursorField, dateTime, idField, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { idErrors } from "../../http/id-parameters.ts";
import { andPartner, type BackOfficeRoute, everyone, route } from "../access.ts";

const ReferenceSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the order, set by the service." }),
    externalOrderId: Type.String({ description: "The partner's own id, as requested." }),
    testMode: Type.Boolean({ description: "True for a test order." }),
    merchantId: idField("mer", "Id of the merchant whose products are ordered."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    connectionId: idField("con", "Id of the connection that placed the order."),
    connectionName: Type.String({ description: "Name of the connection." }),
    createdAt: dateTime("When the order was created."),
  },
  { title: "OrderReference", description: "An order and its owner, without personal data." },
);

const toWireReference = (found: OrderReference): Static<typeof ReferenceSchema> => ({
  id: wireOrderId(found),
  externalOrderId: found.externalOrderId,
  testMode: found.testMode,
  merchantId: toTypeId("mer", found.merchantId),
  merchantName: found.merchantName,
  connectionId: toTypeId("con", found.connectionId),
  connectionName: found.connectionName,
  createdAt: found.createdAt.toISOString(),
});

export const findRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/order-references",
    operationId: "findOrders",
    admits: andPartner(everyone),
    tag: "Orders",
    summary: "Find orders by the partner's own id",
    description:
      "Real and test orders with exactly this `externalOrderId`, newest first. Each connection has at most one, but connections choose their ids without each other. If no order has it, the list is empty.",
    query: Type.Object({
      externalOrderId: Type.String({
        minLength: 1,
        maxLength: 200,
        format: "text",
        description: "The partner's own id of the order, complete and in the same case.",
      }),
      connectionId: Type.Optional(Type.String({ description: "Only the order of this connection." })),
      limit: limitField,
      cursor: cursorField,
    }),
    responses: {
      200: { description: "A page of orders.", schema: pageOf(ReferenceSchema, "OrderReferencePage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("con", "connectionId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("found-orders", query, UUID_MAX);
      if (isProblem(position)) return position;
      const { externalOrderId, connectionId } = query;
      const filter = {
        externalOrderId,
        scope: orderScope(caller.grants),
        connectionId: connectionId === undefined ? null : fromTypeId("con", connectionId),
      };
      const found = await findOrdersByExternalId(context.db, filter, position, context.clock.now());
      return { status: 200, body: toPage(found, position, toWireReference) };
    },
  }),
];
