import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { NODE_ENVIRONMENT } from "./node-environment.ts";
import { OPERATOR_TOKEN } from "./test-service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A real process of the service, as an operator starts it; its clock is the machine's. */
export type ServiceProcess = {
  /** Sends a request to its partner API; rejects when the process is gone. */
  post(path: string, key: string, body?: object): Promise<ProcessAnswer>;
  get(path: string, key: string): Promise<ProcessAnswer>;
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
export type ProcessAnswer = { status: number; headers: Headers; body: any };

/** Starts `node src/main.ts` on free ports, for a single test. */
export async function startProcess(
  databaseUrl: string,
  roles = "api,back-office,worker",
  environment: Record<string, string> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...NODE_ENVIRONMENT,
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(tmpdir(), "partner-orders-unused"),
      PORT: "0",
      BACK_OFFICE_PORT: "0",
      OPERATOR_TOKEN,
      RATE_LIMIT_PER_MINUTE: "0",
      ROLES: roles,
      ...environment,
    },
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  onTestFinished(kill);
  const url = await partnerApiUrlOf(child);

  async function send(method: string, path: string, key: string, body?: object): Promise<ProcessAnswer> {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }
  return {
    post: (path, key, body) => send("POST", path, key, body),
    get: (path, key) => send("GET", path, key),
    kill,
  };
}

/** The address that the process logs once it is ready. */
async function partnerApiUrlOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("Its log is not piped.");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const entry = JSON.parse(line);
    if (entry.msg !== "ready") continue;
    child.stdout.resume(); // No code reads any further output; a full pipe would block the process.
    return entry.partnerApiUrl;
  }
  throw new Error(`The process ended before it was ready:\n${lines.join("\n")}`);
}
