import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { barcodeKey } from "../../src/platform/codes.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { asPrinted, commandCode } from "../../web/src/ui/scan/read-scan.ts";
import { createPartner, createProduct, type Partner, placeTestOrder } from "../support/builders.ts";
import { createFacility, routeAll } from "../support/facilities.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
});
afterAll(() => test.close());

const scan = async (code: string, client: Client = test.backOffice) => {
  const { status, body } = await client.get(`/api/work-list/scan?code=${encodeURIComponent(code)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const orderIdsOf = async (code: string) =>
  (await scan(code)).orders.map(({ orderId }: { orderId: string }) => orderId);
const skusOf = async (code: string) => (await scan(code)).products.map(({ sku }: { sku: string }) => sku);
const place = async (fields: object = {}) => {
  test.clock.advance({ ms: 1 });
  const order = await placeAcceptedOrder(test, partner, fields);
  await routeAll(test);
  return order;
};

/** How the database computes a generated column. */
async function expressionOf(table: string, column: string): Promise<string> {
  const [found] = await test.db.query<{ expression: string }>({
    name: "expression-of-column",
    text: "select generation_expression as expression from information_schema.columns where table_name = $1 and column_name = $2",
    values: [table, column],
  });
  return found?.expression ?? "null";
}

describe("what a scanner makes of an id", () => {
  it("finds its order: printed digits, prefixes, any case, and keyboards with another layout", async () => {
    const { id } = await place();
    const { shipments } = await operationApplied(test, id, "ship", {});
    const german = id.replace("_", "?").replace(/[yz]/g, (sign: string) => (sign === "y" ? "z" : "y"));
    for (const code of [
      ...[id, id.toUpperCase(), `]C1${id}`, ` ${id}\r\n`, asPrinted(id), `]C1${asPrinted(id)}`],
      ...[german, german.toUpperCase(), id.replace("_", "?")],
    ]) {
      expect(await orderIdsOf(code), code).toEqual([id]);
    }
    expect(await orderIdsOf(asPrinted(shipments[0].id))).toEqual([id]);
    expect((await scan(asPrinted(id))).code).toBe(id);
    expect(await orderIdsOf(`${asPrinted(id).slice(0, -1)}x`)).toEqual([]);
  });

  it("says what else it is, and the names of what the caller sees alone", async () => {
    const other = await createPartner(test);
    const { id: testId } = await placeTestOrder(partner);
    const kindOf = async (code: string, client?: Client) => (await scan(code, client)).other;
    const wilma = test.backOfficeFor({
      name: "Wilma",
      grants: [{ role: "warehouse", facilityIds: [fromTypeId("fac", facility) ?? ""] }],
    });
    expect(await kindOf(testId)).toEqual({ kind: "testOrder", id: testId, name: null });
    expect(await kindOf(facility.toUpperCase(), wilma)).toMatchObject({
      kind: "facility",
      id: facility,
      name: "Facility",
    });
    const elsewhere = await createFacility(test);
    expect(await kindOf(elsewhere, wilma)).toEqual({ kind: "facility", id: elsewhere, name: null });
    const { name } = await scan(other.merchantId).then((body) => body.other);
    expect(name).toEqual(expect.any(String));
    const missing = "ord_01m7y7np16fe68bxp4h91tdmdn";
    expect(await kindOf(missing)).toEqual({ kind: "order", id: missing, name: null });
    expect(await kindOf(commandCode(3))).toEqual({ kind: "command", id: null, name: null });
    expect(await kindOf("1Z999AA10123456784")).toBeNull();
    const { id } = await place();
    expect(await kindOf(id)).toBeNull();
    expect(
      await kindOf(
        id,
        test.backOfficeFor({
          name: "Elsa",
          grants: [{ role: "warehouse", facilityIds: [fromTypeId("fac", elsewhere) ?? ""] }],
        }),
      ),
      "as a missing one",
    ).toEqual({ kind: "order", id, name: null });
  });
});

describe("what a scanner makes of a product's code", () => {
  it("finds the product, however many zeros there are, and in elements of GS1", async () => {
    await createProduct(test, partner.merchantId, { sku: "UPC", barcode: "012345678905" });
    await createProduct(test, partner.merchantId, { sku: "GTIN", barcode: "09506000134352" });
    await createProduct(test, partner.merchantId, { sku: "UPC-E", barcode: "042100005264" });
    for (const code of ["12345678905", "0012345678905", "]E00012345678905", "00012345678905"])
      expect(await skusOf(code), code).toEqual(["UPC"]);
    for (const code of [
      ...["9506000134352", "(01)09506000134352(10)A1", "]C10109506000134352\u001d10A1"],
      ...["]d2010950600013435217281231", "https://id.gs1.org/01/09506000134352/10/A1"],
    ])
      expect(await skusOf(code), code).toEqual(["GTIN"]);
    expect(await skusOf("04252614")).toEqual(["UPC-E"]);
    expect(await skusOf("112345678905"), "another number").toEqual([]);
  });

  it("compares barcodes as the database does", async () => {
    const digits = Array.from({ length: 16 }, (_, count) => [
      `${"0".repeat(count)}7`,
      "0".repeat(count + 1),
      `1${"0".repeat(count)}`,
    ]);
    const barcodes = [...digits.flat(), "0A", "00 7", "007-", "0.5", "0", "00012345678905"];
    const rows = await test.db.query<{ barcode: string; key: string }>({
      name: "keys-of-barcodes",
      text: `select b.barcode, (${await expressionOf("products", "barcode_key")}) as key from unnest($1::text[]) as b (barcode)`,
      values: [barcodes],
    });
    expect(rows.map(({ key }) => key)).toEqual(barcodes.map(barcodeKey));
  });

  it("finds a SKU in any case, and the exact one first", async () => {
    await createProduct(test, partner.merchantId, { sku: "Mug-Blue" });
    expect(await skusOf("mUG-bLUE")).toEqual(["Mug-Blue"]);
    await createProduct(test, partner.merchantId, { sku: "MUG-BLUE" });
    expect(await skusOf("MUG-BLUE")).toEqual(["MUG-BLUE"]);
    expect(await skusOf("mug-blue"), "both, to choose").toHaveLength(2);
  });

  it("finds its stock by a scanned barcode", async () => {
    const id = await createProduct(test, partner.merchantId, { sku: "SHELF", barcode: "4006381333931" });
    const stock = `/api/facilities/${facility}/stock`;
    expect((await test.backOffice.request("PUT", `${stock}/${id}`, { body: { onHand: 3 } })).status).toBe(
      200,
    );
    for (const code of ["4006381333931", "04006381333931", "]E04006381333931", "(01)04006381333931"])
      expect(
        (await test.backOffice.get(`${stock}?q=${encodeURIComponent(code)}`)).body.data,
        code,
      ).toMatchObject([{ sku: "SHELF" }]);
  });
});

describe("a code that the service knows as something else is no text of a carrier", () => {
  const importTracking = (rawBody: string) =>
    test.backOffice.request("POST", "/api/shipments/import", {
      rawBody,
      headers: { "content-type": "text/csv" },
    });
  const errorsOf = ({ status, body }: { status: number; body: { errors: object[] } }) => {
    expect(status).toBe(422);
    return body.errors;
  };

  it("when an order ships, alone or with others, and nothing ships", async () => {
    await createProduct(test, partner.merchantId, { sku: "CUP-7", barcode: "5012345678900" });
    const [order, named] = [await place(), await place({ externalOrderId: "web-1002" })];
    const foreign = await createPartner(test);
    await createProduct(test, foreign.merchantId, { sku: "FOREIGN-1", barcode: "96385074" });
    for (const [code, knownAs] of [
      [named.id, "order"],
      [`]C1${asPrinted(order.id)}`, "order"],
      ["SHP_01M7Y7NP16FE68BXP4H91TDMDN", "shipment"],
      [partner.merchantId, "id"],
      [commandCode(1), "command"],
      ["web-1002", "external_order_id"],
      ["]C1web-1002", "external_order_id"],
      ["05012345678900", "barcode"],
      ["(01)05012345678900(10)A1", "barcode"],
      ["CUP-7", "sku"],
      ["cup-7", "sku"],
      ["WEB-1002", "external_order_id"],
    ] as const) {
      const ship = (body: object) => test.backOffice.post(`/api/orders/${order.id}/ship`, body);
      const known = { rule: "known_code", knownAs };
      expect(errorsOf(await ship({ carrier: "DHL", trackingNumber: code })), code).toMatchObject([
        { pointer: "/trackingNumber", ...known },
      ]);
      expect(errorsOf(await ship({ carrier: ` ${code} ` })), code).toMatchObject([
        { pointer: "/carrier", ...known },
      ]);
    }
    const many = await test.backOffice.post("/api/orders/ship", {
      orders: [{ orderId: order.id, trackingNumber: named.id }],
    });
    expect(many.body.orders).toMatchObject([
      { refusal: expect.objectContaining({ errors: [expect.anything()] }) },
    ]);
    expect((await readDetail(test, order.id)).shipments).toEqual([]);
    const shipped = await operationApplied(test, order.id, "ship", {
      carrier: "CUP",
      trackingNumber: "FOREIGN-1",
    });
    expect(shipped.shipments, "another merchant's name for a product").toMatchObject([
      { trackingNumber: "FOREIGN-1" },
    ]);
  });

  it.each(["15501234567890", "1Z999AA10123456784", "RR 123 456 785 DE", "9400-1112", "--", " TBA305 "])(
    "in place of a carrier, known or not: %s",
    async (carrier) => {
      const { id } = await place();
      const known = { rule: "known_code", knownAs: "number" };
      const refused = await test.backOffice.post(`/api/orders/${id}/ship`, {
        carrier,
        trackingNumber: "TBA-305",
      });
      expect(errorsOf(refused)).toMatchObject([{ pointer: "/carrier", ...known }]);
      expect(refused.body.errors[0].detail).toContain("give its name, such as DHL");
      const row = `orderId,carrier,trackingNumber\n${id},${carrier},TBA-305\n`;
      const { body } = await importTracking(row);
      expect(body).toMatchObject({ shipped: 0, rejected: 1 });
      expect(body.rejections).toMatchObject([{ line: 2, errors: [{ column: "carrier", ...known }] }]);
      expect((await readDetail(test, id)).shipments).toEqual([]);
    },
  );

  it("but a carrier may have digits in its name, also in a change", async () => {
    const { id } = await place();
    const { shipments } = await operationApplied(test, id, "ship", { carrier: "4PX" });
    for (const [carrier, status] of [
      ["17TRACK", 200],
      ["Kurier 2000", 200],
      ["J&T", 200],
      ["123", 422],
      ["Kurier 2000", 200],
    ] as const) {
      const path = `/api/shipments/${shipments[0].id}`;
      expect((await test.backOffice.request("PATCH", path, { body: { carrier } })).status, carrier).toBe(
        status,
      );
    }
  });

  it("when a shipment changes, unless it has the number already", async () => {
    const { id } = await place();
    const { shipments } = await operationApplied(test, id, "ship", {
      carrier: "DHL",
      trackingNumber: "JD-77",
    });
    await place({ externalOrderId: "JD-77" });
    const patch = (body: object) =>
      test.backOffice.request("PATCH", `/api/shipments/${shipments[0].id}`, { body });
    expect((await patch({ carrier: "UPS", trackingNumber: "JD-77" })).status).toBe(200);
    expect(errorsOf(await patch({ trackingNumber: id }))).toMatchObject([
      { pointer: "/trackingNumber", rule: "known_code", knownAs: "order" },
    ]);
    expect((await patch({ trackingNumber: null })).status).toBe(200);
  });

  it("in a file of parcels: the parcel is left out, and a recorded one stays", async () => {
    const { id } = await place();
    const [good, bad] = [await place(), await place({ externalOrderId: "web-2002" })];
    await operationApplied(test, id, "ship", { carrier: "DHL", trackingNumber: "JD-88" });
    await place({ externalOrderId: "JD-88" });
    const file = `orderId,carrier,trackingNumber\n${id},DHL,JD-88\n${good.id},DHL,JD-99\n${bad.id},DHL,web-2002\n`;
    const { body } = await importTracking(file);
    expect(body).toMatchObject({ shipped: 1, unchanged: 1, rejected: 1 });
    expect(body.rejections).toMatchObject([
      { line: 4, errors: [{ column: "trackingNumber", knownAs: "external_order_id" }] },
    ]);
  });
});
