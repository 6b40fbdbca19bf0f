import { expect, it } from "vitest";
import { createBackOffice } from "../../src/api/back-office/app.ts";
import { operatorAuthentication } from "../../src/api/back-office/authentication.ts";
import { addBacklogMetrics } from "../../src/monitoring/backlog-metrics.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { OPERATOR_TOKEN, startServiceForTest } from "../support/test-service.ts";

it("health and metrics are served while all connections of the back office are in use, and take none of them", async () => {
  const { context } = await startServiceForTest();
  const open = () =>
    openDatabase({
      url: String(context.config.databaseUrl),
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
  const [backOfficeDb, healthDb] = [open(), open()];
  const metrics = createMetrics();
  const health = { ...context, db: healthDb };
  addBacklogMetrics(metrics.registry, health);
  const authenticate = operatorAuthentication(OPERATOR_TOKEN);
  const app = createBackOffice({ ...context, db: backOfficeDb }, authenticate, metrics, health);
  await backOfficeDb.transaction(async () => {
    const paths = Array.from({ length: 50 }, (_, count) => (count % 2 === 0 ? "/metrics" : "/readyz"));
    const answers = await Promise.all(paths.map((url) => app.inject({ url })));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(answers[0]?.body).toContain("partner_orders_mails_queued 0");
  });
  expect(backOfficeDb.use()).toMatchObject({ inUse: 0, waiting: 0 });
  await app.close();
  await Promise.all([backOfficeDb.close(), healthDb.close()]);
});
