import { Writable } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { anOrder, createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { readOrder } from "../support/orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test); // Its products cost 10.00 EUR.
});

const ofQuantities = (by: Partner, quantities: number[], fields: object = {}) =>
  anOrder(by, {
    lines: quantities.map((quantity) => ({ productId: by.productIds[0], quantity })),
    ...fields,
  });
const place = async (by: Partner, quantities: number[], fields: object = {}) =>
  (await by.client.post("/v1/orders", ofQuantities(by, quantities, fields))).body;

async function pricedAt(amount: string): Promise<Partner> {
  const { merchantId, connectionId } = partner;
  const price = { amount, currency: "EUR" };
  const productId = await createExposedProduct(test, merchantId, connectionId, { price });
  return { ...partner, productIds: [productId, productId] };
}

describe("POST /v1/orders, an order of unusual size without any policy", () => {
  it("of the largest size begins in review, and is not accepted when its window is over", async () => {
    const { id, status } = await place(partner, Array(100).fill(100_000));
    expect(status).toBe("PROCESSING");
    test.clock.advance({ hours: 3 });
    await runJob(test, "accept-orders");
    expect((await readOrder(partner, id)).status).toBe("PROCESSING");
  });

  it.each([true, false])("begins in review only above 2 500 000.00 EUR, test mode %s", async (testMode) => {
    const expensive = await pricedAt("100.00");
    expect((await place(expensive, [25_000], { testMode })).status).toBe("NEW");
    expect((await place(expensive, [25_000, 1], { testMode })).status).toBe("PROCESSING");
  });

  it("begins in review only above 500 000 units, whatever they cost", async () => {
    const cheap = await pricedAt("0.01");
    expect((await place(cheap, Array(5).fill(100_000))).status).toBe("NEW");
    expect((await place(cheap, [...Array(5).fill(100_000), 1])).status).toBe("PROCESSING");
  });

  it("follows a limit of the connection's own, also a higher one", async () => {
    const maxOrderValue = { amount: "5000000.00", currency: "EUR" };
    const trusted = await createPartner(test, { reviewPolicy: { maxOrderValue, maxQuantity: 600_000 } });
    expect((await place(trusted, Array(5).fill(100_000))).status).toBe("NEW");
    expect((await place(trusted, [...Array(5).fill(100_000), 1])).status).toBe("PROCESSING");
  });
});

describe("a connection that orders for much within an hour", () => {
  /** A listener whose log and metrics the test reads. */
  function watched() {
    const lines: Record<string, unknown>[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    const log = createLog("warn", stream);
    const metrics = createMetrics();
    const app = createPartnerApi({ ...test.context, log }, metrics);
    const order = async (by: Partner, quantities: number[], fields: object = {}) => {
      const { statusCode } = await app.inject({
        method: "POST",
        url: "/v1/orders",
        headers: { authorization: `Bearer ${by.key}` },
        payload: ofQuantities(by, quantities, fields),
      });
      expect(statusCode).toBe(201);
    };
    const alerts = () => lines.filter(({ msg }) => msg === "unusual order value of a connection");
    const count = async () =>
      (await metrics.registry.getSingleMetric("partner_orders_unusual_order_values_total")?.get())?.values[0]
        ?.value;
    return { order, alerts, count };
  }

  it("is logged once an hour, and counted without its name", async () => {
    const { order, alerts, count } = watched();
    for (let n = 0; n < 5; n += 1) await order(partner, [20_000]); // Each is below the limit of a review.
    expect(alerts()).toEqual([]);
    for (let n = 0; n < 3; n += 1) await order(partner, [1]);
    expect(alerts()).toMatchObject([
      {
        level: "warn",
        connection: { id: partner.connectionId },
        merchant: { id: partner.merchantId },
        orderedThisHour: { amount: "1000010.00", currency: "EUR" },
        limit: { amount: "1000000.00", currency: "EUR" },
      },
    ]);
    expect(await count()).toBe(1);
    test.clock.advance({ hours: 1 });
    await order(partner, [100_000, 1]);
    expect(alerts()).toHaveLength(2);
  });

  it("does not add to what others order, and test orders do not count", async () => {
    const { order, alerts } = watched();
    const other = await createPartner(test);
    await order(partner, [100_000]);
    await order(other, [100_000]);
    await order(partner, [100_000], { testMode: true });
    test.clock.advance({ hours: 1 });
    await order(partner, [100_000]);
    expect(alerts()).toEqual([]);
  });
});
