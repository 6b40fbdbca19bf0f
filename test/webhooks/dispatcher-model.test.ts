import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, it, vi } from "vitest";
import { History } from "../support/dispatch-history.ts";
import { anyManner, anySteps, LIFETIME_MS } from "../support/dispatch-steps.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/**
 * The real dispatchers under random histories: orders and their steps, receivers that answer as they like, workers
 * that die between any two statements, pauses, resumes, redeliveries, erasures, and a clock that is moved. Only the
 * network is a model. What must hold at every moment is checked while it happens, the rest when all has healed.
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
afterEach(() => vi.restoreAllMocks());

describe("dispatchers", () => {
  it("keep their promises whatever happens", { timeout: 300_000 }, async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5); // The schedule without its spread, so that a seed tells all.
    await fc.assert(
      fc.asyncProperty(
        anyManner,
        fc.array(anySteps, { minLength: 8, maxLength: 40, size: "max" }),
        async (manner, steps) => {
          const history = await History.begin(test, manner);
          for (const together of steps) await history.step(...together);
          await history.heal();
          await history.check();
        },
      ),
      { numRuns: 60 },
    );
  });
});
