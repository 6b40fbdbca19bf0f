import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { anyCommands, anyManner, type Command, LIFETIME_MS } from "../support/dispatch-commands.ts";
import { History } from "../support/dispatch-history.ts";
import { histories } from "../support/histories.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/**
 * The real dispatchers under random histories: orders and their transitions, receivers with arbitrary responses,
 * workers that stop between any two statements, pauses, resumes, redeliveries, erasures, and a clock that is moved.
 * Only the network is a model. Conditions that must always hold are checked during the history, the others after
 * recovery.
 */
let test: TestService;
beforeAll(async () => {
  test = await startTestService({
    config: {
      webhookAllowPrivateNetworks: true,
      webhookRetryMs: [5_000, 30_000, 120_000],
      webhookTestRetryMs: [5_000, 30_000],
      testOrderLifetimeMs: LIFETIME_MS,
    },
  });
});
afterAll(() => test.close());

/** A delivery that succeeds on schedule and by hand at the same time: both attempts are recorded. */
const SUCCEEDS_TWICE: [("hangUp" | "ok")[], Command[][]] = [
  ["hangUp"],
  [
    [
      { name: "answer", which: 0, as: "ok" },
      { name: "place", isTest: false },
    ],
    [{ name: "look", worker: 0 }],
    [
      { name: "redeliver", delivery: 0 },
      { name: "move", order: 0, transition: { name: "releaseHold" } },
    ],
    [{ name: "look", worker: 1 }],
    [
      { name: "redeliver", delivery: 1 },
      { name: "resume", endpoint: 0 },
      { name: "answer", which: 0, as: "ok" },
    ],
    [{ name: "recover", endpoint: 0 }],
    [{ name: "move", order: 0, transition: { name: "hold", reasons: ["out_of_stock"] } }],
    [
      { name: "advance", ms: 300_000 },
      { name: "answer", which: 0, as: "ok" },
    ],
  ],
];

describe("dispatchers", () => {
  it("keep their guarantees in any history", { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        anyManner,
        fc.array(anyCommands, { minLength: 8, maxLength: 40, size: "max" }),
        async (manner, commands) => {
          const history = await History.begin(test, manner);
          for (const together of commands) await history.run(...together);
          await history.heal();
          await history.check();
        },
      ),
      { ...histories({ change: 8, release: 30 }), examples: [SUCCEEDS_TWICE] },
    );
  });
});
