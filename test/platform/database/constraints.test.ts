import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqlState } from "../../../src/platform/database/database.ts";
import { createPartner, type Partner, placeOrder } from "../../support/builders.ts";
import { connectionUuid } from "../../support/orders.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";
import { createEndpoint } from "../../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  other = await createPartner(test);
  await createEndpoint(partner);
  await placeOrder(partner);
});
afterAll(() => test.close());

const FOREIGN_KEY = "23503";
const UNIQUE = "23505";
const CHECK = "23514";

/** What the database says to a statement that would make something false true. */
async function rejectionOf(sql: string): Promise<string | null> {
  try {
    await test.db.runScript(sql);
    return null;
  } catch (error) {
    return sqlState(error);
  }
}

describe("facts that no code can make false", () => {
  it.each([
    [
      "an order line names no product that was never exposed to its connection",
      () => `update order_lines set product_id = '${other.productIds[0]}'`,
      FOREIGN_KEY,
    ],
    ["an order is in its merchant's currency", () => "update orders set currency = 'USD'", FOREIGN_KEY],
    [
      "a connection is in its merchant's currency",
      () => `update connections set currency = 'USD' where id = '${connectionUuid(other)}'`,
      FOREIGN_KEY,
    ],
    [
      "a product is exposed only to connections of its merchant",
      () => `insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
             select merchant_id, '${connectionUuid(partner)}', id, now() from products where id = '${other.productIds[0]}'`,
      FOREIGN_KEY,
    ],
    [
      "a key is used once a connection",
      () => `insert into order_requests
             select (jsonb_populate_record(r, jsonb_build_object('order_id', gen_random_uuid(), 'external_order_id', 'x'))).*
             from order_requests r`,
      UNIQUE,
    ],
    [
      "an external id is used once a connection",
      () => `insert into order_requests
             select (jsonb_populate_record(r, jsonb_build_object('order_id', gen_random_uuid(), 'idempotency_key', 'x'))).*
             from order_requests r`,
      UNIQUE,
    ],
    [
      "a settled order has no hold",
      () => `update orders set status = 'CANCELED', hold_reasons = '{x}'`,
      CHECK,
    ],
    ["an order has a known status", () => "update orders set status = 'LOST'", CHECK],
    ["only test orders expire", () => "update orders set expires_at = '2030-01-01T00:00:00Z'", CHECK],
    [
      "a review policy names countries by two letters",
      () => "update connections set review_countries = '{Germany}'",
      CHECK,
    ],
    ["an event is owed to an endpoint once", () => "insert into deliveries select * from deliveries", UNIQUE],
    [
      "an endpoint has one newest secret",
      () => `insert into webhook_secrets
             select merchant_id, connection_id, endpoint_id, gen_random_uuid(), sealed, created_at, expires_at from webhook_secrets`,
      UNIQUE,
    ],
    ["a stream has one head", () => "insert into due_deliveries select * from due_deliveries", UNIQUE],
    ["a paused endpoint has a reason", () => "update webhook_endpoints set status = 'paused'", CHECK],
  ])("%s", async (_, sql, state) => {
    expect(await rejectionOf(sql())).toBe(state);
  });
});
