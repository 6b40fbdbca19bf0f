import { describe, expect, it, vi } from "vitest";
import { queueMail } from "../../src/mail/mails-sql.ts";
import { addBacklogMetrics } from "../../src/operations/metrics.ts";
import { startHeartbeat } from "../../src/operations/processes.ts";
import { JobNotes } from "../../src/operations/processes-sql.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { storeEndpoint } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { processPaymentsWith, scriptedGateway } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { applied } from "../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const DUE = "partner_orders_webhook_deliveries_due";
const AGE = "partner_orders_webhook_delivery_oldest_due_age_seconds";
const BEHIND = "partner_orders_webhook_orders_behind";
const BEHIND_AGE = "partner_orders_webhook_order_oldest_behind_age_seconds";
const PAUSED = "partner_orders_webhook_endpoints_paused";
const MAILS = "partner_orders_mails_queued";
const AHEAD = (table: string) => `partner_orders_partitions_ahead_seconds{table="${table}"}`;
const url = "http://127.0.0.1:9/";

/** What a scrape shows, by name and labels. */
async function scrape(test: TestService): Promise<Record<string, number>> {
  const { registry } = createMetrics();
  addBacklogMetrics(registry, test.context);
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("partner_orders"));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", value] = line.split(/ (?=[^ ]*$)/);
      return [name, Number(value)];
    }),
  );
}

describe("the metrics of what waits", () => {
  it("are 0 when nothing does", async () => {
    const test = await startServiceForTest();
    expect(await scrape(test)).toMatchObject({
      [DUE]: 0,
      [AGE]: 0,
      [BEHIND]: 0,
      [BEHIND_AGE]: 0,
      [PAUSED]: 0,
      [MAILS]: 0,
    });
  });

  it("count the workers that run", async () => {
    const test = await startServiceForTest();
    expect(await scrape(test)).toMatchObject({ partner_orders_workers_running: 0 });
    const heartbeat = startHeartbeat(test.context, new JobNotes(test.clock), 3_600_000);
    await expect.poll(() => scrape(test)).toMatchObject({ partner_orders_workers_running: 1 });
    await heartbeat.stop();
    expect(await scrape(test)).toMatchObject({ partner_orders_workers_running: 0 });
  });

  it("count the deliveries that are due, and show how long the oldest has been due", async () => {
    const test = await startServiceForTest();
    const partners = [await createPartner(test), await createPartner(test)];
    for (const partner of partners) {
      await storeEndpoint(test, partner, { url });
      await placeOrder(partner);
      test.clock.advance({ ms: 1_500 });
    }
    expect(await scrape(test)).toMatchObject({ [DUE]: 2, [AGE]: 3, [BEHIND]: 2, [BEHIND_AGE]: 3 });
  });

  it("show how long the oldest payment has been due, but not one that was sent to a gateway", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const age = "partner_orders_payment_oldest_due_age_seconds";
    expect(await scrape(test)).toMatchObject({ [age]: 0 });
    await placeOrder(partner);
    test.clock.advance({ seconds: 90 });
    await placeOrder(partner);
    expect(await scrape(test)).toMatchObject({ [age]: 90 });
    const ages: (number | undefined)[] = [];
    const beforeMove = async () => {
      ages.push((await scrape(test))[age]);
    };
    await processPaymentsWith(test, scriptedGateway(test, { batchSize: 1, beforeMove }));
    expect(ages).toEqual([0, 0]);
  });

  it("show how long orders have waited for acceptance and for routing", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const ages = async () => {
      const shown = await scrape(test);
      return ["due", "unrouted"].map((what) => shown[`partner_orders_order_oldest_${what}_age_seconds`]);
    };
    expect(await ages()).toEqual([0, 0]);
    await placeOrder(partner);
    test.clock.advance({ hours: 2, seconds: 30 });
    expect(await ages()).toEqual([30, 0]);
    await runJob(test, "accept-orders");
    test.clock.advance({ seconds: 10 });
    expect(await ages()).toEqual([0, 40]); // Accepted when its window closed.
    await runJob(test, "route-orders");
    expect(await ages()).toEqual([0, 0]);
  });

  it("count the orders that are held, by reason, and those in review; test orders are none of them", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const lines = [{ productId: partner.productIds[0], quantity: 1 }];
    const holds = [["out_of_stock"], ["out_of_stock", "customs"], ["strike"]];
    for (const reasons of holds)
      await operationApplied(test, (await placeOrder(partner, { lines })).id, "hold", { reasons });
    await placeOrder(partner, { lines: [{ ...lines[0], quantity: 2 }] });
    await applied(partner, (await placeTestOrder(partner, { lines })).id, "hold");
    const held = (reason: string) => `partner_orders_orders_held{reason="${reason}"}`;
    expect(await scrape(test)).toMatchObject({
      [held("out_of_stock")]: 2,
      [held("payment_failed")]: 0,
      [held("other")]: 2,
      partner_orders_orders_in_review: 1,
    });
  });

  it("leave out what is due later, under way, or for an endpoint that is paused or held", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.push((await storeEndpoint(test, partner, { url })).id);
    await placeOrder(partner);
    test.clock.advance({ minutes: 1 });
    const later = new Date(test.clock.now().getTime() + 1).toISOString();
    await test.db.runScript(`
      update due_deliveries set due_at = '${later}' where endpoint_id = '${ids[0]}';
      update due_deliveries set claim_id = delivery_id, claimed_at = due_at, leased_until = '${later}'
        where endpoint_id = '${ids[1]}';
      update webhook_endpoint_states set backoff_until = '${later}' where endpoint_id = '${ids[2]}';
      update webhook_endpoints set status = 'paused', pause_reason = 'failing', paused_at = now()
        where id = '${ids[3]}';`);
    expect(await scrape(test)).toMatchObject({ [DUE]: 0, [AGE]: 0, [PAUSED]: 1 });
    test.clock.advance({ ms: 1 });
    expect(await scrape(test)).toMatchObject({ [DUE]: 3, [AGE]: 60.001, [PAUSED]: 1 });
  });

  it("count the mails that are still to be sent", async () => {
    const test = await startServiceForTest();
    const connection = connectionKey(await createPartner(test));
    for (let count = 0; count < 3; count += 1) {
      const id = test.context.newId();
      await queueMail(test.db, {
        ...connection,
        id,
        recipient: "m@a.example",
        subject: "",
        body: "",
        now: test.clock.now(),
      });
    }
    await test.db.runScript(
      "update outgoing_mails set sent_at = now() where id = (select min(id::text)::uuid from outgoing_mails)",
    );
    expect(await scrape(test)).toMatchObject({ [MAILS]: 2 });
  });

  it("show how far ahead each table has partitions", async () => {
    const test = await startServiceForTest();
    await runJob(test, "make-partitions");
    const ahead = (14 * 24 + 15) * 3_600;
    expect(await scrape(test)).toMatchObject({ [AHEAD("events")]: ahead, [AHEAD("attempts")]: ahead });
  });

  it("are left out when they cannot be read, and take no other figure with them", async () => {
    const test = await startServiceForTest();
    await test.db.runScript("alter table outgoing_mails rename to outgoing_mails_away");
    const log = vi.spyOn(test.context.log, "warn");
    const shown = await scrape(test);
    expect(shown).toMatchObject({ [DUE]: 0, [PAUSED]: 0 });
    expect(shown).not.toHaveProperty(MAILS);
    expect(log).toHaveBeenCalledTimes(1);
  });
});
