import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullAccess } from "../../src/merchants/api-key.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { pagePosition, ROWS_READ_MAX, UUID_MAX } from "../../src/platform/wire/cursor.ts";
import { isProblem } from "../../src/platform/wire/problems.ts";
import { type FeedPage, feedPage, readFeed } from "../../src/webhooks/events/event-feed.ts";
import { readDeliveryPage } from "../../src/webhooks/log/delivery-log.ts";
import { type DeliveryFilter, FAILED_READ_MAX } from "../../src/webhooks/log/delivery-log-sql.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, uuidIn } from "../support/webhooks.ts";

const STORED = 3 * ROWS_READ_MAX;

let test: TestService;
let partner: Partner;
let orderId: string;
let endpointId: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  endpointId = (await createEndpoint(partner)).id;
  orderId = (await placeOrder(partner)).id;
  await copyDelivery();
  await copyEvent();
});
afterAll(() => test.close());

/** Copies the only delivery, as older ones of the same order. The two oldest failed, all others succeeded. */
const copyDelivery = (): Promise<void> =>
  test.db.runScript(`
    set session_replication_role = replica;
    insert into deliveries
    select (jsonb_populate_record(d, jsonb_build_object('id', new.id, 'event_id', new.id,
             'status', case when n <= 2 then 'failed' else 'succeeded' end))).*
    from deliveries d, generate_series(1, ${STORED}) n,
         lateral (select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id) as new;
    reset session_replication_role`);

/** Copies the event of the order, as events that are about no order. */
const copyEvent = (): Promise<void> =>
  test.db.runScript(`
    set session_replication_role = replica;
    insert into events
    select (jsonb_populate_record(e, jsonb_build_object(
             'id', left(e.id::text, 24) || lpad(to_hex(n), 12, '0'), 'order_id', null, 'sequence', null))).*
    from events e, generate_series(1, ${STORED}) n
    where e.type = 'order.created';
    reset session_replication_role`);

/** Reads all pages of a list; returns how many items each one has. */
async function pageSizes(path: string): Promise<number[]> {
  const sizes: number[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await partner.client.get(`${path}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    sizes.push(body.data.length);
    if (body.nextCursor === null) return sizes;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

const NO_FILTER: DeliveryFilter = {
  endpointId: null,
  orderId: null,
  eventId: null,
  status: null,
  eventType: null,
  since: null,
  until: null,
  hasFailedAttempts: null,
};

/** Rows that a statement reads of a table to find the first page. */
async function rowsRead(table: string, work: (db: Queryable) => Promise<unknown>): Promise<number> {
  return (await countRowsRead(test.db, work, { returnRows: true }))(table);
}

const deliveriesRead = (filter: Partial<DeliveryFilter>): Promise<number> =>
  rowsRead("deliveries", (db) => {
    const position = pagePosition("deliveries", { limit: 1 }, UUID_MAX);
    if (isProblem(position)) throw new Error(position.detail);
    return readDeliveryPage(
      db,
      fullAccess(connectionKey(partner)),
      { ...NO_FILTER, ...filter },
      position,
      test.clock.now(),
    );
  });

describe.each(["before there are statistics", "with statistics"])("%s", (when) => {
  beforeAll(async () => {
    if (when === "with statistics") await test.db.runScript("analyze deliveries, events");
  });

  describe("a filter of the delivery log that little or nothing fits", () => {
    it.each<[string, () => Partial<DeliveryFilter>, max: number]>([
      ["status", () => ({}), ROWS_READ_MAX],
      ["status and endpoint", () => ({ endpointId: uuidIn("whe", endpointId) }), ROWS_READ_MAX],
      // First it finds out that the order has many.
      ["status and order", () => ({ orderId: uuidIn("ord", orderId) }), 2 * ROWS_READ_MAX + 1],
    ])("by %s reads a bounded number of rows", async (_, filter, max) => {
      expect(await deliveriesRead({ ...filter(), status: "failed" })).toBeLessThanOrEqual(max + LOOK_AHEAD);
    });

    it.each<[string, () => Partial<DeliveryFilter>, max: number]>([
      ["event type", () => ({ eventType: "order.canceled" }), ROWS_READ_MAX],
      ["time", () => ({ until: new Date(0) }), 0],
      ["failed attempts", () => ({ hasFailedAttempts: true }), FAILED_READ_MAX],
      [
        "failed attempts and endpoint",
        () => ({ hasFailedAttempts: true, endpointId: uuidIn("whe", endpointId) }),
        FAILED_READ_MAX,
      ],
      [
        "failed attempts and order",
        () => ({ hasFailedAttempts: true, orderId: uuidIn("ord", orderId) }),
        2 * FAILED_READ_MAX + 1,
      ],
    ])("by %s reads a bounded number of rows as well", async (_, filter, max) => {
      expect(await deliveriesRead(filter())).toBeLessThanOrEqual(max + LOOK_AHEAD);
    });

    it("reads no more than a page if everything fits", async () => {
      // Of the page, its end, and the delivery again, with its last attempt.
      expect(await deliveriesRead({})).toBeLessThanOrEqual(3 + LOOK_AHEAD);
    });
  });
});

it("a filter of the feed that nothing fits reads a bounded number of rows", async () => {
  await pageSizes("/v1/events?type=order.canceled"); // Later readers find the positions that the first one gives.
  await test.db.runScript("analyze events");
  const page = feedPage({}) as FeedPage; // Without a cursor there is no problem with one.
  const filter = { orderId: null, type: "order.canceled" as const };
  const read = (db: Queryable) =>
    readFeed(
      { db: { ...test.db, ...db }, clock: test.clock },
      fullAccess(connectionKey(partner)),
      page,
      filter,
    );
  expect(await rowsRead("events", read)).toBeLessThanOrEqual(ROWS_READ_MAX + LOOK_AHEAD);
});

describe("the cursor of a page that is not full continues", () => {
  it.each([
    ["by status", () => "/v1/deliveries?status=failed"],
    ["by status and endpoint", () => `/v1/deliveries?status=failed&endpointId=${endpointId}`],
    ["by status and order", () => `/v1/deliveries?status=failed&orderId=${orderId}`],
  ])("in the delivery log %s, up to the oldest delivery", async (_, path) => {
    expect(await pageSizes(path())).toEqual([0, 0, 1, 1]);
  });

  it("in the feed, whose last page is empty and has no cursor", async () => {
    expect(await pageSizes("/v1/events?type=order.canceled")).toEqual([0, 0, 0, 0]);
    expect(await pageSizes("/v1/events?type=order.created&limit=100")).toHaveLength(STORED / 100 + 2);
  });
});
