import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { countRows } from "../../support/builders.ts";
import { type MainProcess, startMain } from "../../support/main-process.ts";
import { eventually, makePartner, send, startService, TOKEN } from "../../support/running-service.ts";
import { exchange, requestText } from "../../support/sockets.ts";
import { createDatabase, startServiceForTest } from "../../support/test-service.ts";

// docs/design/database.md, "Several processes of one command"

const ORDERS = 60;
const BY_NAME = /^partner_orders_process_up\{process="([a-z-0-9]+)"\} 1$/gm;

/** The pid of each process of the command, by name. The newest of each: it may have been started again. */
function pidsOf(main: MainProcess): Record<string, number> {
  const lines = main.log().filter(({ msg }) => msg === "process ready");
  return Object.fromEntries(lines.map(({ of: name, ofPid: pid }) => [String(name), Number(pid)]));
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Each request has a connection of its own, which the system gives to one of the processes. */
async function askEachProcess(main: MainProcess, api: string, names: readonly string[]): Promise<void> {
  await eventually(async () => {
    await exchange(api, requestText("GET /v1/me HTTP/1.1"));
    const asked = main.log().filter(({ msg, route }) => msg === "request" && route === "/v1/me");
    expect(new Set(asked.map(({ process: name }) => name))).toEqual(new Set(names));
  });
}

describe("PROCESSES=2", () => {
  it("shares the port, has one address for the health of all, loses nothing with a process that is killed, and stops at one Ctrl-C", async () => {
    const { main, api, backOffice, databaseUrl } = await startService({
      PROCESSES: "2",
      RATE_LIMIT_PER_MINUTE: "0",
    });
    const names = ["api-1", "api-2", "back-office", "worker-1"];
    const pids = pidsOf(main);
    expect(Object.keys(pids).sort()).toEqual(names);
    expect(new Set(Object.values(pids)).size).toBe(4);
    await askEachProcess(main, api, ["api-1", "api-2"]);
    const ready = Object.fromEntries(names.map((name) => [name, "ready"]));
    expect((await send(`${backOffice}/readyz`, null)).body).toEqual({ status: "ok", processes: ready });
    const { text } = await send(`${backOffice}/metrics`, null);
    expect([...text.matchAll(BY_NAME)].map(([, name]) => name).sort()).toEqual(names);
    for (const name of names)
      expect(text).toMatch(new RegExp(`^process_cpu_seconds_total\\{process="${name}"\\} [0-9.]+$`, "m"));
    expect(text).toMatch(
      /^http_request_duration_seconds_count\{.*route="\/v1\/me",status="401",process="api-2"\} \d+$/m,
    );
    expect(text.match(/^partner_orders_mails_queued/gm)).toHaveLength(1);
    expect(text.match(/^# TYPE process_cpu_seconds_total /gm)).toHaveLength(1);

    const { key, anOrder } = await makePartner(backOffice);
    const placed = new Set<string>();
    const place = async (number: number): Promise<void> => {
      if (number === ORDERS / 3) process.kill(pids["api-1"] ?? 0, "SIGKILL");
      const body = JSON.stringify(anOrder(`order-${number}`));
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": String(body.length),
      };
      const answer = await exchange(api, requestText("POST /v1/orders HTTP/1.1", headers) + body).catch(
        () => null,
      );
      // The connection broke, or the order waited too long for a lock of the killed process. Neither acknowledges an order.
      if (answer === null || answer.status === 503) return;
      // 200: the killed process stored the orders of the other one, which has found this one by its key.
      expect([200, 201], answer.body).toContain(answer.status);
      placed.add(JSON.parse(answer.body).id);
    };
    await Promise.all(Array.from({ length: ORDERS }, (_, number) => place(number)));
    const stored = await startServiceForTest({ databaseUrl });
    expect(placed.size).toBeGreaterThan(0);
    expect(await countRows(stored, "orders")).toBeGreaterThanOrEqual(placed.size);
    for (const id of placed) expect((await send(`${api}/v1/orders/${id}`, key)).status).toBe(200);
    expect(await main.logged("process ended, will be started again")).toMatchObject({
      level: "error",
      process: "supervisor",
      of: "api-1",
      signal: "SIGKILL",
    });
    // The line of a process that is ready may be read after the health that names it.
    await eventually(() => expect(pidsOf(main)["api-1"]).not.toBe(pids["api-1"]));
    await eventually(async () =>
      expect((await send(`${backOffice}/readyz`, null)).body).toEqual({ status: "ok", processes: ready }),
    );
    await askEachProcess(main, api, ["api-1", "api-2"]);

    main.child.kill("SIGINT");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(Object.values(pidsOf(main)).filter(isRunning)).toEqual([]);
    expect(main.log().filter(({ msg }) => msg === "stopped")).toHaveLength(5);
    expect(main.errors()).toBe("");
  });

  it("starts nothing on a port that is taken, also by another command that would share it, and ends at a second Ctrl-C with what hangs", async () => {
    const DATABASE_URL = await createDatabase();
    const { main, api } = await startService({ ROLES: "api", PROCESSES: "2", DATABASE_URL });
    const second = startMain({ ROLES: "api", PROCESSES: "2", DATABASE_URL, PORT: new URL(api).port });
    expect(await second.exited()).toEqual({ code: 1, signal: null });
    expect(second.errors()).toContain("is in use by another program: set PORT to a free port.");
    expect(second.log().map(({ msg }) => msg)).toEqual(["could not start"]);

    const pids = Object.values(pidsOf(main));
    process.kill(pids[0] ?? 0, "SIGSTOP");
    main.child.kill("SIGINT");
    await eventually(() => {
      main.child.kill("SIGINT");
      expect(main.child.exitCode).toBe(130);
    });
    await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
  });

  it("ends with the message of a process that cannot start", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo; // It listens on a port.
    const main = startMain({
      DATABASE_URL: await createDatabase(),
      PROCESSES: "2",
      PORT: "0",
      BACK_OFFICE_PORT: String(port),
      OPERATOR_TOKEN: TOKEN,
    });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.errors()).toBe(
      `Port ${port} is in use by another program: set BACK_OFFICE_PORT to a free port.\n`,
    );
    expect(main.log().map(({ process: name }) => name)).not.toContain("api-1");
  });

  it("leaves no process behind if the one that supervises them is killed", async () => {
    const { main } = await startService({ ROLES: "worker", PROCESSES: "2" });
    const pids = Object.values(pidsOf(main));
    expect(pids).toHaveLength(2);
    main.child.kill("SIGKILL");
    await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
  });
});
