import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { freePort } from "../test/support/free-port.ts";
import type { Load, LoadResult } from "./load-generator.ts";
import { canRunWrk, runWrk } from "./wrk.ts";

/** The key that the benchmark's services encrypt secrets with. */
export const SECRET_KEY = Buffer.alloc(32, 7);

const execute = promisify(execFile);
const path = (name: string): string => new URL(name, import.meta.url).pathname;

/** Runs the load generator in its own process. */
export async function generateLoad(load: Load): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-load-"));
  const file = join(folder, "load");
  try {
    if (await canRunWrk(load)) return await runWrk(load, file);
    await writeFile(file, JSON.stringify(load));
    const { stdout } = await execute(process.execPath, [path("load-generator.ts"), file], {
      maxBuffer: 1 << 24,
    });
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as LoadResult; // Its last line is the result.
  } finally {
    await rm(folder, { recursive: true });
  }
}

const children = new Set<ChildProcess>();

/** So that a benchmark that fails leaves no server running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...children].map((child) => stop({ child })));
}

/** Counts a child process among those that end with the benchmark. */
export const endWithBenchmark = (child: ChildProcess): void => void children.add(child);

export type Started = { url: string; child: ChildProcess };

/** Starts a server that prints its address as its first line. */
async function startServer(script: string, ...values: string[]): Promise<Started> {
  const child = spawn(process.execPath, [path(script), ...values], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  for await (const line of createInterface({ input: child.stdout })) return { url: line, child };
  throw new Error(`${script} did not start.`);
}

/** The Fastify server that creations and reads are measured against. */
export const startBareServer = (orderFile: string, productsFile: string): Promise<Started> =>
  startServer("bare-server.ts", orderFile, productsFile);

/** A receiver of webhooks. Every `slowEvery`-th response takes `slowMs`. */
export const startWebhookReceiver = (slowEvery = 0, slowMs = 0): Promise<Started> =>
  startServer("webhook-receiver.ts", String(slowEvery), String(slowMs));

/** What a receiver of webhooks has seen. */
type Stats = { count: number; delays: number[] };
export const stats = async (receiver: Started): Promise<Stats> =>
  (await (await fetch(`${receiver.url}/stats`)).json()) as Stats; // Written by webhook-receiver.ts.
export const arrivedCount = async (receiver: Started): Promise<number> =>
  Number(await (await fetch(`${receiver.url}/count`)).text());
export const forget = async (receiver: Started): Promise<void> => {
  await fetch(`${receiver.url}/stats`, { method: "DELETE" });
};

/** Sends a number of webhooks in a bare loop; returns webhooks per second. */
export async function runBareSender(
  url: string,
  amount: number,
  parallel: number,
  body: string,
): Promise<number> {
  const values = [url, String(amount), String(parallel), body];
  const { stdout } = await execute(process.execPath, [path("bare-sender.ts"), ...values]);
  return Number(stdout.trim());
}

/** Starts the service as an operator would, on its own database; returns when it is ready. */
export async function startService(
  databaseUrl: string,
  dataDir: string,
  environment: Record<string, string> = {},
  checkout = path(".."),
): Promise<Started & { backOfficeUrl: string; token: string }> {
  const [port, backOfficePort] = [await freePort(), await freePort()];
  const token = "operator-token-of-the-benchmark";
  const child = spawn(process.execPath, [join(checkout, "src/main.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      BASE_URL: undefined, // Vitest sets it for its own purpose.
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      PORT: String(port),
      BACK_OFFICE_PORT: String(backOfficePort),
      OPERATOR_TOKEN: token,
      RATE_LIMIT_PER_MINUTE: "0",
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
      WEBHOOK_SECRET_KEYS: SECRET_KEY.toString("base64"),
      ...environment,
    },
  });
  children.add(child);
  const backOfficeUrl = `http://127.0.0.1:${backOfficePort}`;
  for (let attempts = 0; ; attempts += 1) {
    const ready = await fetch(`${backOfficeUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { url: `http://127.0.0.1:${port}`, child, backOfficeUrl, token };
    if (attempts > 1_000 || child.exitCode !== null) throw new Error("The service did not start.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function stop({ child }: Pick<Started, "child">): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

export async function hasPgbench(): Promise<boolean> {
  return execute("pgbench", ["--version"]).then(
    () => true,
    () => false,
  );
}

/** Runs one statement directly on the database; returns how many transactions there were, in all and per second. */
export async function runPgbench(
  databaseUrl: string,
  script: string,
  variables: Record<string, string>,
  { clients, seconds }: { clients: number; seconds: number },
): Promise<{ transactions: number; perSecond: number }> {
  const { stdout } = await execute("pgbench", [
    "--no-vacuum",
    "--protocol=prepared",
    `--client=${clients}`,
    "--jobs=1",
    `--time=${seconds}`,
    `--file=${script}`,
    ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
    databaseUrl,
  ]);
  const [transactions, perSecond] = [/actually processed: (\d+)/, /tps = ([\d.]+)/].map((pattern) =>
    Number(pattern.exec(stdout)?.[1] ?? Number.NaN),
  );
  if (!transactions || !perSecond) throw new Error(`pgbench printed no speed:\n${stdout}`);
  return { transactions, perSecond };
}
