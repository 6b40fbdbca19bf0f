import { beforeAll, describe, expect, it } from "vitest";
import { warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let near: string;
let far: string;
/** Orders at the near facility, the oldest first. */
let waiting: string[];

beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  near = await createFacility(test);
  await setStock(test, near, partner.productIds[0], 100);
  const [shipped = "", returned = "", held = "", ...others] = await placeRouted(5);
  waiting = others;
  await operationApplied(test, shipped, "ship");
  await operationApplied(test, returned, "ship");
  const [shipment] = (await readDetail(test, returned)).shipments;
  await operationApplied(test, returned, "return", { shipmentId: shipment.id, restock: true });
  await operationApplied(test, held, "hold", { reasons: ["merchant_request"] });
  await test.backOffice.post(`/api/facilities/${near}/close`);
  far = await createFacility(test);
  await setStock(test, far, partner.productIds[0], 100);
  await placeRouted(1);
  await placeOrder(partner, { testMode: true });
  return () => test.close();
});

async function placeRouted(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    test.clock.advance({ ms: 1 });
    ids.push((await placeOrder(partner, { externalOrderId: `order-${test.clock.now().getTime()}` })).id);
  }
  await acceptAll(test);
  await routeAll(test);
  return ids;
}

const staffOf = (facilityId: string): Client =>
  test.backOfficeFor({ kind: "warehouse", name: "Wilma", facilityIds: [uuidIn("fac", facilityId)] });
const read = async (client: Client = warehouseOf(test)) => {
  const { status, body } = await client.get("/api/work-list/overview");
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

describe("GET /api/work-list/overview", () => {
  it("counts for each facility what waits, and what was shipped and came back in the last day", async () => {
    const { facilities, attention, readAt } = await read();
    expect(readAt).toBe(test.clock.now().toISOString());
    const oldest = await readDetail(test, waiting[0] ?? "");
    expect(facilities).toEqual([
      {
        ...{ facilityId: far, name: "Facility", toPack: 1, free: 1, onHold: 0, shipped: 0, returned: 0 },
        oldest: expect.objectContaining({ orderId: expect.stringMatching(/^ord_/) }),
      },
      {
        ...{ facilityId: near, name: "Facility", toPack: 2, free: 2, onHold: 1, shipped: 2, returned: 1 },
        oldest: {
          orderId: oldest.id,
          externalOrderId: oldest.externalOrderId,
          createdAt: oldest.createdAt,
        },
      },
    ]);
    expect(attention).toEqual([
      {
        ...{ kind: "hold", reason: "merchant_request", count: 1, oldestAt: expect.any(String) },
        ...{ list: "orders", query: "onHold=true&holdReason=merchant_request" },
      },
    ]);
  });

  it("counts the orders to ship of its facilities alone for a caller of these", async () => {
    const none = { inReview: null, onHold: null, declinedPayments: null, failingEndpoints: null };
    const countsOf = async (client: Client) => (await client.get("/api/overview/counts")).body;
    expect(await countsOf(staffOf(near))).toEqual({ ...none, toShip: waiting.length });
    expect(await countsOf(staffOf(far))).toEqual({ ...none, toShip: 1 });
    expect((await countsOf(warehouseOf(test))).toShip).toBe(waiting.length + 1);
  });

  it("shows staff of a facility this one alone, and nothing that waits elsewhere", async () => {
    const { facilities, attention } = await read(staffOf(far));
    expect(facilities.map(({ facilityId }: { facilityId: string }) => facilityId)).toEqual([far]);
    expect(attention).toEqual([]);
  });

  it("does not count orders on a pick list as free, until the list ends", async () => {
    const taken = await test.backOffice.post("/api/pick-lists", {
      ...{ facilityId: near, takenBy: "Wilma", orderLimit: 1, leaseMinutes: 1 },
    });
    expect(taken.status).toBe(201);
    const figures = async () => {
      const { facilities } = await read(staffOf(near));
      return facilities.map(({ toPack, free }: { toPack: number; free: number }) => [toPack, free]);
    };
    expect(await figures()).toEqual([[2, 1]]);
    test.clock.advance({ seconds: 61 });
    expect(await figures()).toEqual([[2, 2]]);
  });

  it("forgets what moved a day ago, and a closed facility where nothing waits", async () => {
    test.clock.advance({ hours: 24 });
    const [figures] = (await read(staffOf(near))).facilities;
    expect(figures).toMatchObject({ toPack: 2, shipped: 0, returned: 0 });
    for (const id of waiting) await operationApplied(test, id, "cancel");
    expect((await read(staffOf(near))).facilities).toEqual([]);
  });
});
