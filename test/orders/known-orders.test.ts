import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Order } from "../../src/lifecycle/order.ts";
import { parseOrderRef, toWireOrder } from "../../src/orders/order-wire.ts";
import { orderReader } from "../../src/orders/reading/read-order.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { wireOrderId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { createFacility, setStock } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { isOnCitus } from "../support/plain-postgres.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

// See docs/design/performance.md, "Orders that are known".

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  other = await createPartner(test);
  const facility = await createFacility(test);
  for (const productId of partner.productIds) await setStock(test, facility, productId, 1_000);
});
afterAll(() => test.close());

/** A reader of a process of its own, and how many orders PostgreSQL has returned to it as a whole. */
function newReader() {
  const counts = { whole: 0 };
  const query: Queryable["query"] = async (statement) => {
    const rows = await test.db.query(statement);
    if (statement.name === "read-orders") counts.whole += rows.length;
    return rows as never; // The rows are those of the statement.
  };
  const readOrder = orderReader({ ...test.context, db: { ...test.db, query } });
  const read = (id: string, of = partner): Promise<Order | null> =>
    readOrder({ ...connectionKey(of), ref: parseOrderRef(id) });
  return { read, counts };
}

const shown = (order: Order | null) => (order === null ? null : toWireOrder(order));

describe("an order that a process has read before", () => {
  it("is returned by PostgreSQL only once while it is unchanged", async () => {
    const { id } = await placeOrder(partner);
    const { read, counts } = newReader();
    const first = await read(id);
    expect(await read(id)).toBe(first);
    expect(await Promise.all([read(id), read(id)])).toEqual([first, first]);
    expect(counts.whole).toBe(1);
  });

  it("is shown as it is now after each kind of change, all of them at the same moment", async () => {
    const { id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 3 }] });
    test.clock.advance({ hours: 2 });
    const { read } = newReader();
    async function expectChanged(change: string, work: () => Promise<unknown>): Promise<void> {
      const before = shown(await read(id));
      await work();
      const after = shown(await read(id));
      expect(after, change).not.toEqual(before);
      expect(after, change).toEqual(shown(await newReader().read(id)));
    }
    const operation = (name: string, body: object = {}) => operationApplied(test, id, name, body);
    const shipments = async () => (await readDetail(test, id)).shipments;
    const [line] = (await readDetail(test, id)).lines;
    const hold = { reasons: ["merchant_request"] };
    await expectChanged("hold", () => operation("hold", hold));
    await expectChanged("release", () => operation("release-hold", hold));
    await expectChanged("address", () =>
      test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, { body: { city: "Paris" } }),
    );
    await runJob(test, "accept-orders");
    await runJob(test, "route-orders");
    await expectChanged("part of a line", () =>
      operation("ship", { lines: [{ lineId: line.id, quantity: 1 }] }),
    );
    await expectChanged("the rest", () => operation("ship"));
    const [shipment] = await shipments();
    await expectChanged("tracking", () =>
      test.backOffice.request("PATCH", `/api/shipments/${shipment.id}`, { body: { trackingNumber: "T-1" } }),
    );
    await expectChanged("complete", () => operation("complete"));
    await expectChanged("return", () => operation("return", { shipmentId: shipment.id }));
    await expectChanged("erasure", () => test.backOffice.post(`/api/orders/${id}/erase-personal-data`));
  });

  it("is shown as accepted after its deadline, although its row is unchanged", async () => {
    const { id } = await placeOrder(partner);
    const { read, counts } = newReader();
    expect((await read(id))?.status).toBe("NEW");
    test.clock.advance({ hours: 2 });
    expect((await read(id))?.status).toBe("ACCEPTED");
    expect(counts.whole).toBe(1);
  });

  it("is read beside orders that the process does not know, and those that have changed", async () => {
    const placed = await Promise.all([1, 2, 3].map(() => placeOrder(partner)));
    const [known, changed, unknown] = placed.map(({ id }) => id) as [string, string, string];
    const { read, counts } = newReader();
    await Promise.all([read(known), read(changed)]);
    await operationApplied(test, changed, "cancel");
    const orders = await Promise.all([read(unknown), read(changed), read(known)]);
    expect(orders.map((order) => order && [wireOrderId(order), order.status])).toEqual([
      [unknown, "NEW"],
      [changed, "CANCELED"],
      [known, "NEW"],
    ]);
    expect(counts.whole).toBe(4);
  });

  it("is still missing for another connection", async () => {
    const { id } = await placeOrder(partner);
    const { read } = newReader();
    expect(await read(id)).not.toBeNull();
    expect(await read(id, other)).toBeNull();
  });

  it("is missing once its row is gone", async () => {
    const { id } = await placeTestOrder(partner);
    const { read } = newReader();
    expect(await read(id)).not.toBeNull();
    await test.db.runScript(`
      delete from order_lines where order_id = '${uuidIn("test", id)}';
      delete from orders where id = '${uuidIn("test", id)}'`);
    expect(await read(id)).toBeNull();
  });
});

// Otherwise readers that know the order would continue to show it as it was. Citus has no such triggers.
describe.skipIf(isOnCitus())(
  "in every test, a transaction that changes a part of an order without its row",
  () => {
    it.each([
      ["a line", "update order_lines set quantity = quantity + 1 where order_id = $1"],
      ["a shipment", "update shipments set carrier = 'Other' where order_id = $1"],
    ])("is rejected: %s", async (_part, text) => {
      const { id } = await placeTestOrder(partner);
      for (const name of ["accept", "ship"]) await applied(partner, id, name);
      const values = [uuidIn("test", id)];
      await expect(test.db.query({ name: "", text, values })).rejects.toThrow("and its order");
    });
  },
);
