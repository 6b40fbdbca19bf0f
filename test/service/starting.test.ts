import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHealthListener } from "../../src/back-office/health.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { freePort } from "../support/free-port.ts";
import { startMain, temporaryFolder } from "../support/main-process.ts";
import { TOKEN } from "../support/running-service.ts";
import { createDatabase, startServiceForTest } from "../support/test-service.ts";

describe("a process that waits for the migrations of another one", () => {
  it.each(["back-office", "worker"])("is alive, not ready, and says why (role %s)", async (role) => {
    const databaseUrl = await createDatabase();
    const other = new pg.Client(databaseUrl);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("select pg_advisory_lock(7305220, 1)");
    const port = await freePort();
    const main = startMain({
      DATABASE_URL: databaseUrl,
      ROLES: role,
      BACK_OFFICE_PORT: String(port),
      OPERATOR_TOKEN: TOKEN,
      DATA_DIR: await temporaryFolder(),
    });
    await main.logged("waiting for migrations of another process");
    const send = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await send("/livez")).status).toBe(200);
    for (const path of ["/readyz", "/api/me", "/"]) {
      const answer = await send(path);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await answer.json()).toMatchObject({ code: "unavailable", instance: path });
    }

    await other.query("select pg_advisory_unlock(7305220, 1)");
    await main.logged("ready");
    expect((await send("/readyz")).status).toBe(200);
    expect(main.log().filter(({ level }) => level === "error")).toEqual([]);
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });
});

describe("/readyz", () => {
  it("is 503 while writes fail, and 200 again as soon as they succeed", async () => {
    const { context } = await startServiceForTest();
    const db = openDatabase({
      url: String(context.config.databaseUrl),
      connectionsMax: 1, // Its session is the one that the test changes.
      onIdleError: () => undefined,
    });
    onTestFinished(() => db.close());
    const app = createHealthListener({ ...context, db }, createMetrics());
    onTestFinished(() => app.close());
    const ready = async () => (await app.inject("/readyz")).statusCode;
    const setSession = (mode: string) =>
      db.query({
        name: `test-${mode}`,
        text: `set session characteristics as transaction ${mode}`,
        values: [],
      });
    await setSession("read only");
    expect(await ready()).toBe(503);
    expect(await ready(), "from memory").toBe(503);
    await setSession("read write");
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
  });
});
