import { describe, expect, it } from "vitest";
import { uuidAt } from "../../src/platform/ids.ts";
import { countEndpoints } from "../../src/webhooks/endpoints/endpoints-sql.ts";
import { eventRow } from "../../src/webhooks/events/event.ts";
import { insertEvents } from "../../src/webhooks/publishing-sql.ts";
import { countRows, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead } from "../support/rows-read.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

/** Copies the connection's deleted endpoint, as a partner makes them that creates and deletes for hours. */
const copyDeleted = ({ db }: TestService, count: number): Promise<void> =>
  db.runScript(`
    insert into webhook_endpoints
    select (jsonb_populate_record(w, jsonb_build_object('id', gen_random_uuid(), 'number', 1000 + n))).*
    from webhook_endpoints w, generate_series(1, ${count}) n
    where w.status = 'deleted';
    analyze webhook_endpoints`);

async function createDeleted(partner: Partner): Promise<string> {
  const { id } = await createEndpoint(partner);
  await partner.client.request("DELETE", endpointPath(id));
  return id;
}

describe("deleted endpoints", () => {
  itOnPlainPostgres("The statements of a function run on the node of the merchant.")(
    "are read neither when an event is published, nor when its streams are locked, nor when endpoints are counted",
    async () => {
      const test = await startServiceForTest();
      const partner = await createPartner(test);
      const key = connectionKey(partner);
      await createDeleted(partner);
      await createEndpoint(partner);
      await copyDeleted(test, 20_000);
      const orderId = test.context.newId();
      const event = eventRow({
        ...key,
        id: test.context.newId(),
        type: "order.onHold",
        occurredAt: test.clock.now(),
        testMode: false,
        orderId,
        sequence: 2,
        notAfter: null,
        data: {},
      });
      const read = await countRowsRead(test.db, async (tx) => {
        await insertEvents(tx, [event], test.clock.now());
        await countEndpoints(tx, key, "live", 200);
      });
      expect(read("webhook_endpoints")).toBeGreaterThan(0);
      expect(read("webhook_endpoints")).toBeLessThan(20);
    },
  );

  it("are removed when nothing of their log is left, page by page", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await createDeleted(partner);
    await createEndpoint(partner);
    await copyDeleted(test, 1_200);
    expect(await runJob(test, "remove-deleted-endpoints")).toBe(1_201);
    expect(await countRows(test, "webhook_endpoints")).toBe(1_202); // A transaction may still know them.
    test.clock.advance({ hours: 1, ms: 1 });
    expect(await runJob(test, "remove-deleted-endpoints")).toBe(1_201);
    expect(await countRows(test, "webhook_endpoints")).toBe(1);
    expect(await countRows(test, "webhook_endpoint_states")).toBe(1);
    expect(await runJob(test, "remove-deleted-endpoints")).toBe(0);
  });

  it("stay as long as a delivery of theirs is in the log; then their number is not given again", async () => {
    const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const partner = await createPartner(test);
    const { url } = await startReceiverForTest();
    const { id } = await createEndpoint(partner, { url });
    await placeOrder(partner);
    await sendDue(startDispatcher(test));
    await partner.client.post(endpointPath(id, "recover"), { since: test.clock.now().toISOString() });
    await partner.client.request("DELETE", endpointPath(id));
    test.clock.advance({ hours: 24 * 89 });
    await runJob(test, "remove-deleted-endpoints");
    expect(await countRows(test, "webhook_endpoints")).toBe(1);
    test.clock.advance({ hours: 48 });
    await runJob(test, "purge-delivery-log");
    await runJob(test, "remove-deleted-endpoints");
    expect(await countRows(test, "webhook_endpoints")).toBe(0);
    expect(await countRows(test, "webhook_resends")).toBe(0);
    await createEndpoint(partner, { url });
    const [row] = await test.db.query<{ number: number }>({
      name: "test-read-numbers",
      text: "select number from webhook_endpoints where id >= $1",
      values: [uuidAt(new Date(0))],
    });
    expect(row?.number).toBe(2);
  });
});
