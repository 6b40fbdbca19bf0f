import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { failPayment } from "../support/orders.ts";
import {
  expectRejected,
  operationApplied,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { copyEntries } from "../support/timeline.ts";

let test: TestService;
let partner: Partner;
let warehouse: Client;
let merchant: Client;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  warehouse = warehouseOf(test);
  merchant = personOf(test, partner.merchantId);
});
afterAll(() => test.close());

const hold = (id: string, client: Client, ...reasons: string[]) =>
  requestOperation(test, id, "hold", reasons.length === 0 ? {} : { reasons }, client);
const release = (id: string, client: Client, ...reasons: string[]) =>
  requestOperation(test, id, "release-hold", reasons.length === 0 ? {} : { reasons }, client);
const reasonsOf = async (id: string): Promise<string[]> => (await readDetail(test, id)).onHoldReasons;

describe("POST /api/orders/{id}/hold", () => {
  it("keeps the reasons of others, and remembers who placed each", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    await hold(id, warehouse, "damaged", "fraud_check");
    const { body } = await hold(id, merchant);
    expect(body.onHoldReasons).toEqual(["fraud_check", "damaged", "merchant_request"]);
    expect(body.holds).toMatchObject([
      { reason: "fraud_check", placedBy: { kind: "operator" } },
      { reason: "damaged", placedBy: { kind: "warehouse", name: "Wilma Packer" } },
      { reason: "merchant_request", placedBy: { kind: "merchant", name: "Mia Merchant" } },
    ]);
  });

  it("changes nothing if the order has the reasons, and leaves no audit entry", async () => {
    const { id } = await placeOrder(partner);
    await hold(id, warehouse, "a", "b");
    const before = await dumpTables(test);
    expect((await hold(id, merchant, "merchant_request")).status).toBe(200);
    expect(await dumpTables(test)).not.toEqual(before);
    const after = await dumpTables(test);
    expect((await hold(id, warehouse, "b", "a")).body.onHoldReasons).toEqual(["a", "b", "merchant_request"]);
    expect(await dumpTables(test)).toEqual(after);
  });

  it("accepts 40 reasons of an order, and no more", async () => {
    const { id } = await placeOrder(partner);
    const reasons = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => `r${from + at}`);
    await operationApplied(test, id, "hold", { reasons: reasons(0, 20) });
    await operationApplied(test, id, "hold", { reasons: reasons(20, 20) });
    expectRejected(await hold(id, test.backOffice, "more"), "too_many_hold_reasons", "hold");
    expect(await reasonsOf(id)).toHaveLength(40);
  });

  it("ends with a timeline of 2 500 entries, and so does an update of a shipment, but nothing else", async () => {
    const { id } = await placeAcceptedOrder(test, partner);
    const { shipments } = await operationApplied(test, id, "ship", {});
    const update = (carrier: string) =>
      test.backOffice.request("PATCH", `/api/shipments/${shipments[0].id}`, { body: { carrier } });
    await hold(id, test.backOffice, "a");
    await copyEntries(test, id, 2_499);
    expect((await update("first")).status).toBe(200);
    const before = await dumpTables(test);
    expectRejected(await hold(id, test.backOffice, "b"), "too_many_changes", "hold");
    expectRejected(await update("second"), "too_many_changes", "updateShipment");
    expect(await dumpTables(test)).toEqual(before);
    expect((await release(id, test.backOffice)).body.onHoldReasons).toEqual([]);
    expect((await operationApplied(test, id, "complete", {})).status).toBe("COMPLETED");
  });

  it("changes nothing and succeeds again when the timeline is full, and so does an update of a shipment", async () => {
    const { id } = await placeAcceptedOrder(test, partner);
    const { shipments } = await operationApplied(test, id, "ship", {});
    const path = `/api/shipments/${shipments[0].id}`;
    const update = (carrier: string) => test.backOffice.request("PATCH", path, { body: { carrier } });
    await hold(id, test.backOffice, "a");
    await update("same");
    await copyEntries(test, id, 2_500);
    const before = await dumpTables(test);
    expect((await hold(id, test.backOffice, "a")).body.onHoldReasons).toEqual(["a"]);
    expect(await update("same")).toMatchObject({ status: 200, body: { carrier: "same" } });
    expectRejected(await hold(id, test.backOffice, "a", "b"), "too_many_changes", "hold");
    expect(await dumpTables(test)).toEqual(before);
  });

  it("names the rule that rejects it also when the timeline is full", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "cancel");
    await copyEntries(test, id, 2_500);
    expectRejected(await hold(id, test.backOffice, "a"), "order_settled", "hold", "CANCELED");
  });

  it("shows the status that the deadline has given when the timeline is full", async () => {
    const { id } = await placeOrder(partner);
    await hold(id, test.backOffice, "a");
    await copyEntries(test, id, 2_500);
    test.clock.advance({ hours: 2 });
    expectRejected(await hold(id, test.backOffice, "b"), "too_many_changes", "hold", "ACCEPTED");
    expect((await readDetail(test, id)).status).toBe("ACCEPTED");
  });

  it("loses no reason of twenty that are placed at once", async () => {
    const { id } = await placeOrder(partner);
    const reasons = Array.from({ length: 20 }, (_, at) => `reason ${at}`);
    const answers = await Promise.all(reasons.map((reason) => hold(id, warehouse, reason)));
    expect(answers.map(({ status }) => status)).toEqual(reasons.map(() => 200));
    expect((await reasonsOf(id)).toSorted()).toEqual(reasons.toSorted());
  });
});

describe("POST /api/orders/{id}/release-hold", () => {
  it("without reasons releases what the caller may release", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    await hold(id, warehouse, "damaged");
    await hold(id, merchant);
    expect((await release(id, warehouse)).body.onHoldReasons).toEqual(["fraud_check", "merchant_request"]);
    expect((await release(id, merchant)).body.onHoldReasons).toEqual(["fraud_check"]);
    expect((await release(id, test.backOffice)).body).toMatchObject({ onHold: false, holds: [] });
  });

  it("is rejected if the caller may release none of the reasons, and changes nothing", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    await failPayment(test, partner, id);
    const before = await dumpTables(test);
    for (const client of [warehouse, merchant])
      expectRejected(await release(id, client), "hold_not_releasable", "releaseHold", "NEW");
    expectRejected(await release(id, warehouse, "fraud_check"), "hold_not_releasable", "releaseHold");
    expect(await dumpTables(test)).toEqual(before);
    expect((await release(id, test.backOffice)).body.onHoldReasons).toEqual(["payment_failed"]);
    expectRejected(await release(id, test.backOffice), "hold_not_releasable", "releaseHold");
  });

  it("releases all of the named reasons, or none", async () => {
    const { id } = await placeOrder(partner);
    await hold(id, warehouse, "damaged");
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    expectRejected(
      await release(id, warehouse, "damaged", "fraud_check"),
      "hold_not_releasable",
      "releaseHold",
    );
    expect(await reasonsOf(id)).toEqual(["damaged", "fraud_check"]);
    expect((await release(id, warehouse, "damaged", "unknown")).body.onHoldReasons).toEqual(["fraud_check"]);
    expect((await release(id, warehouse, "unknown")).status).toBe(200);
  });

  it("leaves a hold of routing to routing and to the operator", async () => {
    await test.backOffice.post("/api/facilities", { name: "Depot", countryCode: "GB" });
    const { id } = await placeAcceptedOrder(test, partner);

    await runJob(test, "route-orders");
    expect((await readDetail(test, id)).holds).toMatchObject([
      { reason: "address_unserviceable", placedBy: { kind: "service" } },
    ]);
    expectRejected(await release(id, warehouse), "hold_not_releasable", "releaseHold", "ACCEPTED");
    expect((await release(id, test.backOffice)).body.onHold).toBe(false);
  });

  it("shows the status that the deadline has given to a rejected caller", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    test.clock.advance({ hours: 2 });
    expectRejected(await release(id, warehouse), "hold_not_releasable", "releaseHold", "ACCEPTED");
  });
});
