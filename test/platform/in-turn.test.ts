import { describe, expect, it } from "vitest";
import { inTurn } from "../../src/platform/in-turn.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** Works once at each key, and meets an error of the database at the first; answers whose turn came. */
async function turnsPast(sqlState: string): Promise<string[]> {
  const { db } = await startServiceForTest();
  const turns: string[] = [];
  const round = inTurn(["first", "second"], async (key) => {
    turns.push(key);
    if (key === "first")
      await db.runScript(`do $$ begin raise exception 'trouble' using errcode = '${sqlState}'; end $$`);
    return 0;
  });
  await expect(round).rejects.toThrow();
  return turns;
}

/** Works at keys that are listed anew; each has so many batches to do from the given turn on. Answers whose turn came. */
async function turnsOf(work: Record<string, { from: number; batches: number }>): Promise<string[]> {
  const left = new Map(Object.entries(work));
  const turns: string[] = [];
  let listed = 0;
  await inTurn(
    async () => {
      listed += 1;
      return [...left].filter(([, { from, batches }]) => from <= listed && batches > 0).map(([key]) => key);
    },
    async (key) => {
      turns.push(key);
      const due = left.get(key);
      if (due !== undefined) due.batches -= 1;
      return 1;
    },
  );
  return turns;
}

describe("a round", () => {
  it("gives each key a batch in each turn, and those that become due meanwhile from the next turn on", async () => {
    const work = {
      busy: { from: 1, batches: 4 },
      other: { from: 1, batches: 1 },
      late: { from: 3, batches: 1 },
    };
    expect(await turnsOf(work)).toEqual(["busy", "other", "busy", "busy", "late", "busy"]);
  });

  it("asks keys that are given as they are until they have nothing left, each for itself", async () => {
    const batchesLeft = new Map([
      ["busy", 2],
      ["idle", 0],
    ]);
    const turns: string[] = [];
    const round = inTurn(["busy", "idle"], async (key) => {
      turns.push(key);
      const left = batchesLeft.get(key) ?? 0;
      batchesLeft.set(key, left - 1);
      return Math.max(0, left);
    });
    expect(await round).toBe(2 + 1);
    expect(turns).toEqual(["busy", "idle", "busy", "busy"]);
  });

  it("ends with a turn in which nothing was done, whatever is listed", async () => {
    let turns = 0;
    const round = inTurn(
      async () => ["taken by somebody else"],
      async () => {
        turns += 1;
        return 0;
      },
    );
    expect([await round, turns]).toEqual([0, 1]);
  });

  it("gives a key whose work failed no further turn, does not go on for its sake, and tells it", async () => {
    const turns: string[] = [];
    const round = inTurn(
      async () => ["broken", "sound"],
      async (key) => {
        turns.push(key);
        if (key === "broken") throw new Error("broken");
        return turns.length < 5 ? 1 : 0;
      },
    );
    await expect(round).rejects.toMatchObject({ errors: [{ message: "broken" }] });
    expect(turns).toEqual(["broken", "sound", "sound", "sound", "sound"]);
  });

  it("tells at its end what batches went past, and goes on with their keys until then", async () => {
    let batches = 0;
    const round = inTurn(
      async () => ["key"],
      async (_key, failures) => {
        batches += 1;
        if (batches === 1) failures.push(new Error("a single row"));
        return batches < 3 ? 1 : 0;
      },
    );
    await expect(round).rejects.toMatchObject({ errors: [{ message: "a single row" }] });
    expect(batches).toBe(3);
  });

  it("ends, and tells what failed, although one key always has more to do", async () => {
    const round = inTurn(
      async () => ["broken", "endless"],
      async (key) => {
        if (key === "broken") throw new Error("broken");
        return 1;
      },
    );
    await expect(round).rejects.toMatchObject({ errors: [{ message: "broken" }] });
  });
});

describe("trouble with one key's work", () => {
  it.each([
    ["a statement that took too long", "57014"],
    ["a deadlock", "40P01"],
    ["a serialisation failure", "40001"],
    ["a lock that did not come in time", "55P03"],
    ["a row that cannot be stored", "23505"],
  ])("leaves the others their turn: %s", async (_title, sqlState) => {
    expect(await turnsPast(sqlState)).toEqual(["first", "second"]);
  });

  it.each([
    ["the connection is lost", "08006"],
    ["the database shuts down", "57P01"],
    ["the database starts", "57P03"],
    ["no connection is free", "53300"],
  ])("ends the round at once when it is everybody's: %s", async (_title, sqlState) => {
    expect(await turnsPast(sqlState)).toEqual(["first"]);
  });

  it("ends the round at once when nothing listens at the database's address", async () => {
    const turns: string[] = [];
    const round = inTurn(["first", "second"], async (key) => {
      turns.push(key);
      throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
    });
    await expect(round).rejects.toThrow("ECONNREFUSED");
    expect(turns).toEqual(["first"]);
  });
});
