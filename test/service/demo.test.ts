import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ensureDemo } from "../../src/service/demo.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** No worker runs here, so nothing but the demo itself processes its orders. */
async function startDemo() {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-orders-demo-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const service = await startServiceForTest({ config: { dataDir } });
  await ensureDemo(service.context);
  return service;
}

it("a new demo has no work that waits, although its orders are hours old", async () => {
  const { backOffice } = await startDemo();
  const { body } = await backOffice.get("/api/system");
  const waiting = body.queues.filter(
    ({ oldestAgeSeconds }: { oldestAgeSeconds: number }) => oldestAgeSeconds > 0,
  );
  expect(body.queues.length).toBeGreaterThan(5);
  expect(waiting).toEqual([]);
});

it("the orders of a demo were accepted when their windows closed, and the last two were not", async () => {
  const { backOffice } = await startDemo();
  const { body } = await backOffice.get("/api/orders?limit=100");
  const acceptedAfterMinutes = await Promise.all(
    body.data.map(async ({ id }: { id: string }) => {
      const order = (await backOffice.get(`/api/orders/${id}`)).body;
      const accepted = order.timeline.find(({ operation }: { operation: string }) => operation === "accept");
      return accepted && (Date.parse(accepted.at) - Date.parse(order.createdAt)) / 60_000;
    }),
  );
  expect(acceptedAfterMinutes).toEqual([undefined, undefined, ...Array(8).fill(120)]);
});
