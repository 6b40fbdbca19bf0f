import { describe, expect, it } from "vitest";
import { inTurn } from "../../src/worker/in-turn.ts";
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
