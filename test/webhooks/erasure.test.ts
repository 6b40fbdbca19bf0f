import { describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import type { ReceiverHandler } from "../support/receivers.ts";
import { applied } from "../support/sandbox.ts";
import { countRowsNaming, dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const erase = (test: TestService) => runJob(test, "erase-test-orders");
const reject: ReceiverHandler = (_, response) => {
  response.writeHead(500).end();
};
const config = { webhookAllowPrivateNetworks: true };

/** Puts a delivery into a stream of its own, as a redelivery by a partner does. */
const askAgain = ({ db, clock }: TestService, deliveryId: string) =>
  db.query({
    name: "test-ask-again",
    text: `
      insert into due_deliveries (merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at)
      select merchant_id, connection_id, endpoint_id, id, id, event_id, 'manual', 0, $2 from deliveries where id = $1`,
    values: [deliveryId, clock.now()],
  });

describe("a test order that is erased", () => {
  it("loses its deliveries: sent, to be retried, and pending", async () => {
    const test = await startServiceForTest({ config });
    const partner = await createPartner(test);
    const [willing, rejecting] = [await startReceiverForTest(), await startReceiverForTest(reject)];
    for (const { url } of [willing, rejecting]) await storeEndpoint(test, partner, { url });
    const before = await dumpTables(test);
    const dispatcher = startDispatcher(test);
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "hold");
    await sendDue(dispatcher);
    await applied(partner, id, "releaseHold");
    const [first] = await readDeliveries(test);
    await askAgain(test, first?.id ?? "");
    const uuid = fromTypeId("test", id) ?? "";
    const names = (await readDeliveries(test)).map((delivery) => delivery.id);
    expect(Object.keys(await countRowsNaming(test, uuid, ...names))).toEqual(
      expect.arrayContaining(["attempts", "deliveries", "due_deliveries", "events", "orders"]),
    );
    await dispatcher.stop();
    test.clock.advance({ hours: 2 });
    expect(await erase(test)).toBe(1);
    expect(await countRowsNaming(test, uuid, id, ...names)).toEqual({});
    const after = await dumpTables(test);
    for (const table of ["attempts", "deliveries", "due_deliveries"])
      expect(after[table]).toEqual(before[table]);
  });

  it("does not change other orders and connections", async () => {
    const test = await startServiceForTest({ config });
    const [partner, other] = [await createPartner(test), await createPartner(test)];
    const receiver = await startReceiverForTest(reject);
    for (const one of [partner, other]) await storeEndpoint(test, one, { url: receiver.url });
    await placeOrder(partner);
    await placeOrder(other);
    await sendDue(startDispatcher(test));
    const tables = async () => {
      const { attempts, deliveries, due_deliveries: streams, events } = await dumpTables(test);
      return { attempts, deliveries, streams, events };
    };
    const before = await tables();
    await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    expect(await erase(test)).toBe(1);
    expect(await tables()).toEqual(before);
  });

  it("is erased completely while its events are being sent", async () => {
    const test = await startServiceForTest({ config });
    const partner = await createPartner(test);
    const receiver = await startReceiverForTest((_, response) => {
      // Its time is over while the receiver is still thinking.
      test.clock.advance({ hours: 2 });
      void erase(test).then(() => response.end());
    });
    await storeEndpoint(test, partner, { url: receiver.url });
    const { id } = await placeTestOrder(partner);
    await sendDue(startDispatcher(test));
    expect(receiver.requests).toHaveLength(1);
    expect(await readAttempts(test)).toEqual([]);
    expect(await readDeliveries(test)).toEqual([]);
    expect(await countRowsNaming(test, fromTypeId("test", id) ?? "", id)).toEqual({});
  });

  it("does not read partitions of attempts from before its first event", async () => {
    const test = await startServiceForTest({ config });
    await runJob(test, "make-partitions");
    const bound = "019cb000-0000-0000-0000-000000000000"; // On 2 March 2026.
    const rows = await test.db.query<{ "QUERY PLAN": string }>({
      name: "test-plan",
      text: `explain delete from attempts where merchant_id = '${bound}' and delivery_id = any('{${bound}}'::uuid[]) and id >= '${bound}'`,
      values: [],
    });
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("attempts_20260303");
    expect(plan).not.toContain("attempts_20260301");
  });
});
