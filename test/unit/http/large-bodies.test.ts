import { describe, expect, it } from "vitest";
import { createBodyTurns } from "../../../src/http/body.ts";

const SMALL = 16 * 1024;
const LARGE = SMALL + 1;

/** A connection that is the only one of its merchant; `Mb` is one of several of `M`. */
const ownerOf = (name: string) => ({ merchantId: name.slice(0, 1), connectionId: name });

/** Turns whose rounds of the event loop pass when the test says so. */
function turnsInRounds() {
  const rounds: (() => void)[] = [];
  const read: string[] = [];
  const turn = createBodyTurns((start) => void rounds.push(start));
  return {
    read,
    rounds,
    turn: (name: string, bytes: number) => turn(ownerOf(name), bytes),
    arrive: (owner: string, name: string) =>
      void turn(ownerOf(owner), LARGE)?.then(() => void read.push(name)),
    async pass() {
      for (const start of rounds.splice(0)) start();
      await null; // What waited continues.
    },
  };
}

describe("a large body", () => {
  it("is one of more than 16 KiB; others do not wait", () => {
    const { turn, rounds } = turnsInRounds();
    expect(turn("a", 0)).toBeNull();
    expect(turn("a", SMALL)).toBeNull();
    expect(rounds).toEqual([]);
    expect(turn("a", LARGE)).toBeInstanceOf(Promise);
    expect(rounds).toHaveLength(1);
  });

  it("waits for a round of the event loop of its own", async () => {
    const { arrive, pass, read, rounds } = turnsInRounds();
    for (const name of ["a1", "a2", "a3"]) arrive("a", name);
    expect(read).toEqual([]);
    for (const count of [1, 2, 3]) {
      expect(rounds).toHaveLength(1);
      await pass();
      expect(read).toHaveLength(count);
    }
    expect(rounds).toEqual([]);
  });

  it("does not wait for all bodies of another owner", async () => {
    const { arrive, pass, read } = turnsInRounds();
    for (const name of ["a1", "a2", "a3"]) arrive("a", name);
    await pass();
    for (const name of ["b1", "b2"]) arrive("b", name);
    for (let count = 0; count < 4; count += 1) await pass();
    expect(read).toEqual(["a1", "a2", "b1", "a3", "b2"]);
  });

  it("does not wait for a body of each connection of another merchant", async () => {
    const { arrive, pass, read } = turnsInRounds();
    for (const connection of ["Ma", "Mb", "Mc", "x"]) arrive(connection, connection);
    for (let count = 0; count < 4; count += 1) await pass();
    expect(read).toEqual(["Ma", "x", "Mb", "Mc"]);
  });

  it("that arrives after all were read waits for its round again", async () => {
    const { arrive, pass, read } = turnsInRounds();
    for (const name of ["a1", "a2"]) {
      arrive("a", name);
      await pass();
    }
    await pass();
    expect(read).toEqual(["a1", "a2"]);
  });
});
