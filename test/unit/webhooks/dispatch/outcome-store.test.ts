import { expect, it } from "vitest";
import type { Context } from "../../../../src/platform/context.ts";
import { createLog } from "../../../../src/platform/log.ts";
import { OutcomeStore } from "../../../../src/webhooks/delivery/outcome-store.ts";
import { aClaim, NOW } from "../../../support/claims.ts";

// See docs/design/deliveries.md, "Outcomes".

it("a hundred outcomes that cannot be stored write one line of each message, with their number later", async () => {
  const lines: { msg: string; count: number }[] = [];
  const fail = async () => {
    throw new Error("A row that must not be stored.");
  };
  const context = {
    db: { query: fail, transaction: fail },
    clock: { now: () => NOW },
    log: createLog("warn", { write: (line) => void lines.push(JSON.parse(line)) }),
  } as unknown as Context; // Outcomes are stored with nothing else.
  const store = new OutcomeStore(context, "worker", () => undefined);
  const outcomes = Array.from({ length: 100 }, (_, index) => ({
    completion: {
      delivery: aClaim({ endpointId: `endpoint ${index}` }),
      attempt: null,
      outcome: { is: "retry" as const, at: NOW },
    },
    health: null,
    wasPaused: false,
  }));
  await Promise.all(outcomes.map(async (outcome) => (await store.store(outcome))?.ended));
  expect(lines.map(({ msg, count }) => [msg, count])).toEqual([
    ["groups of outcomes not stored, each outcome will be stored apart", 1],
    ["outcomes not stored, their deliveries will be sent again when the lease expires", 1],
  ]);
});
