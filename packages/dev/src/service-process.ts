import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { readConfig } from "../../../src/platform/config.ts";
import { createLog } from "../../../src/platform/log.ts";
import { ensureDemo } from "../../../src/service/demo.ts";
import { type RunningService, startService } from "../../../src/service/start.ts";
import { createClockListener } from "./clock-listener.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import type { Addresses, Report, StartOptions } from "./launch.ts";
import { createMovedClock } from "./moved-clock.ts";

/** The service needs less. A process that hangs would leave its data behind, but must not stay itself. */
const EXIT_MS = 15_000;
/** A port that was free may be taken before the service listens on it. */
const PORT_ATTEMPTS_MAX = 5;

/** Aborted when the process that has started this one has ended, or wants it to end. */
const stopping = new AbortController();
const stop = (): void => stopping.abort(new Error("The service was stopped while it started."));
process.once("disconnect", stop);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
stopping.signal.addEventListener("abort", () => setTimeout(() => process.exit(1), EXIT_MS).unref());
process.once("message", (options: StartOptions) => void run(options)); // The other process sends one message.

function report(what: Report): void {
  if (process.connected) process.send?.(what);
}

async function run({ port, dataDir, logLevel = "warn" }: StartOptions): Promise<void> {
  const log = createLog(logLevel, { write: (line) => void process.stderr.write(line) });
  process.on("uncaughtException", (err) => {
    log.fatal({ err }, "unexpected error, the service for tests ends");
    stop();
  });
  let folder: DataFolder | undefined;
  let running: Started | undefined;
  try {
    folder = await openDataFolder(dataDir);
    running = await start(folder, port, log);
    report({ addresses: running.addresses });
    if (!stopping.signal.aborted)
      await Promise.race([aborted(stopping.signal), running.service.databaseLost]);
  } catch (error) {
    if (!stopping.signal.aborted) report({ failure: error instanceof Error ? error.message : String(error) });
  }
  await running?.stop();
  await folder?.close();
  process.exit(0);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });

type Started = { readonly addresses: Addresses; readonly service: RunningService; stop(): Promise<void> };

async function start(
  folder: DataFolder,
  port: number | undefined,
  log: ReturnType<typeof createLog>,
): Promise<Started> {
  const clock = createMovedClock(folder.aheadMs);
  const { service, config } = await listening(folder, port, log, clock);
  try {
    const { context, finishDueWork, operatorToken } = service;
    const { key, testKey, productIds, people } = await ensureDemo(context, { withOrders: false });
    const listener = createClockListener(context, clock, { finishDueWork, keep: folder.keepAhead });
    const dev = await listener.listen({ host: config.host, port: 0 });
    const addresses = {
      api: config.baseUrl,
      key,
      testKey,
      productIds,
      dev,
      backOffice: { url: config.backOfficeUrl, token: operatorToken },
      people,
    };
    const stop = async (): Promise<void> => {
      await listener.close();
      await service.stop();
    };
    return { addresses, service, stop };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** The service on ports that were free. A port that the caller has chosen is not replaced. */
async function listening(
  folder: DataFolder,
  chosenPort: number | undefined,
  log: ReturnType<typeof createLog>,
  clock: ReturnType<typeof createMovedClock>,
) {
  for (let attempt = 1; ; attempt += 1) {
    const [port = 0, backOfficePort = 0] = await freePorts(2);
    const config = configOf(folder.path, chosenPort ?? port, backOfficePort);
    try {
      const service = await startService(config, log, {
        clock,
        stopRequested: stopping.signal,
        // No crash of the machine leaves temporary data to anyone.
        ...(folder.isTemporary && { postgresSettings: { fsync: "off" } }),
      });
      return { service, config };
    } catch (error) {
      const isPortTaken = error instanceof Error && /^Port \d+ is in use/.test(error.message);
      if (isPortTaken && error.message.startsWith(`Port ${chosenPort} `))
        throw new Error(`Port ${chosenPort} is in use by another program. Choose another one, or none.`);
      if (!isPortTaken || attempt === PORT_ATTEMPTS_MAX) throw error;
      await delay(10);
    }
  }
}

/** The whole configuration. Nothing comes from the environment. */
const configOf = (dataDir: string, port: number, backOfficePort: number) =>
  readConfig({
    DATA_DIR: dataDir,
    HOST: "127.0.0.1",
    PORT: String(port),
    BACK_OFFICE_PORT: String(backOfficePort),
    BASE_URL: `http://127.0.0.1:${port}`,
    BACK_OFFICE_URL: `http://127.0.0.1:${backOfficePort}`,
    ERRORS_BASE_URL: `http://127.0.0.1:${backOfficePort}/errors`,
    // The receivers of a test are on this machine.
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    SHUTDOWN_DELAY_MS: "0",
  });

/** Ports that no program uses. All are open at the same time, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => {
            const address = server.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
