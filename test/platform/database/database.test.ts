import { expect, it, vi } from "vitest";
import { isUnavailable } from "../../../src/platform/database/database.ts";
import { createDatabase, startServiceForTest } from "../../support/test-service.ts";

it("a connection lost inside a transaction fails only that transaction, and the pool recovers", async () => {
  const { db } = await startServiceForTest();
  const lost = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>({
      name: "pid",
      text: "select pg_backend_pid() as pid",
      values: [],
    });
    await db.query({ name: "end", text: "select pg_terminate_backend($1::integer)", values: [own?.pid] });
    // Until the server has closed the connection, and this process has learned of it while no statement was in
    // progress.
    const isClosed = async () => {
      const left = await db.query({
        name: "left",
        text: "select 1 from pg_stat_activity where pid = $1",
        values: [own?.pid],
      });
      return left.length === 0;
    };
    await vi.waitUntil(isClosed, { timeout: 20_000 });
    await tx.query({ name: "late", text: "select 1", values: [] });
  });
  await expect(lost).rejects.toSatisfy(isUnavailable);
  expect(await db.query({ name: "next", text: "select 1 as one", values: [] })).toEqual([{ one: 1 }]);
});

it("the server compiles no statement of the service, and none of its functions", async () => {
  const { db } = await startServiceForTest();
  expect(await db.query({ name: "jit", text: "select current_setting('jit') as jit", values: [] })).toEqual([
    { jit: "off" },
  ]);
  // While sorting is disabled, an older server expects a sort to be expensive enough for it.
  const compiled = await db.query({
    name: "compiled",
    text: "select proname from pg_proc where 'enable_sort=off' = any(proconfig) and 'jit=off' <> all(proconfig)",
    values: [],
  });
  expect(compiled).toEqual([]);
});

it("options in the address of the database add to those of the service, and replace none", async () => {
  const url = new URL(await createDatabase());
  url.searchParams.set("options", "-c jit=on -c work_mem=8MB");
  const { db } = await startServiceForTest({ databaseUrl: url.href });
  const text = "select current_setting('jit') as jit, current_setting('work_mem') as memory";
  expect(await db.query({ name: "options", text, values: [] })).toEqual([{ jit: "off", memory: "8MB" }]);
});
