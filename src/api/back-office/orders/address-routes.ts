import { correctAddress } from "../../../fulfilment/routing/correct-address.ts";
import { AddressUpdateSchema } from "../../../orders/address-schemas.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { describeOrder, findOwner } from "./find-order.ts";
import { orderOperationRow } from "./handle-transition.ts";

/** Corrections of the address of real orders. */
export const addressRoutes: readonly BackOfficeRoute[] = [
  route({
    ...orderOperationRow,
    method: "PATCH",
    path: "/api/orders/{id}/shipping-address",
    operationId: "updateShippingAddress",
    admits: merchantSide,
    summary: "Correct an order's address",
    description:
      "Possible until something has shipped, in every status that is not settled, up to 20 times. If the country changes, the order is routed again: its reservations are released, the holds of routing are decided again, and the difference of the price of shipping is charged or refunded. Rejected while a charge for shipping is being processed. No event announces the correction; later events show the new address.",
    body: AddressUpdateSchema,
    problems: [...orderOperationRow.problems, "version-changed"],
    responses: { 200: { ...orderOperationRow.responses[200], description: "The corrected order." } },
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await correctAddress(context, found, body, by);
      return isProblem(order)
        ? order
        : { status: 200, body: await describeOrder(context, caller, { order, owner: found }) };
    },
  }),
];
