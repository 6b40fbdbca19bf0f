import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { placementOf } from "../../src/orders/creation/create-order.ts";
import { findBeyondLimit, placeOrders } from "../../src/orders/creation/place-orders.ts";
import { NO_UUID } from "../../src/platform/ids.ts";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey, expectProblem } from "../support/orders.ts";
import { applied, transition } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const setLimits = (limits: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });

describe("the transitions of a test order", () => {
  const REACHED = { limit: "testOrderTransitions", maximum: 4 };

  it.each([
    ["with events", "hold", "releaseHold"],
    ["without events", "process", "accept"],
  ])("end at the limit: %s", async (_, first, second) => {
    await setLimits({ testOrderTransitions: 4 });
    const { id } = await placeTestOrder(partner);
    for (const name of [first, second, first, second]) await applied(partner, id, name);
    const before = await dumpTables(test);
    expectProblem(await transition(partner, id, first), 409, "limit-reached", REACHED);
    expect(await dumpTables(test)).toEqual(before);
    await applied(partner, (await placeTestOrder(partner)).id, first);
  });

  it("that change nothing succeed at the limit, and one that a rule forbids names the rule", async () => {
    await setLimits({ testOrderTransitions: 4 });
    const { id } = await placeTestOrder(partner);
    for (const name of ["hold", "releaseHold", "hold", "releaseHold"]) await applied(partner, id, name);
    const before = await dumpTables(test);
    expect(await applied(partner, id, "releaseHold")).toMatchObject({ onHold: false });
    const rejected = { transition: "complete", orderStatus: "NEW", rule: "unshipped_lines" };
    expectProblem(await transition(partner, id, "complete"), 409, "transition-refused", rejected);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("end at the limit also when they come at once", async () => {
    await setLimits({ testOrderTransitions: 4 });
    const { id } = await placeTestOrder(partner);
    const responses = await Promise.all(Array.from({ length: 12 }, () => transition(partner, id, "hold")));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    for (const rejected of responses.filter(({ status }) => status !== 200))
      expectProblem(rejected, 409, "limit-reached", REACHED);
  });
});

describe("the test orders of a connection", () => {
  const place = (fields: object = {}) =>
    partner.client.post("/v1/orders", anOrder(partner, { testMode: true, ...fields }));
  const REACHED = { limit: "testOrders", maximum: 3 };

  it("end at the limit; a retry is replayed, and real orders are placed all the same", async () => {
    await setLimits({ testOrders: 3 });
    for (const externalOrderId of ["1", "2", "3"])
      expect((await place({ externalOrderId })).status).toBe(201);
    expectProblem(await place(), 409, "limit-reached", REACHED);
    expect((await place({ externalOrderId: "2" })).status).toBe(200);
    await placeOrder(partner);
    await placeTestOrder(await createPartner(test));
    test.clock.advance({ hours: 2 });
    await runJob(test, "erase-test-orders");
    expect((await place()).status).toBe(201);
  });

  it("end at the limit also when they come at once", async () => {
    await setLimits({ testOrders: 3 });
    const responses = await Promise.all(Array.from({ length: 20 }, () => place()));
    const placed = responses.filter(({ status }) => status === 201);
    // Two groups at a time may each count before the other has stored its orders.
    expect(placed.length).toBeGreaterThanOrEqual(3);
    expect(placed.length).toBeLessThanOrEqual(6);
    for (const rejected of responses.filter(({ status }) => status !== 201))
      expectProblem(rejected, 409, "limit-reached", REACHED);
  });

  it.each([
    ["a retry", { externalOrderId: "1" }, "replayed"],
    ["a key that was used for another request", { externalOrderId: "1", note: "Another." }, "key-reused"],
    ["an order of an unknown product", { lines: [{ productId: NO_UUID, quantity: 1 }] }, "content-rejected"],
  ])("have room for an order that comes in one group with %s", async (_, fields, outcome) => {
    await setLimits({ testOrders: 2 });
    await place({ externalOrderId: "1" });
    const placements = [
      { externalOrderId: "0", ...fields },
      ...["2", "3"].map((id) => ({ externalOrderId: id })),
    ].map((request) => {
      const body = anOrder(partner, { testMode: true, ...request });
      return placementOf(connectionKey(partner), request.externalOrderId, body, undefined);
    });
    expect(await placeOrders(test.context, placements)).toMatchObject([
      { outcome },
      { outcome: "created" },
      { outcome: "limit-reached", maximum: 2 },
    ]);
  });

  it("are counted for test orders only: placing real orders has no statement for it", async () => {
    const { context, names } = countStatements(test.context);
    const request = { testMode: false };
    const items = [{ merchantId: partner.merchantId, connectionId: partner.connectionId, request }];
    expect((await findBeyondLimit(context.db, items)).size).toBe(0);
    expect(names).toEqual([]);
  });
});
