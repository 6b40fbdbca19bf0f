import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "../config.ts";
import type { Environment } from "../environment/environment-reader.ts";
import { within } from "../pause.ts";
import { readTelemetrySettings } from "./telemetry-settings.ts";

/** Sends traces and metrics to a collector (decision 0106). */
export type Telemetry = {
  /** Exports these metrics from now on, periodically. May be called once. */
  exportMetrics(registry: Registry): void;
  /** Sends what has not been sent yet. Takes no longer than `FLUSH_MS`, also if the collector does not respond. */
  stop(): Promise<void>;
};

/** A stop has ten seconds in all (decision 0101). */
export const FLUSH_MS = 500;

export const NO_TELEMETRY: Telemetry = { exportMetrics: () => undefined, stop: async () => undefined };

/**
 * Starts what the variables of OpenTelemetry request. Its packages are loaded only then. A failure is logged, and the
 * service runs without it.
 */
export async function startTelemetry(
  environment: Environment,
  log: Logger,
  roles: Config["roles"],
): Promise<Telemetry> {
  const settings = readTelemetrySettings(environment);
  for (const warning of settings.warnings) log.warn({ reason: warning }, "telemetry setting not supported");
  if (settings.traces === null && settings.metrics === null) return NO_TELEMETRY;
  try {
    const { openTelemetry } = await import("./open-telemetry.ts");
    const { exportMetrics, shutDown } = openTelemetry(settings, log, roles);
    const signals = [...(settings.traces ? ["traces"] : []), ...(settings.metrics ? ["metrics"] : [])];
    log.info({ signals }, "telemetry exported");
    return {
      exportMetrics,
      stop: () =>
        within(FLUSH_MS, shutDown()).catch((err: unknown) =>
          log.warn({ err }, "last traces and metrics not exported"),
        ),
    };
  } catch (err) {
    log.error({ err }, "telemetry not started, the service runs without it");
    return NO_TELEMETRY;
  }
}
