import { expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/platform/database/database.ts";
import { shareDatabase, WAITING_CALLS_MAX } from "../../../src/platform/database/fair-share.ts";
import { createDatabase } from "../../support/test-service.ts";

/** A connection that is the only one of its merchant. */
const owner = (name: string) => ({ merchantId: name, connectionId: name });

const LOCK = { name: "lock", text: "select pg_advisory_xact_lock(4711)", values: [] };
const QUICK = { name: "quick", text: "select 1 as one", values: [] };

/** A pool of three connections, and more calls that wait for a lock than it has. */
async function withBlockedCalls(
  work: (of: (owner: string) => Database, later: Promise<unknown>[]) => Promise<void>,
): Promise<void> {
  const open = (url: string) => openDatabase({ url, connectionsMax: 3, onIdleError: () => undefined });
  const url = await createDatabase();
  const [holder, pool] = [open(url), open(url)];
  try {
    const shared = shareDatabase(pool, 3);
    const of = (name: string) => shared.of(owner(name));
    const later: Promise<unknown>[] = [];
    await holder.transaction(async (tx) => {
      await tx.query(LOCK);
      for (let count = 0; count < 20; count += 1) later.push(of("a").query(LOCK));
      await work(of, later);
    });
    await Promise.all(later);
  } finally {
    await Promise.all([holder.close(), pool.close()]);
  }
}

it("calls of one connection that all wait leave the database to another connection", () =>
  withBlockedCalls(async (of) => {
    expect(await of("b").query(QUICK)).toEqual([{ one: 1 }]);
    expect(await of("b").transaction((tx) => tx.query(QUICK))).toEqual([{ one: 1 }]);
    expect(await of("c").query(QUICK)).toEqual([{ one: 1 }]);
  }));

it("a call that fails gives its slot back", async () => {
  const pool = openDatabase({ url: await createDatabase(), connectionsMax: 1, onIdleError: () => undefined });
  const shared = shareDatabase(pool, 1).of(owner("a"));
  const invalid = { name: "invalid", text: "select 1 / 0", values: [] };
  await expect(shared.query(invalid)).rejects.toThrow("division by zero");
  expect(await shared.query(QUICK)).toEqual([{ one: 1 }]);
  await pool.close();
});

it("a connection with too many waiting calls is limited, and no other", async () => {
  const outcomes: PromiseSettledResult<object[]>[] = [];
  await withBlockedCalls(async (of, later) => {
    const further = Array.from({ length: WAITING_CALLS_MAX }, () => of("a").query(LOCK));
    later.push(Promise.allSettled(further).then((settled) => outcomes.push(...settled)));
    expect(await of("b").query(QUICK)).toEqual([{ one: 1 }]);
  });
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(18); // Two of the first 20 run, and 18 of them wait.
  const reason = { code: "rate-limited", members: { limit: "waiting-requests" } };
  for (const one of refused) expect(one).toMatchObject({ reason: { problem: reason } });
});
