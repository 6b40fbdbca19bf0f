import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { anyCommands, anyManner, LIFETIME_MS } from "../support/dispatch-commands.ts";
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
      histories({ change: 8, release: 30 }),
    );
  });
});
