import { Writable } from "node:stream";
import { expect, it, vi } from "vitest";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { startServiceForTest } from "../support/test-service.ts";

const REQUESTS = 50;

it("many requests that fail while the database is unavailable are logged together", async () => {
  const { context } = await startServiceForTest();
  const lines: { msg: string; count: number }[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const url = "postgres://nobody@127.0.0.1:1/nowhere"; // Nothing listens there.
  const db = openDatabase({ url, connectionsMax: 2, onIdleError: () => undefined });
  const app = createPartnerApi({ ...context, db, log: createLog("error", destination) }, createMetrics());
  const request = { url: "/v1/me", headers: { authorization: "Bearer key" } };
  for (let count = 0; count < REQUESTS; count += 1) expect((await app.inject(request)).statusCode).toBe(503);
  const logged = () => lines.reduce((sum, { count }) => sum + count, 0);
  await vi.waitUntil(() => logged() === REQUESTS, { timeout: 20_000 });
  expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(["request failed"]));
  expect(lines.length).toBeLessThan(REQUESTS / 2);
  await app.close();
  await db.close();
});
