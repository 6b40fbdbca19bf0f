import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keepOrder } from "../../docs/examples/keep-order.mjs";
import { createPartner, type Partner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { histories } from "../support/histories.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder, readOrder } from "../support/orders.ts";
import { placeAcceptedOrder, readDetail, requestOperation } from "../support/real-orders.ts";
import { applied, SANDBOX_TRANSITIONS, transition } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

// Two copies of an order tell which is the newer one, wherever they are from (docs/design/event-feed.md, "Sequence").
let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

type Copy = { id: string; sequence: number; updatedAt: string };

const OPT_INS = ["order.accepted", "order.inProgress", "order.shipmentUpdated", "order.paymentFailed"];
const EVERY_TYPE = ["order.created", "order.canceled", "order.onHold", "order.onHoldReleased"].concat(
  ["order.shipmentCreated", "order.shipmentReturned", "order.completed"],
  OPT_INS,
);

const search = async (partner: Partner, id: string): Promise<Copy> => {
  const { body } = await partner.client.post("/v1/orders/search", {});
  return body.data.find((order: Copy) => order.id === id);
};

const COMMANDS = [
  "read",
  "search",
  "partner cancel",
  "hold",
  "release-hold",
  "ship",
  "track",
  "deliver",
  "complete",
  "return",
  "correct",
  "erase-personal-data",
  "accept-orders",
  "route-orders",
] as const;
const anyHistory = fc.array(
  fc.record({
    together: fc.array(fc.constantFrom(...COMMANDS), { minLength: 1, maxLength: 4 }),
    minutes: fc.constantFrom(0, 0, 1, 121),
  }),
  { minLength: 4, maxLength: 14, size: "max" },
);

/** The copy of the order that the command returns to the partner, if any. */
async function execute(partner: Partner, id: string, command: (typeof COMMANDS)[number]): Promise<Copy[]> {
  const operation = async (path: string, body: object = {}) => {
    expect([200, 409]).toContain((await requestOperation(test, id, path, body)).status);
    return [];
  };
  switch (command) {
    case "read":
      return [await readOrder(partner, id)];
    case "search":
      return [await search(partner, id)];
    case "partner cancel": {
      const { status, body } = await cancelOrder(partner, id);
      return status === 200 ? [body] : [];
    }
    case "accept-orders":
    case "route-orders":
      await runJob(test, command);
      return [];
    case "hold":
      return operation("hold", { reasons: ["merchant_request"] });
    case "correct": {
      const body = { address2: `Floor ${Math.random()}` };
      const path = `/api/orders/${id}/shipping-address`;
      expect([200, 409]).toContain((await test.backOffice.request("PATCH", path, { body })).status);
      return [];
    }
    case "track":
    case "deliver": {
      const { shipments } = await readDetail(test, id);
      const change =
        command === "track" ? { trackingNumber: String(Math.random()) } : { status: "delivered" };
      if (shipments.length > 0) {
        const path = `/api/shipments/${shipments.at(-1).id}`;
        expect([200, 409]).toContain((await test.backOffice.request("PATCH", path, { body: change })).status);
      }
      return [];
    }
    default:
      return operation(command);
  }
}

/** Whatever the order in which copies arrive, and however often, the kept one is the present one. */
function expectKept(copies: readonly Copy[], present: Copy, arrival: readonly number[]): void {
  const orders = new Map<string, Copy>();
  const shuffled = [...copies, ...copies, present]
    .map((copy, index) => ({ copy, place: arrival[index % arrival.length] ?? 0 }))
    .sort((one, other) => one.place - other.place);
  for (const { copy } of shuffled) keepOrder(orders, copy);
  expect(orders.get(present.id)).toEqual(present);
}

const anyArrival = fc.array(fc.nat(1_000), { minLength: 97, maxLength: 97 });

describe("the sequence of an order", () => {
  it("and its updatedAt tell the latest copy in random histories of real orders, wherever copies are from", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, anyArrival, async (history, arrival) => {
        const partner = await createPartner(test);
        await createFacility(test);
        await createEndpoint(partner, { eventTypes: EVERY_TYPE });
        const { id } = await placeOrder(partner);
        const copies: Copy[] = [];
        for (const { together, minutes } of history) {
          copies.push(
            ...(await Promise.all(together.map((command) => execute(partner, id, command)))).flat(),
          );
          test.clock.advance({ minutes });
        }
        const isErased = history.some(({ together }) => together.includes("erase-personal-data"));
        copies.push(
          ...(await readEvents(test, partner.connectionId)).flatMap(({ data }) => data.order ?? []),
        );
        const present: Copy = await readOrder(partner, id);
        expectKept(copies, present, arrival);
        // An erasure rewrites the bodies of earlier events, so these differ from what was read before.
        if (isErased) return;
        const known = new Map<string, Copy>();
        for (const copy of copies) {
          const version = `${copy.sequence} ${copy.updatedAt}`;
          expect(copy).toEqual(known.get(version) ?? copy);
          known.set(version, copy);
        }
      }),
      histories({ change: 15, release: 100 }),
    );
  }, 120_000);

  it("does so for test orders whose transitions follow within a millisecond", async () => {
    const anyTransitions = fc.array(fc.constantFrom(...SANDBOX_TRANSITIONS), { minLength: 2, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(anyTransitions, anyArrival, async (names, arrival) => {
        const partner = await createPartner(test);
        const { id } = await placeTestOrder(partner);
        const copies: Copy[] = [await readOrder(partner, id)];
        for (const name of names) {
          const { status, body } = await transition(partner, id, name);
          if (status === 200) copies.push(body);
        }
        const [present] = copies.slice(-1);
        if (present !== undefined) expectKept(copies, present, arrival);
      }),
      histories({ change: 20, release: 100 }),
    );
  }, 120_000);

  it("is that of the last event that counts, in each response but that of the creation, and in events", async () => {
    const partner = await createPartner(test);
    const order = await placeTestOrder(partner);
    expect(order).not.toHaveProperty("sequence");
    expect(await readOrder(partner, order.id)).toMatchObject({ sequence: 1 });
    expect(await applied(partner, order.id, "accept")).toMatchObject({ sequence: 1 });
    expect(await applied(partner, order.id, "hold")).toMatchObject({ sequence: 2 });
    expect(await search(partner, order.id)).toMatchObject({ sequence: 2 });
    expect((await cancelOrder(partner, (await placeTestOrder(partner)).id)).body).toMatchObject({
      sequence: 2,
    });
    const events = await readEvents(test, partner.connectionId);
    const ofOrder = events.filter(({ data }) => data.order?.id === order.id);
    expect(ofOrder.map(({ sequence, data }) => [sequence, data.order.sequence])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it("moves with updatedAt alone when personal data is erased", async () => {
    const partner = await createPartner(test);
    const { id } = await placeAcceptedOrder(test, partner);
    await requestOperation(test, id, "cancel");
    const before: Copy = await readOrder(partner, id);
    await requestOperation(test, id, "erase-personal-data");
    const after: Copy = await readOrder(partner, id);
    expect(after.sequence).toBe(before.sequence);
    expect(after.updatedAt > before.updatedAt).toBe(true);
  });
});
