import { beforeEach, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { TRACKING_ROWS_MAX } from "../../src/fulfilment/import-tracking.ts";
import { lockOrder } from "../../src/orders/orders-sql.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { sentenceOf } from "../../src/platform/wire/rules.ts";
import { untilBlocked } from "../support/blocked.ts";
import {
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import {
  acceptAll,
  createFacility,
  createSibling,
  readStock,
  routeAll,
  setStock,
} from "../support/facilities.ts";
import { connectionKey, expectProblem, readOrderEventTypes } from "../support/orders.ts";
import { operationApplied, operationsOf, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, type Client, startServiceForTest, type TestService } from "../support/test-service.ts";

const MISSING = "ord_01m7y7np16fe68bxp4h91tdmdn";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
});

type Options = {
  dryRun?: boolean;
  connectionId?: string;
  onlyTracked?: boolean;
  type?: string;
  client?: Client;
};
function send(
  file: string | Buffer,
  { dryRun, connectionId, onlyTracked, type = "text/csv", client = test.backOffice }: Options = {},
): Promise<Answer> {
  const query = new URLSearchParams({
    ...(connectionId && { connectionId }),
    ...(dryRun && { dryRun: "true" }),
    ...(onlyTracked && { onlyTracked: "true" }),
  });
  const options = { rawBody: file, headers: { "content-type": type } };
  return client.request("POST", `/api/shipments/import?${query}`, options);
}
async function imported(file: string | Buffer, options?: Options): Promise<Answer["body"]> {
  const { status, body } = await send(file, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
type Counts = { shipped: number; updated: number; unchanged: number; rejected: number };
const counts = ({ shipped, updated, unchanged, rejected }: Counts) => [shipped, updated, unchanged, rejected];

/** Refused with errors at exactly these lines, each with its rule, and nothing was stored. */
async function expectRefused(file: string | Buffer, errors: object[], options?: Options): Promise<void> {
  const before = await dumpTables(test);
  const answer = await send(file, options);
  expectProblem(answer, 422, "validation-failed", { errors: expect.any(Array), errorCount: errors.length });
  expect(answer.body.errors).toMatchObject(errors);
  for (const error of answer.body.errors) expect(error.detail).toBe(sentenceOf(error));
  expect(await dumpTables(test)).toEqual(before);
}

const place = (externalOrderId: string, fields: object = {}) =>
  placeAcceptedOrder(test, partner, { externalOrderId, ...fields });
const exposed = (fields: object) =>
  createExposedProduct(test, partner.merchantId, partner.connectionId, fields);
const shipmentsOf = async (orderId: string) => (await readDetail(test, orderId)).shipments;

describe("the answer of POST /api/shipments/import", () => {
  it("names the shipment of each parcel, also of several of one order", async () => {
    const sku = "MUG-3";
    const productId = await exposed({ sku });
    const { id } = await place("PO-3", { lines: [{ productId, quantity: 3 }] });
    const rows = ["D1", "D2", "D3"].map((number) => `PO-3,${number},${sku},1`);
    const { parcels } = await imported(["externalOrderId,trackingNumber,sku,quantity", ...rows].join("\n"));
    const stored = await shipmentsOf(id);
    expect(parcels.map(({ shipmentId }: { shipmentId: string }) => shipmentId)).toEqual(
      ["D1", "D2", "D3"].map(
        (number) => stored.find((each: { trackingNumber: string }) => each.trackingNumber === number)?.id,
      ),
    );
    const updates = stored.map((each: { id: string }, index: number) => `${each.id},N${index}`);
    const changed = await imported(["shipmentId,trackingNumber", ...updates].join("\n"));
    expect(changed.parcels.map(({ shipmentId }: { shipmentId: string }) => shipmentId)).toEqual(
      stored.map((each: { id: string }) => each.id),
    );
  });

  it("rejects a row whose ids are of different orders, and ships neither", async () => {
    const [one, other] = [await place("PO-4"), await place("PO-5")];
    const { rejections } = await imported(
      ["orderId,externalOrderId,trackingNumber", `${one.id},PO-5,MM`, `${MISSING},PO-5,MN`].join("\n"),
    );
    expect(rejections).toHaveLength(2);
    for (const { id } of [one, other]) expect(await shipmentsOf(id)).toEqual([]);
    const { connectionId } = await createPartner(test);
    const elsewhere = await imported(`orderId,trackingNumber\n${one.id},MM\n`, { connectionId });
    expect(counts(elsewhere)).toEqual([0, 0, 0, 1]);
  });

  it("rejects the number of a voided shipment instead of leaving its order unshipped without a word", async () => {
    const { id } = await place("PO-6");
    const file = "externalOrderId,trackingNumber\nPO-6,TR-2\n";
    const [{ shipmentId }] = (await imported(file)).parcels;
    const path = `/api/shipments/${shipmentId}/void`;
    expect((await test.backOffice.post(path, {})).status).toBe(200);
    const { rejections } = await imported(file);
    expect(rejections).toMatchObject([
      { line: 2, errors: [{ column: "trackingNumber", rule: "voided_shipment" }] },
    ]);
    expect((await shipmentsOf(id)).map(({ status }: { status: string }) => status)).toEqual(["voided"]);
  });
});

describe("POST /api/shipments/import ships", () => {
  it("each order with its tracking, by its id or the partner's, as the route for one does", async () => {
    const [one, other] = [await place("PO-1"), await place("PO-2")];
    const client = test.backOfficeFor({ kind: "warehouse", name: "Wilma" });
    const file = [
      "orderId,externalOrderId,carrier,trackingNumber,trackingUrl,weightGrams",
      `${one.id},,DHL,JD01,,900`,
      ",PO-2,Sample Carrier,SC-1,https://tracking.example/SC-1,",
    ].join("\n");
    const body = await imported(file, { client });
    expect(counts(body)).toEqual([2, 0, 0, 0]);
    const [first, second] = [await readDetail(test, one.id), await readDetail(test, other.id)];
    expect(body.parcels).toEqual([
      {
        ...{ line: 2, change: "shipped", orderId: one.id, externalOrderId: "PO-1" },
        ...{ trackingNumber: "JD01", shipmentId: first.shipments[0].id },
      },
      {
        ...{ line: 3, change: "shipped", orderId: other.id, externalOrderId: "PO-2" },
        ...{ trackingNumber: "SC-1", shipmentId: second.shipments[0].id },
      },
    ]);
    expect(first).toMatchObject({
      status: "IN_PROGRESS",
      shipments: [{ status: "shipped", carrier: "DHL", trackingNumber: "JD01", weightGrams: 900 }],
    });
    expect(first.shipments[0].trackingUrl).toContain("dhl.com");
    expect(second.shipments).toMatchObject([
      { trackingNumber: "SC-1", trackingUrl: "https://tracking.example/SC-1" },
    ]);
    expect(await readOrderEventTypes(test, partner, one.id)).toContain("order.shipmentCreated");
    expect(operationsOf(first).at(-1)).toBe("ship by warehouse");
    const { data } = (await test.backOffice.get("/api/audit-entries?action=importShipments")).body;
    expect(data).toMatchObject([
      { subjectIds: [other.id], actor: { name: "Wilma" } },
      { subjectIds: [one.id], actor: { name: "Wilma" } },
    ]);
  });

  it("some of the goods of an order in each parcel, by SKU, the rest with a row without one", async () => {
    const mug = await exposed({ sku: "MUG" });
    const bowl = await exposed({ sku: "BOWL" });
    const lines = [
      { productId: mug, quantity: 5 },
      { productId: bowl, quantity: 2 },
      { productId: mug, quantity: 1 },
    ];
    const order = await place("PO-1", { lines });
    const file = [
      "externalOrderId,trackingNumber,carrier,sku,quantity",
      "PO-1,T-1,UPS,MUG,2",
      "PO-1,T-1,UPS,BOWL,",
      "PO-1,T-2,UPS,MUG,3",
      "PO-1,T-3,UPS,,",
    ].join("\n");
    expect(counts(await imported(file))).toEqual([3, 0, 0, 0]);
    const { lines: shipped, shipments } = await readDetail(test, order.id);
    const contents = shipments.map(({ trackingNumber, id }: { trackingNumber: string; id: string }) => [
      trackingNumber,
      ...shipped
        .filter(({ shipmentId }: { shipmentId: string }) => shipmentId === id)
        .map(({ productId, quantity }: { productId: string; quantity: number }) => [
          productId === mug ? "MUG" : "BOWL",
          quantity,
        ]),
    ]);
    expect(contents).toMatchObject([
      ["T-1", ["MUG", 2], ["BOWL", 2]],
      ["T-2", ["MUG", 3]],
      ["T-3", ["MUG", 1]],
    ]);
    expect(counts(await imported(file))).toEqual([0, 0, 3, 0]);
  });

  it("orders that are accepted and not routed yet, from the stock of their facility", async () => {
    const facility = await createFacility(test);
    const [product] = partner.productIds;
    await setStock(test, facility, product, 10);
    await placeOrder(partner, { externalOrderId: "PO-1", lines: [{ productId: product, quantity: 4 }] });
    test.clock.advance({ hours: 2 });
    const file = "externalOrderId,trackingNumber\nPO-1,T-1\n";
    expect(counts(await imported(file, { dryRun: true }))).toEqual([1, 0, 0, 0]);
    expect(counts(await imported(file))).toEqual([1, 0, 0, 0]);
    expect(await readStock(test, facility, product)).toEqual({ onHand: 6, reserved: 0 });
  });

  it("one mail to the merchant and one event for each parcel, however often the file is sent", async () => {
    const { id } = await place("PO-1");
    const file = "externalOrderId,carrier,trackingNumber\nPO-1,DHL,JD01\n";
    await imported(file);
    const before = await dumpTables(test);
    expect(counts(await imported(file))).toEqual([0, 0, 1, 0]);
    expect(counts(await imported(file.replace("JD01", " jd01 ")))).toEqual([0, 0, 1, 0]);
    expect(await dumpTables(test)).toEqual(before);
    const types = await readOrderEventTypes(test, partner, id);
    expect(types.filter((type) => type === "order.shipmentCreated")).toHaveLength(1);
  });

  it("units once, if two files with them arrive at the same time", async () => {
    const mug = await exposed({ sku: "MUG" });
    const { id } = await place("PO-1", { lines: [{ productId: mug, quantity: 9 }] });
    const file = "externalOrderId,trackingNumber,sku,quantity\nPO-1,T-1,MUG,2\n";
    const clientOf = async (name: string) => {
      const { body } = await test.backOffice.post("/api/tokens", { name, role: "warehouse" });
      return test.backOfficeAs(body.token);
    };
    const clients = [await clientOf("One"), await clientOf("Other")];
    const ref = { id: fromTypeId("ord", id) ?? "", testMode: false, externalOrderId: null };
    const bodies = await test.context.db
      .transaction(async (tx) => {
        await lockOrder(tx, connectionKey(partner), ref, test.clock);
        const sent = clients.map((client) => imported(file, { client }));
        await untilBlocked(test, 1); // Imports are stored one after the other.
        return { sent };
      })
      .then(({ sent }) => Promise.all(sent));
    expect(bodies.map(counts).sort()).toEqual([
      [0, 0, 1, 0],
      [1, 0, 0, 0],
    ]);
    expect(await shipmentsOf(id)).toHaveLength(1);
  });

  it("in a dry run nothing, and says what it would", async () => {
    const { id } = await place("PO-1");
    const file = "externalOrderId,trackingNumber\nPO-1,T-1\nPO-1,T-2\nPO-2,T-3\n";
    const before = await dumpTables(test);
    const tried = await imported(file, { dryRun: true });
    expect(await dumpTables(test)).toEqual(before);
    const done = await imported(file);
    expect(tried.parcels).toMatchObject([{ line: 2, change: "shipped", orderId: id, shipmentId: null }]);
    expect({ ...tried, parcels: [] }).toEqual({ ...done, parcels: [] });
    expect(done.rejections).toMatchObject([{ line: 3, rule: "nothing_to_ship" }, { line: 4 }]);
  });
});

describe("POST /api/shipments/import adds tracking", () => {
  it("to the only shipment that has none, when all of the order has shipped", async () => {
    const { id } = await place("PO-1");
    await operationApplied(test, id, "ship", { carrier: "DHL" });
    const file = "externalOrderId,trackingNumber\nPO-1,JD01\n";
    const [{ id: shipmentId }] = await shipmentsOf(id);
    const body = await imported(file);
    expect(counts(body)).toEqual([0, 1, 0, 0]);
    expect(body.parcels).toMatchObject([{ line: 2, change: "updated", orderId: id, shipmentId }]);
    expect(await shipmentsOf(id)).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD01", status: "shipped" },
    ]);
    expect(counts(await imported(file))).toEqual([0, 0, 1, 0]);
  });

  it("to a shipment that the row names, also another one than it has", async () => {
    const { id } = await place("PO-1");
    const { shipments } = await operationApplied(test, id, "ship", { trackingNumber: "WRONG" });
    const file = `shipmentId,trackingNumber,carrier\n${shipments[0].id},RIGHT,UPS\n`;
    expect(counts(await imported(file))).toEqual([0, 1, 0, 0]);
    expect(counts(await imported(file))).toEqual([0, 0, 1, 0]);
    expect(await shipmentsOf(id)).toMatchObject([{ trackingNumber: "RIGHT", carrier: "UPS" }]);
  });

  it("details that a recorded parcel lacks, and leaves those that the file does not name", async () => {
    const { id } = await place("PO-1");
    await operationApplied(test, id, "ship", { trackingNumber: "T-1", trackingUrl: "https://a.example/1" });
    expect(counts(await imported("orderId,trackingNumber\n".concat(`${id},T-1\n`)))).toEqual([0, 0, 1, 0]);
    const file = `orderId,trackingNumber,carrier,trackingUrl\n${id},T-1,Own,https://b.example/1\n`;
    expect(counts(await imported(file))).toEqual([0, 1, 0, 0]);
    expect(await shipmentsOf(id)).toMatchObject([{ carrier: "Own", trackingUrl: "https://b.example/1" }]);
  });
});

describe("POST /api/shipments/import leaves out and names", () => {
  it("parcels that their orders forbid, and stores the others", async () => {
    const [held, good] = [await place("PO-HELD"), await place("PO-GOOD")];
    await operationApplied(test, held.id, "hold", { reasons: ["merchant_request"] });
    const canceled = await place("PO-CANCELED");
    await operationApplied(test, canceled.id, "cancel");
    await placeOrder(partner, { externalOrderId: "PO-NEW" });
    const file = ["HELD", "NEW", "CANCELED", "GOOD"].map((name, index) => `PO-${name},T-${index}`);
    const body = await imported(`externalOrderId,trackingNumber\n${file.join("\n")}\n`);
    expect(counts(body)).toEqual([1, 0, 0, 3]);
    expect(body.rejections).toMatchObject([
      { line: 2, code: "transition-refused", rule: "order_on_hold", errors: [] },
      { line: 3, code: "transition-refused", rule: "not_accepted", errors: [] },
      { line: 4, code: "transition-refused", rule: "order_settled", errors: [] },
    ]);
    expect(await shipmentsOf(good.id)).toHaveLength(1);
    expect(await shipmentsOf(held.id)).toEqual([]);
  });

  it("missing orders, test orders, and foreign shipments, each at its column", async () => {
    await placeTestOrder(partner, { externalOrderId: "TEST" });
    const file = `orderId,externalOrderId,shipmentId,trackingNumber
${MISSING},,,T-1
,NONE,,T-2
,TEST,,T-3
,,shp_01m7y7np16fe68bxp4h91tdmdn,T-4
`;
    const { rejections } = await imported(file);
    expect(rejections).toMatchObject([
      { line: 2, code: "validation-failed", rule: null, detail: "orderId is not an order." },
      { line: 3, errors: [{ line: 3, column: "externalOrderId", rule: "not_found", kind: "order" }] },
      { line: 4, errors: [{ line: 4, column: "externalOrderId", rule: "not_found", kind: "order" }] },
      { line: 5, errors: [{ line: 5, column: "shipmentId", rule: "not_found", kind: "known_shipment" }] },
    ]);
  });

  it("an external id of several connections, unless a column or the request names the connection", async () => {
    const sibling = await createSibling(test, partner);
    await placeOrder(sibling, { externalOrderId: "PO-1" });
    const { id } = await place("PO-1");
    const file = "externalOrderId,trackingNumber\nPO-1,T-1\n";
    expect((await imported(file)).rejections).toMatchObject([
      { errors: [{ column: "externalOrderId", rule: "external_id_ambiguous", count: 2 }] },
    ]);
    const { connectionId } = sibling;
    expect(counts(await imported(file, { connectionId }))).toEqual([1, 0, 0, 0]);
    const named = `externalOrderId,connectionId,trackingNumber\nPO-1,${partner.connectionId},T-2\n`;
    expect((await imported(named, { connectionId })).parcels).toMatchObject([{ orderId: id }]);
  });

  it("goods that are not in the order, or have shipped", async () => {
    const mug = await exposed({ sku: "MUG" });
    await place("PO-1", { lines: [{ productId: mug, quantity: 3 }] });
    const header = "externalOrderId,trackingNumber,sku,quantity";
    await imported(`${header}\nPO-1,T-1,MUG,2\n`);
    const file = `${header}\nPO-1,T-2,MUG,2\nPO-1,T-3,BOWL,1\nPO-1,T-4,MUG,1\nPO-1,T-5,MUG,\n`;
    const body = await imported(file);
    expect(counts(body)).toEqual([1, 0, 0, 3]);
    expect(body.rejections).toMatchObject([
      { line: 2, errors: [{ column: "quantity", rule: "unshipped_quantity", max: 1 }] },
      { line: 3, errors: [{ column: "sku", rule: "not_found", kind: "order_sku" }] },
      { line: 5, errors: [{ column: "sku", rule: "unshipped_quantity", max: 0 }] },
    ]);
  });

  it("a tracking number that could be of a shipment without one, or of goods that have not shipped", async () => {
    const order = await place("PO-1", {
      lines: partner.productIds.map((productId) => ({ productId, quantity: 1 })),
    });
    await operationApplied(test, order.id, "ship", { lineIds: [order.lines[0].id] });
    const [{ id: shipmentId }] = await shipmentsOf(order.id);
    const { rejections } = await imported("externalOrderId,trackingNumber\nPO-1,T-1\n");
    expect(rejections).toMatchObject([
      { line: 2, errors: [{ column: "shipmentId", rule: "which_parcel", shipmentIds: [shipmentId] }] },
    ]);
  });

  it("orders of other facilities, exactly as missing ones", async () => {
    const near = await createFacility(test);
    const grant: Grant = { role: "warehouse", facilityIds: [fromTypeId("fac", near) ?? ""] };
    const routed = async (externalOrderId: string) => {
      const { id } = await placeOrder(partner, { externalOrderId });
      await acceptAll(test);
      await routeAll(test);
      return id;
    };
    const own = await routed("OWN");
    await test.backOffice.post(`/api/facilities/${near}/close`);
    await createFacility(test);
    const foreign = await routed("FOREIGN");
    const client = test.backOfficeFor({ name: "Wilma", grants: [grant] });
    const reasonOf = async (row: string) => {
      const { rejections } = await imported(`orderId,externalOrderId,trackingNumber\n${row},T-1\n`, {
        client,
      });
      return rejections.map(({ order: _, ...reason }: { order: string }) => reason);
    };
    expect(await reasonOf(`${foreign},`)).toEqual(await reasonOf(`${MISSING},`));
    expect(await reasonOf(",FOREIGN")).toEqual(await reasonOf(",NONE"));
    expect(await reasonOf(`${own},`)).toEqual([]);
    expect(await shipmentsOf(foreign)).toEqual([]);
  });
});

describe("POST /api/shipments/import reads", () => {
  it.each([
    ["a byte order mark, CRLF and quotes", '\uFEFF"externalOrderId","trackingNumber"\r\n"PO-1","T-1"\r\n'],
    ["semicolons", "externalOrderId;trackingNumber;carrier\nPO-1;T-1;DHL\n"],
    ["tabs", "externalOrderId\ttrackingNumber\nPO-1\tT-1\n"],
    ["cells that an export has guarded", "externalOrderId,trackingNumber\nPO-1,'=T1\n"],
    [
      "a row for each line of the order, though it names no goods",
      "externalOrderId,trackingNumber\nPO-1,T-1\nPO-1,T-1\n",
    ],
  ])("%s", async (_name, file) => {
    await place("PO-1");
    expect(counts(await imported(file))).toEqual([1, 0, 0, 0]);
  });

  it("JSON, an object in each line", async () => {
    const { id } = await place("PO-1");
    const file = `${JSON.stringify({ externalOrderId: "PO-1", trackingNumber: 12_345, carrier: null, weightGrams: 7 })}\n`;
    expect(counts(await imported(file, { type: "application/x-ndjson" }))).toEqual([1, 0, 0, 0]);
    expect(await shipmentsOf(id)).toMatchObject([{ trackingNumber: "12345", weightGrams: 7 }]);
  });
});

describe("POST /api/shipments/import reads what waits when it was filled in", () => {
  it.each(["csv", "spreadsheet"])("as %s, and leaves out the orders that have not left", async (format) => {
    await createFacility(test);
    const [shipped, waiting] = [await place("00123"), await place("12-10")];
    await routeAll(test);
    const { body } = await test.backOffice.get(`/api/work-list/export?rows=parcels&format=${format}`);
    const file = String(body).replace("00123,,,,", "00123,DHL,T-1,250,");
    expect(await imported(file, { onlyTracked: true })).toMatchObject({
      ...{ shipped: 1, rejected: 0, untracked: 1 },
      parcels: [{ line: 2, orderId: shipped.id, externalOrderId: "00123", trackingNumber: "T-1" }],
    });
    expect(await shipmentsOf(shipped.id)).toMatchObject([{ carrier: "DHL", weightGrams: 250 }]);
    expect(await shipmentsOf(waiting.id)).toEqual([]);
    await expectRefused(file, [{ line: 3, column: "trackingNumber", rule: "required" }]);
  });

  it("and refuses a parcel with anything but its number", async () => {
    await place("PO-1");
    const file = "externalOrderId,carrier,trackingNumber,weightGrams\nPO-1,,  ,\nPO-1,DHL,,\nPO-1,,,7\n";
    await expectRefused(
      file,
      [3, 4].map((line) => ({ line, column: "trackingNumber", rule: "required" })),
      { onlyTracked: true },
    );
  });
});

describe("POST /api/shipments/import refuses", () => {
  it("a file with wrong rows, each with its line and column, and stores none of the right ones", async () => {
    const { id } = await place("PO-1");
    const { id: shipmentId } = (await operationApplied(test, id, "ship")).shipments[0];
    const file = [
      "orderId,externalOrderId,connectionId,shipmentId,carrier,trackingNumber,trackingUrl,weightGrams,sku,quantity",
      ",PO-1,,,,T-1,,,,",
      ",,,,,T-2,,,,",
      ",PO-1,,,,,,,,",
      "test_1,,,,,T-3,,,,",
      ",PO-1,con,,,T-3,,,,",
      `,,,${shipmentId},,T-3,,,MUG,`,
      ",PO-1,,,,T-3,,,,2",
      ",PO-1,,,,T-3,javascript:1,,,",
      ",PO-1,,,,T-3,,0,,",
      ",PO-1,,,,T-3,,1.5,,",
      ",PO-1,,,,T-4,,,MUG,1",
      ",PO-1,,,,T-5,,,,",
      ",PO-1,,,,T-4,,,MUG,1",
      ",PO-1,,,,T-5,,,MUG,1",
      ",PO-1,,,,  ,,,,",
      ",PO-1",
    ].join("\n");
    await expectRefused(file, [
      { line: 3, column: "orderId", rule: "one_required", others: ["externalOrderId", "shipmentId"] },
      { line: 4, column: "trackingNumber", rule: "required" },
      { line: 5, column: "orderId", rule: "id_prefix", prefix: "ord_" },
      { line: 6, column: "connectionId", rule: "id_prefix", prefix: "con_" },
      { line: 7, column: "sku", rule: "not_combinable", field: "shipmentId" },
      { line: 8, column: "quantity", rule: "only_with", field: "sku" },
      { line: 9, column: "trackingUrl", rule: "format" },
      { line: 10, column: "weightGrams", rule: "minimum", min: 1 },
      { line: 11, column: "weightGrams", rule: "format", format: "whole-number" },
      { line: 14, column: "trackingNumber", rule: "earlier_row" },
      { line: 15, column: "trackingNumber", rule: "earlier_row" },
      { line: 16, column: "trackingNumber", rule: "blank" },
      { line: 17, rule: "cell_count", count: 2, expected: 10 },
    ]);
  });

  it("hostile files: no rows, unknown columns, wrong JSON, wrong text, too many rows", async () => {
    await expectRefused("", [{ line: 1, rule: "header_row" }]);
    await expectRefused("order,trackingNumber\nPO-1,T-1\n", [
      { line: 1, column: "order", rule: "unknown_column" },
    ]);
    await expectRefused('{"trackingNumber":"T-1"}\n[1]\n', [
      { line: 1, column: "orderId", rule: "one_required", others: ["externalOrderId", "shipmentId"] },
      { line: 2, rule: "json_line" },
    ]);
    const rows = Array.from({ length: TRACKING_ROWS_MAX + 1 }, (_, index) => `PO-1,T-${index}`);
    await expectRefused(`externalOrderId,trackingNumber\n${rows.join("\n")}`, [
      { line: TRACKING_ROWS_MAX + 2, rule: "max_rows", max: TRACKING_ROWS_MAX },
    ]);
    expectProblem(await send("{}", { type: "application/json" }), 415, "unsupported-media-type");
  });

  it("a second file of the same caller at the same time with 409", async () => {
    const { id } = await place("PO-1");
    const file = "externalOrderId,trackingNumber\nPO-1,T-1\n";
    const ref = { id: fromTypeId("ord", id) ?? "", testMode: false, externalOrderId: null };
    const { first } = await test.context.db.transaction(async (tx) => {
      await lockOrder(tx, connectionKey(partner), ref, test.clock);
      const first = send(file);
      await untilBlocked(test, 1);
      expectProblem(await send(file), 409, "limit-reached", { limit: "runningImports", maximum: 1 });
      return { first };
    });
    expect((await first).status).toBe(200);
  });

  it("roles and tokens without the right", async () => {
    const file = "externalOrderId,trackingNumber\nPO-1,T-1\n";
    const merchantIds = [fromTypeId("mer", partner.merchantId) ?? ""];
    const owner = test.backOfficeFor({ name: "Mia", grants: [{ role: "merchant", merchantIds }] });
    expect((await send(file, { client: owner })).status).toBe(403);
    const fields = { name: "WMS", role: "warehouse", scopes: ["fulfilment:read"] };
    const { token } = (await test.backOffice.post("/api/tokens", fields)).body;
    expect((await send(file, { client: test.backOfficeAs(token) })).body.code).toBe("scope-required");
  });
});
