import { expect, it } from "vitest";
import { isUnavailable } from "../../src/database/database.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("a connection lost inside a transaction fails that step alone, and the pool goes on", async () => {
  const { db } = await startServiceForTest();
  const lost = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>({
      name: "pid",
      text: "select pg_backend_pid() as pid",
      values: [],
    });
    await db.query({ name: "end", text: "select pg_terminate_backend($1)", values: [own?.pid] });
    await tx.query({ name: "late", text: "select 1", values: [] });
  });
  await expect(lost).rejects.toSatisfy(isUnavailable);
  expect(await db.query({ name: "next", text: "select 1 as one", values: [] })).toEqual([{ one: 1 }]);
});
