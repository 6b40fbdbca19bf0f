import { describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, readRows, uuidIn } from "../support/webhooks.ts";

const HOUR_MS = 3_600_000;

async function start() {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const { id } = await createEndpoint(partner);
  const recover = (hoursAgo: number) =>
    partner.client.post(endpointPath(id, "recover"), {
      since: new Date(test.clock.now().getTime() - hoursAgo * HOUR_MS).toISOString(),
    });
  return { test, partner, id, recover };
}

/** A log of failed deliveries, longer than one batch. */
async function addFailed({ db }: TestService, partner: Partner, endpointId: string): Promise<void> {
  await placeOrder(partner);
  await db.runScript(`
    insert into deliveries
    select (jsonb_populate_record(d, jsonb_build_object(
             'id', overlay(d.id::text placing lpad(to_hex(n), 8, '0') from 29), 'status', 'failed'))).*
    from deliveries d, generate_series(1000, 3500) n
    where d.endpoint_id = '${uuidIn("whe", endpointId)}'`);
}

describe("many recoveries of one endpoint", () => {
  it("are merged: ninety requests store one row, with the earliest time", async () => {
    const { test, id, recover } = await start();
    const responses = await Promise.all(Array.from({ length: 90 }, (_, hours) => recover((hours * 37) % 90)));
    for (const { status } of responses) expect(status).toBe(202);
    const rows = await readRows(test, "webhook_resends", id);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.["since"]).toEqual(new Date(test.clock.now().getTime() - 89 * HOUR_MS));
  });

  it("are merged also after each has finished", async () => {
    const { test, id, recover } = await start();
    for (const hours of [1, 5, 3]) {
      const { body } = await recover(hours);
      expect(body.since).toBe(new Date(test.clock.now().getTime() - hours * HOUR_MS).toISOString());
      test.clock.advance({ minutes: 2 });
      await runJob(test, "resend-deliveries");
      expect(await readRows(test, "webhook_resends", id)).toMatchObject([{ finished_at: test.clock.now() }]);
    }
  });

  it("continue at the position of the first one, if they cover no earlier time", async () => {
    const { test, partner, id, recover } = await start();
    await addFailed(test, partner, id);
    await recover(2);
    const position = async () => (await readRows(test, "webhook_resends", id))[0]?.["position"];
    const begin = await position();
    await test.db.query({
      name: "test-progress",
      text: "update webhook_resends set position = $2 where endpoint_id = $1",
      values: [uuidIn("whe", id), test.context.newId()],
    });
    const reached = await position();
    expect((await recover(1)).body.since).toBe(
      new Date(test.clock.now().getTime() - 2 * HOUR_MS).toISOString(),
    );
    expect(await position()).toBe(reached);
    await recover(3);
    expect(String(await position()) < String(begin)).toBe(true);
  });

  it("make a worker read the log about once, and send everything again", async () => {
    const { test, partner, id, recover } = await start();
    await addFailed(test, partner, id);
    for (let count = 0; count < 90; count += 1) await recover(1);
    // Each batch counts itself and its deliveries: three batches, instead of three for each request.
    expect(await runJob(test, "resend-deliveries")).toBeLessThan(2 * 2_502 + 10);
    expect((await readRows(test, "deliveries", id)).filter(({ status }) => status === "failed")).toEqual([]);
  });
});
