import { Type } from "typebox";
import { type ScannedOrder, scanCode } from "../../../fulfilment/work-list/scan.ts";
import { listOrderLines, readClaim } from "../../../fulfilment/work-list/work-list-sql.ts";
import { asOf } from "../../../lifecycle/lifecycle.ts";
import { readOrders } from "../../../orders/orders-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { type BackOfficeCaller, type BackOfficeRoute, maySee, route, warehouse } from "../access.ts";
import { seenBy } from "../orders/find-order.ts";
import { recordReads } from "../orders/record-reads.ts";
import { type OrderToPack, ScanSchema, toWireScannedOrder, toWireScannedProduct } from "./scan-wire.ts";

export const scanRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list/scan",
    operationId: "scanCode",
    admits: warehouse,
    tag: "Work list",
    summary: "Find what a scanned code names",
    description:
      "An order by its id, the id of a shipment, the partner's own id, a tracking number or the reference of a return; a product by its barcode or SKU. Orders come with their lines and products, so that nothing else has to be read to pack them or to take them back. Test orders are not found.",
    query: Type.Object({
      code: Type.String({
        minLength: 1,
        maxLength: 255,
        format: "text",
        description: "What the scanner has read. Spaces at its ends are ignored.",
        examples: ["4006381333931"],
      }),
    }),
    responses: { 200: { description: "What the code names.", schema: ScanSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const code = query.code.trim();
      const now = context.clock.now();
      const found = await scanCode(context.db, code, now);
      const orders = await Promise.all(found.orders.map((order) => readToPack(context, caller, order, now)));
      const shown = orders.filter((order) => order !== null);
      await recordReads(context, by, { orders: shown.map(({ order }) => order), testMode: false });
      return {
        status: 200,
        body: {
          code,
          orders: shown.map((order) => toWireScannedOrder(order, now)),
          products: found.products
            .filter(({ merchantId }) => maySee(caller, merchantId))
            .map((product) => toWireScannedProduct(product, code)),
        },
      };
    },
  }),
];

/** The order as a person packs it, or takes it back. Null if the caller may not see it. */
async function readToPack(
  { db }: Context,
  caller: BackOfficeCaller,
  { matchedBy, ...found }: ScannedOrder,
  now: Date,
): Promise<OrderToPack | null> {
  const owner = seenBy(caller, found);
  if (owner === null) return null;
  const key = { merchantId: owner.merchantId, id: owner.id };
  const [orders, lines, pickList] = await Promise.all([
    readOrders(db, owner, [owner.id]),
    listOrderLines(db, key),
    readClaim(db, key, now),
  ]);
  const [order] = orders;
  return order === undefined ? null : { order: asOf(order, now), owner, matchedBy, lines, pickList };
}
