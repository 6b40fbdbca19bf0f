import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "../config.ts";
import type { Environment } from "../environment.ts";
import { within } from "../run-in-turn.ts";
import type { ExportedSignals } from "./open-telemetry.ts";

/** Sends traces and metrics to a collector (docs/design/dependencies.md, "OpenTelemetry"). */
export type Telemetry = {
  /** Exports these metrics from now on, periodically. May be called once. */
  exportMetrics(registry: Registry): void;
  /** Sends what has not been sent yet. Takes no longer than `FLUSH_MS`, also if the collector does not respond. */
  stop(): Promise<void>;
};

/** A stop has ten seconds in all (docs/design/database.md, "Starting and stopping"). */
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
  const signals = requestedSignals(environment);
  if (!signals.traces && !signals.metrics) return NO_TELEMETRY;
  try {
    const { openTelemetry } = await import("./open-telemetry.ts");
    const { exportMetrics, shutDown } = openTelemetry(signals, log, roles);
    log.info(
      { signals: [...(signals.traces ? ["traces"] : []), ...(signals.metrics ? ["metrics"] : [])] },
      "telemetry exported",
    );
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

/**
 * The SDK exports both signals unless a setting says otherwise, to an address of its own. The service exports a signal if an
 * exporter or an address for it is set. `/metrics` is always there for Prometheus.
 */
export function requestedSignals(environment: Environment): ExportedSignals {
  const text = (name: string): string => environment[name]?.trim() ?? "";
  if (text("OTEL_SDK_DISABLED").toLowerCase() === "true") return { traces: false, metrics: false };
  const isRequested = (signal: "TRACES" | "METRICS"): boolean => {
    const exporter = text(`OTEL_${signal}_EXPORTER`);
    if (exporter !== "") return exporter !== "none" && exporter !== "prometheus";
    return (text(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) || text("OTEL_EXPORTER_OTLP_ENDPOINT")) !== "";
  };
  return { traces: isRequested("TRACES"), metrics: isRequested("METRICS") };
}
