import { describe, expect, it } from "vitest";
import { newlyTracked, trackingMail } from "../../../src/fulfilment/tracking-mail.ts";
import type { OrderLine, Shipment } from "../../../src/lifecycle/order.ts";
import { wireOrderId } from "../../../src/platform/ids.ts";
import { anOrder, NOW, REAL } from "../../support/lifecycle-orders.ts";

const ORDER_ID = "0195d5c2-4c4f-7c6a-8b1e-111111111111";
const URL = "https://carrier.example/N1";
const parcel = (fields: Partial<Shipment> = {}): Shipment => ({
  id: "parcel-1",
  status: "shipped",
  createdAt: NOW,
  shippedAt: NOW,
  handoverReported: false,
  deliveredAt: null,
  weightGrams: null,
  carrier: null,
  trackingNumber: null,
  scannedTrackingNumber: null,
  trackingUrl: null,
  ...fields,
});
const numbered = parcel({ trackingNumber: "N1" });

describe("the tracking of a shipment becomes known", () => {
  it.each<[string, Shipment[], Shipment[], string[]]>([
    ["when it is created with a number", [], [numbered], ["parcel-1"]],
    ["when it is created with a page", [], [parcel({ trackingUrl: URL })], ["parcel-1"]],
    ["when it gets a number", [parcel()], [numbered], ["parcel-1"]],
    ["when it gets a page", [parcel()], [parcel({ trackingUrl: URL })], ["parcel-1"]],
    ["not when it is created without", [], [parcel()], []],
    ["not when its number changes", [numbered], [parcel({ trackingNumber: "N2" })], []],
    ["not when it gets a page after its number", [numbered], [{ ...numbered, trackingUrl: URL }], []],
    ["not when its number is removed", [numbered], [parcel()], []],
    [
      "alone, not those of the order's other shipments",
      [numbered, parcel({ id: "parcel-2" }), parcel({ id: "parcel-3" })],
      [numbered, parcel({ id: "parcel-2" }), parcel({ id: "parcel-3", trackingNumber: "N3" })],
      ["parcel-3"],
    ],
  ])("%s", (_, before, after, ids) => {
    expect(newlyTracked({ shipments: before }, { shipments: after }).map(({ id }) => id)).toEqual(ids);
  });
});

describe("the mail to the merchant", () => {
  const lines = [
    {
      id: "line-1",
      productId: "product",
      quantity: 2,
      shipmentId: "parcel-1",
      splitFrom: null,
      returnedQuantity: 0,
      cancellationId: null,
    },
    {
      id: "line-2",
      productId: "product",
      quantity: 3,
      shipmentId: "parcel-1",
      splitFrom: null,
      returnedQuantity: 0,
      cancellationId: null,
    },
    {
      id: "line-3",
      productId: "product",
      quantity: 7,
      shipmentId: null,
      splitFrom: null,
      returnedQuantity: 0,
      cancellationId: null,
    },
  ];
  const id = wireOrderId({ id: ORDER_ID, testMode: false });

  const hostile =
    "1\r\n\r\nYour account is locked.\u2028\nPay at https://evil.example\u0000\u001b[2J\u202egpj.exe\r\nBcc: all@shop.example";

  it("shows each text of others on one line, so that none looks like a part of the mail", () => {
    const order = anOrder({ ...REAL, id: ORDER_ID, externalOrderId: "1", lines });
    const shipment = parcel({ carrier: hostile, trackingNumber: hostile, trackingUrl: `${URL}\n${hostile}` });
    const { subject, body } = trackingMail(order, shipment);
    const usual = trackingMail(order, parcel({ carrier: "A", trackingNumber: "B", trackingUrl: URL }));
    expect(body.split(/[\n\u2028]/)).toHaveLength(usual.body.split("\n").length);
    expect(subject + body.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
  });

  const mailOf = (externalOrderId: string) =>
    trackingMail(anOrder({ ...REAL, id: ORDER_ID, externalOrderId, lines }), parcel());

  it("has a subject of at most 80 characters", () => {
    expect(mailOf("x".repeat(60)).subject).toBe(`Order ${"x".repeat(60)} is on its way`);
    expect(mailOf("x".repeat(61)).subject).toBe(`Order ${"x".repeat(59)}… is on its way`);
  });

  it.each([
    "Your account is blocked pay now",
    "evil.com",
    "evil\u2024com",
    "evil\u3002com",
    "ⓔⓥⓘⓛ",
    "x".repeat(65),
  ])("has no text of the partner that is more than an id: %s", (text) => {
    const { subject, body } = mailOf(text);
    expect(subject).toBe(`Order ${id} is on its way`);
    expect(body).not.toContain("Partner's order id");
    expect(body).not.toContain(text);
  });

  it.each(["1001", "#1001", "2024/17", "SO-2024_17"])("names the partner's id: %s", (text) =>
    expect(mailOf(text).body).toContain(`Partner's order id: ${text}\n`),
  );

  it("names the order by the partner's id, and contains all facts", () => {
    const order = anOrder({ ...REAL, id: ORDER_ID, externalOrderId: "P-7", lines });
    const shipment = parcel({ carrier: "DHL", trackingNumber: "N1", trackingUrl: URL });
    expect(trackingMail(order, shipment)).toEqual({
      subject: "Order P-7 is on its way",
      body: `A shipment of one of your orders was handed to the carrier.

Order: ${id}
Partner's order id: P-7
Carrier: DHL
Tracking number: N1
Tracking: ${URL}
Order lines in this shipment: 2 of 3 (5 units)
`,
    });
  });

  it("does not report a pending shipment as on its way", () => {
    const order = anOrder({ ...REAL, id: ORDER_ID, externalOrderId: "P-7", lines });
    const { subject, body } = trackingMail(order, parcel({ status: "pending", trackingNumber: "N1" }));
    expect(subject).toBe("Order P-7 has tracking");
    expect(body).toMatch(
      /^A shipment of one of your orders has tracking. The carrier does not have it yet.\n\nOrder: /,
    );
  });

  it("leaves out unknown facts", () => {
    const order = anOrder({ ...REAL, id: ORDER_ID, lines });
    expect(trackingMail(order, parcel())).toEqual({
      subject: `Order ${id} is on its way`,
      body: `A shipment of one of your orders was handed to the carrier.

Order: ${id}
Order lines in this shipment: 2 of 3 (5 units)
`,
    });
  });

  it("counts one unit in the singular", () => {
    const inParcel = (line: OrderLine): OrderLine => ({
      ...line,
      quantity: 1,
      shipmentId: "parcel-1",
      splitFrom: null,
      returnedQuantity: 0,
      cancellationId: null,
    });
    const order = anOrder({ ...REAL, id: ORDER_ID, lines: lines.slice(2).map(inParcel) });
    expect(trackingMail(order, parcel()).body).toContain("Order lines in this shipment: 1 of 1 (1 unit)\n");
  });
});
