import { expect, it } from "vitest";
import { fromTypeId, uuidAt } from "../../src/platform/ids.ts";
import { eventRow } from "../../src/webhooks/events/event.ts";
import { insertEvents } from "../../src/webhooks/publishing-sql.ts";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { describeOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead } from "../support/rows-read.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

const ENDPOINT_COUNT = 5;
const HISTORY = 400;

/** A test order whose events were all delivered to several endpoints: its first one, and many copies of it. */
async function orderWithHistory(): Promise<{
  test: TestService;
  partner: Partner;
  orderId: string;
  endpointIds: string[];
}> {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const { url } = await startReceiverForTest();
  const endpointIds: string[] = [];
  for (let count = 0; count < ENDPOINT_COUNT; count += 1)
    endpointIds.push((await createEndpoint(partner, { url })).id);
  const { id } = await placeTestOrder(partner);
  await sendDue(startDispatcher(test));
  await test.db.runScript(`
    insert into deliveries
    select (jsonb_populate_record(d, jsonb_build_object(
             'id', gen_random_uuid(), 'event_id', gen_random_uuid(), 'sequence', n))).*
    from deliveries d, generate_series(2, ${HISTORY}) n;
    analyze deliveries`);
  return { test, partner, orderId: fromTypeId("test", id) ?? "", endpointIds };
}

/** How many deliveries the next event of the order reads. */
async function readByNextEvent(
  { context, clock, db }: TestService,
  partner: Partner,
  orderId: string,
): Promise<number> {
  const event = eventRow({
    ...connectionKey(partner),
    id: context.newId(),
    type: "order.onHold",
    occurredAt: clock.now(),
    testMode: true,
    orderId,
    sequence: HISTORY + 1,
    notAfter: null,
    data: {},
  });
  const read = await countRowsRead(db, (tx) => insertEvents(tx, [event], clock.now()));
  return read("deliveries");
}

describeOnPlainPostgres("The statements of a function run on the node of the merchant.")(
  "an event of an order with a long history",
  () => {
    it("reads none of its deliveries", async () => {
      const { test, partner, orderId } = await orderWithHistory();
      expect(await readByNextEvent(test, partner, orderId)).toBe(0);
    });

    it("reads the newest delivery of an endpoint that was resumed, and no more of what has ended", async () => {
      const { test, partner, orderId, endpointIds } = await orderWithHistory();
      for (const id of endpointIds) {
        await pauseEndpoint(test, id);
        expect((await partner.client.post(endpointPath(id, "resume"))).status).toBe(200);
      }
      expect(await readByNextEvent(test, partner, orderId)).toBeLessThanOrEqual(2 * ENDPOINT_COUNT);
    });

    it("reads the history once after a pause, to let the oldest pending delivery go first", async () => {
      const { test, partner, orderId, endpointIds } = await orderWithHistory();
      const [id = ""] = endpointIds;
      await test.db.query({
        name: "test-pending-again",
        text: `
        update deliveries
        set status = 'pending', trigger = null, started_at = null, duration_ms = null, response_status = null,
            response_body = null
        where endpoint_id = $1 and id > $2 and sequence > $3`,
        values: [fromTypeId("whe", id), uuidAt(new Date(0)), HISTORY - 5],
      });
      await pauseEndpoint(test, id);
      await partner.client.post(endpointPath(id, "resume"));
      expect(await readByNextEvent(test, partner, orderId)).toBeGreaterThan(HISTORY - 5);
      await test.db.query({
        name: "test-head",
        text: `
        insert into due_deliveries (
          merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at)
        select merchant_id, connection_id, endpoint_id, stream_id, id, event_id, 'recovery', 0, $2
        from deliveries
        where endpoint_id = $1 and status = 'pending'
        order by sequence
        limit 1`,
        values: [fromTypeId("whe", id), test.clock.now()],
      });
      expect(await readByNextEvent(test, partner, orderId)).toBeLessThanOrEqual(2 * ENDPOINT_COUNT);
    });
  },
);
