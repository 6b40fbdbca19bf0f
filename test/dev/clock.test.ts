import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClockListener } from "../../packages/dev/src/clock-listener.ts";
import { createMovedClock } from "../../packages/dev/src/moved-clock.ts";
import { PartnerOrders, webhooks } from "../../packages/sdk/src/index.ts";
import { readConfig } from "../../src/platform/config.ts";
import { createLog } from "../../src/platform/log.ts";
import { HOUR_MS } from "../../src/platform/time.ts";
import { ensureDemo } from "../../src/service/demo.ts";
import { startService } from "../../src/service/start.ts";
import { anAddress } from "../support/builders.ts";
import { startReceiver } from "../support/receivers.ts";
import { createDatabase } from "../support/test-service.ts";

/** The service as `@partner-orders/dev` runs it, in the process of the tests. */
async function startDev() {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-orders-clock-"));
  const config = readConfig({
    DATABASE_URL: await createDatabase(),
    DATA_DIR: dataDir,
    PORT: "0",
    BACK_OFFICE_PORT: "0",
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    SHUTDOWN_DELAY_MS: "0",
  });
  const clock = createMovedClock(0);
  const service = await startService(config, createLog("silent"), { clock });
  const kept: number[] = [];
  const hooks = { onFinishing: () => {} };
  const listener = createClockListener(service.context, clock, {
    finishDueWork: () => {
      hooks.onFinishing();
      return service.finishDueWork();
    },
    keep: async (aheadMs) => void kept.push(aheadMs),
  });
  const { key, productIds } = await ensureDemo(service.context, { withOrders: false });
  const client = new PartnerOrders({ baseUrl: String(service.partnerApiUrl), key });
  const place = (externalOrderId: string) =>
    client.orders.create({
      externalOrderId,
      lines: [{ productId: productIds[0] ?? "", quantity: 1 }],
      shippingAddress: anAddress({}),
    });
  return {
    service,
    client,
    clock,
    kept,
    hooks,
    place,
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
    move: async (body: object): Promise<{ status: number; body: any }> => {
      const response = await listener.inject({ method: "POST", url: "/dev/clock", payload: body });
      return { status: response.statusCode, body: response.json() };
    },
    read: async () => (await listener.inject("/dev/clock")).json(),
    close: async () => {
      await listener.close();
      await service.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

let dev: Awaited<ReturnType<typeof startDev>>;
beforeAll(async () => {
  dev = await startDev();
});
afterAll(() => dev.close());

describe("POST /dev/clock", () => {
  it("returns when what became due is done: the order is accepted, and its webhook sent with a signature of now", async () => {
    const { promise: finishing, resolve: onFinishing } = Promise.withResolvers<void>();
    const receiver = await startReceiver((_, response) => void finishing.then(() => response.end()));
    const endpoint = await dev.client.webhookEndpoints.create({
      url: receiver.url,
      eventTypes: ["order.created", "order.accepted"],
    });
    expect((await dev.place("two-hours")).status).toBe("NEW");
    await receiver.waitFor(1);
    dev.hooks.onFinishing = onFinishing; // Until then, the first delivery is on its way.
    const moved = await dev.move({ advanceSeconds: 7_200 });
    expect(moved).toMatchObject({ status: 200, body: { aheadSeconds: 7_200, isSettled: true } });
    expect((await dev.client.orders.get("two-hours")).status).toBe("ACCEPTED");
    const events = await Promise.all(
      receiver.requests.map(({ headers, body }) =>
        webhooks.verify({ headers: headers as Record<string, string>, body }, endpoint.secret),
      ),
    );
    const accepted = events.filter(({ type }) => type === "order.accepted");
    expect(accepted).toHaveLength(1);
    expect(accepted[0]).toMatchObject({ data: { order: { externalOrderId: "two-hours" } } });
    expect(events).toHaveLength(2); // The move has ended no lease of a delivery on its way.
    await dev.client.webhookEndpoints.delete(endpoint.id);
    await receiver.close();
  });

  it("makes a retry due", async () => {
    const statuses = [500, 500, 500];
    const receiver = await startReceiver((_, response) => response.writeHead(statuses.shift() ?? 204).end());
    const endpoint = await dev.client.webhookEndpoints.create({ url: receiver.url });
    await dev.client.webhookEndpoints.ping(endpoint.id);
    for (const advanceSeconds of [10, 60, 240]) await dev.move({ advanceSeconds });
    expect(receiver.requests).toHaveLength(4);
    await dev.client.webhookEndpoints.delete(endpoint.id);
    await receiver.close();
  });

  it("adds up moves that are made at the same time, and keeps each before it is made", async () => {
    const before = dev.clock.aheadMs;
    await Promise.all([1, 2, 3].map((hours) => dev.move({ advanceSeconds: hours * 3_600 })));
    expect(dev.clock.aheadMs - before).toBe(6 * HOUR_MS);
    expect(dev.kept.at(-1)).toBe(dev.clock.aheadMs);
    expect((await dev.read()).aheadSeconds).toBe(dev.clock.aheadMs / 1_000);
  });

  it("moves to a time, also far beyond the partitions that exist, where orders can be placed", async () => {
    const to = new Date(Date.now() + 400 * 24 * HOUR_MS).toISOString();
    const { body } = await dev.move({ to });
    expect(Date.parse(body.now)).toBeGreaterThanOrEqual(Date.parse(to));
    expect((await dev.place("next-year")).status).toBe("NEW");
  });

  it.each([
    ["nothing", {}, "advanceSeconds either this or to is required, not both"],
    ["both", { advanceSeconds: 1, to: "2999-01-01T00:00:00Z" }, "advanceSeconds either"],
    ["a move backwards", { advanceSeconds: -1 }, "advanceSeconds must be at least 0.001"],
    ["no move", { advanceSeconds: 0 }, "advanceSeconds must be at least 0.001"],
    ["text", { advanceSeconds: "2h" }, "advanceSeconds must be a number"],
    ["a span of centuries", { advanceSeconds: 1e11 }, "advanceSeconds must be at most"],
    ["a time that is past", { to: "2020-01-01T00:00:00Z" }, "to must be after now"],
    ["a time in a century", { to: "2126-01-01T00:00:00Z" }, "to must be in the years"],
    ["no time", { to: "tomorrow" }, "to must be an ISO 8601 date-time with a time zone"],
  ])("rejects %s with a problem, and does not move", async (_what, body, reason) => {
    const before = dev.clock.aheadMs;
    const rejected = await dev.move(body);
    expect(rejected).toMatchObject({ status: 422, body: { code: "validation-failed" } });
    const [{ pointer, detail }] = rejected.body.errors;
    expect(`${pointer.slice(1)} ${detail}`).toContain(reason);
    expect(dev.clock.aheadMs).toBe(before);
  });

  it("is a path of neither listener of the service", async () => {
    for (const address of [dev.service.partnerApiUrl, dev.service.backOfficeUrl]) {
      const response = await fetch(`${address}/dev/clock`, { method: "POST" });
      expect(response.status).toBe(404);
    }
  });
});
