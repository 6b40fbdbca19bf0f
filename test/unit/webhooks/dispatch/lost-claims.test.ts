import pg from "pg";
import { expect, it } from "vitest";
import type { Database } from "../../../../src/platform/database/database.ts";
import { LostClaims } from "../../../../src/webhooks/delivery/leases.ts";

const NOW = new Date(1_000_000);
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const claim = (id: string, merchantId: string) => ({
  ids: [id],
  endpoints: [
    { merchantId, connectionId: `connection of ${merchantId}`, endpointId: `endpoint of ${merchantId}` },
  ],
});

/** A Citus that has each merchant on a node of its own. Only what a release asks of it. */
function distributed() {
  const lost = new Set<string>();
  const released: string[] = [];
  const nodeLost = Object.assign(new pg.DatabaseError("lost", 0, "error"), {
    code: "08006",
    severity: "ERROR",
  });
  const db = {
    isDistributed: async () => true,
    query: async ({ name, values }: { name: string; values: unknown[] }) => {
      if (name === "list-reachable-merchants")
        return ["one", "two"].map((id) => ({ merchants: lost.has(id) ? null : [id] }));
      const merchantId = String(values.at(-1));
      if (lost.has(merchantId)) throw nodeLost;
      released.push(merchantId);
      return [];
    },
  };
  return { lost, released, db: db as unknown as Database }; // Nothing else of it is used.
}

it("are released while a node of Citus is down, and those on that node when it is back", async () => {
  const { lost, released, db } = distributed();
  const claims = new LostClaims();
  claims.add(claim("a", "one"), NOW);
  claims.add(claim("b", "two"), NOW);
  lost.add("one");
  await claims.release(db, later(1));
  expect(released).toEqual(["two"]);
  await claims.release(db, later(60));
  lost.clear();
  released.length = 0;
  await claims.release(db, later(61));
  expect(released, "kept until its node could release it").toContain("one");
  await claims.release(db, later(62));
  expect(released.filter((id) => id === "one")).toHaveLength(1);
});

it("are released for 15 seconds, because the server may still store them", async () => {
  const { released, db } = distributed();
  const claims = new LostClaims();
  claims.add(claim("a", "one"), NOW);
  for (const seconds of [0, 14, 15, 16]) await claims.release(db, later(seconds));
  expect(released).toEqual(["one", "one", "one"]);
});
