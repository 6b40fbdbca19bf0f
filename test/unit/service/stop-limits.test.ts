import { expect, it } from "vitest";
import { SHUTDOWN_DELAY_MAX_MS } from "../../../src/platform/config.ts";
import { FLUSH_MS } from "../../../src/platform/telemetry/telemetry.ts";
import { CLOSE_MIN_MS, DRAIN_MS, STOP_MS } from "../../../src/service/listen.ts";

it("the limits of the parts of a stop add up to less than the ten seconds after which tools send SIGKILL", () => {
  expect(SHUTDOWN_DELAY_MAX_MS + DRAIN_MS + FLUSH_MS + CLOSE_MIN_MS).toBeLessThanOrEqual(STOP_MS);
  expect(STOP_MS).toBeLessThan(10_000);
});
