import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isAlive } from "../../../src/platform/embedded-postgres/server.ts";
import { freePort } from "../../support/free-port.ts";
import { startMain, temporaryFolder } from "../../support/main-process.ts";
import { startReceiver } from "../../support/receivers.ts";
import { eventually, makePartner, send, TOKEN } from "../../support/running-service.ts";

const LEASE_WAIT = { timeout: 90_000, interval: 50 };

describe("a running service whose embedded PostgreSQL ends", () => {
  it("restarts it, returns 503 with Retry-After until then, and loses nothing that it acknowledged", async () => {
    const service = await startEmbedded();
    const { api, backOffice, main } = service;
    const { key, anOrder } = await makePartner(backOffice);
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    expect((await send(`${api}/v1/webhook-endpoints`, key, { url: receiver.url })).status).toBe(201);

    const acknowledged = new Map<string, string>();
    const statuses = new Set<number>();
    let count = 0;
    const place = async (): Promise<boolean> => {
      const externalId = `order-${count}`;
      const answer = await send(`${api}/v1/orders`, key, anOrder(externalId));
      statuses.add(answer.status);
      if (answer.status === 503) expect(answer.headers.get("retry-after")).toBe("5");
      else {
        acknowledged.set(externalId, answer.body.id);
        count += 1; // Only an acknowledged order is not repeated.
      }
      return answer.status !== 503;
    };
    const placeAgain = () => eventually(async () => expect(await place()).toBe(true));
    await placeAgain();

    const killed: number[] = [];
    for (const pidsOf of [
      async () => [await service.postmaster()],
      async () => [await service.sessionPid()],
      async () => [await service.postmaster(), ...(await service.sessionPids())],
    ]) {
      killed.push(await service.postmaster());
      const requests = Array.from({ length: 5 }, place);
      for (const pid of await pidsOf()) killIfAlive(pid);
      expect(await Promise.all(requests)).toHaveLength(5);
      await placeAgain();
    }
    expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
    for (const [externalId, id] of acknowledged)
      expect((await send(`${api}/v1/orders/${externalId}`, key)).body.id).toBe(id);
    // A claim that was stored, and whose response was lost, ends with its lease.
    await vi.waitFor(
      () => expect(new Set(orderIdsOf(receiver))).toEqual(new Set(acknowledged.values())),
      LEASE_WAIT,
    );

    expect(killed[0], "a new server after the end of the postmaster").not.toBe(killed[1]);
    expect(killed[1], "the same server after the end of a session").toBe(killed[2]);
    const messages = main.log().map(({ msg }) => msg);
    expect(messages.filter((message) => message === "embedded PostgreSQL lost, restarting it")).toHaveLength(
      3,
    );
    expect(messages.filter((message) => message === "embedded PostgreSQL runs again")).toHaveLength(3);

    const last = await service.postmaster();
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(isAlive(last), "the stop ends the restarted server").toBe(false);
  }, 180_000);

  it("ends with a message and 1 if its data has disappeared, and creates no empty database", async () => {
    const { main, postmaster, folder } = await startEmbedded();
    const pid = await postmaster();
    await rename(join(folder, "postgres"), join(folder, "moved"));
    process.kill(pid, "SIGKILL");
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(await main.logged("database lost, the service ends")).toMatchObject({
      level: "fatal",
      err: { message: expect.stringContaining("has disappeared while the service ran: put the folder back") },
    });
    await expect(readFile(join(folder, "postgres", "PG_VERSION"))).rejects.toThrow("ENOENT");
  });
});

/** The end of one process ends others, which may then be gone already. */
function killIfAlive(pid: number): void {
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
}

async function startEmbedded() {
  const folder = join(await temporaryFolder(), "data");
  const backOfficePort = await freePort();
  const main = startMain({
    DATA_DIR: folder,
    PORT: "0",
    BACK_OFFICE_PORT: String(backOfficePort),
    OPERATOR_TOKEN: TOKEN,
    RATE_LIMIT_PER_MINUTE: "0",
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
  });
  const { partnerApiUrl } = await main.logged("ready");
  const pidFile = async () =>
    (await readFile(join(folder, "postgres", "postmaster.pid"), "utf8")).split("\n");
  const sessionPids = async (): Promise<number[]> => {
    const password = (await readFile(join(folder, "postgres-password"), "utf8")).trim();
    const port = Number((await pidFile())[3]);
    const client = new pg.Client({
      host: "127.0.0.1",
      port,
      user: "postgres",
      password,
      database: "postgres",
    });
    await client.connect();
    const found = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid <> pg_backend_pid() order by (application_name = 'partner-orders') desc",
    );
    await client.end();
    return found.rows.map(({ pid }) => pid);
  };
  return {
    main,
    folder,
    api: String(partnerApiUrl),
    backOffice: `http://127.0.0.1:${backOfficePort}`,
    postmaster: async () => Number((await pidFile())[0]),
    sessionPids,
    sessionPid: async () => (await sessionPids())[0] ?? Number.NaN,
  };
}

const orderIdsOf = (receiver: Awaited<ReturnType<typeof startReceiver>>): string[] =>
  receiver.requests.map(({ body }) => JSON.parse(body).data.order.id);
