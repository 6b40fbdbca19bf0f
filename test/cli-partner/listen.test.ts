import { stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { describedRun } from "../../packages/cli/src/listen-endpoint.ts";
import { PartnerOrders, webhooks } from "../../packages/sdk/src/index.ts";
import { freePort } from "../support/free-port.ts";
import { runJob } from "../support/jobs.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { jsonLines, startPartnerCli } from "../support/partner-cli.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { all, anOrderOf } from "../support/partner-sdk.ts";
import { accept, type ReceivedRequest, type ReceiverHandler, startReceiver } from "../support/receivers.ts";

let listener: PartnerListener;
let client: PartnerOrders;
let state: string;
beforeAll(async () => {
  listener = await startPartnerListener();
  client = new PartnerOrders({ baseUrl: listener.url, key: listener.partner.key });
});
afterAll(() => listener.close());
beforeEach(async () => {
  state = await temporaryFolder();
  for (const { id } of await all(client.webhookEndpoints.list())) await client.webhookEndpoints.delete(id);
});

const environment = () => ({
  PARTNER_ORDERS_API: listener.url,
  PARTNER_ORDERS_KEY: listener.partner.key,
  XDG_STATE_HOME: state,
});
const start = (...args: string[]) => startPartnerCli(environment(), args);
const secretOf = async () => (await start("listen", "--print-secret").ended()).output.trim();
const endLeases = async () => {
  listener.test.clock.advance({ minutes: 5 });
  await runJob(listener.test, "end-pull-leases");
  listener.test.clock.advance({ minutes: 5 }); // The wait before the next attempt.
};

let placed = 0;
async function placeTestOrder(): Promise<string> {
  placed += 1;
  const order = anOrderOf(listener.partner.productIds[0], `listened-${placed}`);
  return (await client.orders.create({ ...order, testMode: true })).id;
}
const ship = (id: string) => client.testOrders.transition(id, { transition: "ship" });
const complete = (id: string) => client.testOrders.transition(id, { transition: "complete" });

async function receive(handler: ReceiverHandler = accept) {
  const receiver = await startReceiver(handler);
  return { ...receiver, forwardTo: `${receiver.url}/webhooks` };
}
const typesOf = (requests: readonly ReceivedRequest[], orderId: string): string[] =>
  requests
    .map(({ body }) => JSON.parse(body))
    .filter(({ data }) => data.order?.id === orderId)
    .map(({ type }) => type);

describe("listen", () => {
  it("makes one endpoint for tests and remembers it, and keeps its secret for its owner", async () => {
    const secret = await secretOf();
    expect(secret).toMatch(/^whsec_/);
    expect(await secretOf()).toBe(secret);
    expect((await client.webhookEndpoints.list()).data).toMatchObject([{ kind: "pull", mode: "test" }]);
    expect((await stat(join(state, "partner-orders/listen.json"))).mode & 0o077).toBe(0);
  });

  it("misses nothing and keeps the order, if it is killed before it has acknowledged, and while it is away", async () => {
    const secret = await secretOf();
    const held = await receive(() => undefined); // It takes the event, and never responds.
    const first = start("listen", "--forward-to", held.forwardTo);
    const id = await placeTestOrder();
    await held.waitFor(1);
    first.child.kill("SIGKILL");
    await first.ended();
    await held.close();
    await ship(id);
    await endLeases();
    await complete(id);

    const receiver = await receive();
    const second = start(
      "listen",
      "--forward-to",
      receiver.forwardTo,
      "--json",
      "--until",
      "order.completed",
    );
    expect(await second.ended()).toMatchObject({ code: 0 });
    expect(typesOf(receiver.requests, id)).toEqual([
      "order.created",
      "order.shipmentCreated",
      "order.completed",
    ]);
    expect(jsonLines(second.output()).map(({ attempt, status }) => [attempt, status])).toEqual([
      [2, 200],
      [1, 200],
      [1, 200],
    ]);
    const now = listener.test.clock.now().getTime();
    for (const request of receiver.requests)
      expect(await webhooks.verify(request, secret, { now })).toMatchObject({ data: { order: { id } } });
    await receiver.close();
  });

  it("performs the faults of a body that is cut off and of two requests at once", async () => {
    const receiver = await receive();
    const listening = start("listen", "--forward-to", receiver.forwardTo, "--json");
    await vi.waitFor(() => expect(listening.errors()).toContain("Forwarding deliveries"), 20_000);
    const id = await placeTestOrder();
    await receiver.waitFor(1);
    for (const fault of ["two-at-once", "cut-body"] as const) await client.testOrders.armFault(id, { fault });
    for (const transition of ["hold", "releaseHold"] as const)
      await client.testOrders.transition(id, { transition });
    await vi.waitFor(
      () => expect(jsonLines(listening.output()).map(({ fault }) => fault)).toContain("cut-body"),
      20_000,
    );
    await vi.waitFor(async () => {
      const { data } = await client.deliveries.list({ orderId: id, hasFailedAttempts: true });
      expect(data).toHaveLength(1); // Acknowledged, so that its wait has begun.
    }, 20_000);
    listener.test.clock.advance({ seconds: 1 });
    await receiver.waitFor(4);
    const types = ["order.created", "order.onHold", "order.onHold", "order.onHoldReleased"];
    expect(typesOf(receiver.requests, id)).toEqual(types);
    await vi.waitFor(() => expect(jsonLines(listening.output())).toHaveLength(5), 20_000);
    expect(jsonLines(listening.output()).map(({ fault, status }) => [fault, status])).toEqual([
      [null, 200],
      ["two-at-once", 200],
      ["two-at-once", 200],
      ["cut-body", null],
      [null, 200],
    ]);
    listening.child.kill("SIGINT");
    await listening.ended();
    await receiver.close();
  });

  it("shows what the receiver complains about, and outlasts a lost connection", async () => {
    let isBroken = true;
    const receiver = await receive((_, response) => {
      if (isBroken) response.writeHead(500).end("No such\u001b[2J table");
      else response.end();
    });
    const listening = start("listen", "--forward-to", receiver.forwardTo);
    await vi.waitFor(() => expect(listening.errors()).toContain("Forwarding deliveries"), 20_000);
    const id = await placeTestOrder();
    await vi.waitFor(() => expect(listening.output()).toContain("No such [2J table"), 20_000);
    expect(listening.output()).toMatch(/order\.created {2}test_\S+ {2}500 {2}\d+ ms/);
    const [delivery] = (await client.deliveries.list({ orderId: id })).data;
    await vi.waitFor(async () => {
      const { attempts } = await client.deliveries.get(String(delivery?.id));
      expect(attempts).toMatchObject([{ responseStatus: 500 }]);
    }, 20_000);
    await vi.waitFor(() => {
      listener.app.server.closeAllConnections();
      expect(listening.errors()).toContain("Trying again; nothing is missed.");
    }, 20_000);
    isBroken = false;
    await client.deliveries.redeliver(String(delivery?.id));
    await vi.waitFor(async () => {
      const { status } = await client.deliveries.get(String(delivery?.id));
      expect(status).toBe("succeeded");
    }, 20_000);
    listening.child.kill("SIGTERM");
    expect(await listening.ended()).toMatchObject({ code: 0 });
    await receiver.close();
  });

  it("forwards only the wanted types and the wanted order", async () => {
    const receiver = await receive();
    const [id, other] = [await placeTestOrder(), await placeTestOrder()];
    const args = ["--types", "order.shipmentCreated,order.inProgress", "--order", id];
    const listening = start("listen", "--forward-to", receiver.forwardTo, ...args);
    await vi.waitFor(() => expect(listening.errors()).toContain("Forwarding deliveries"), 20_000);
    await ship(other);
    await ship(id);
    await receiver.waitFor(1);
    await vi.waitFor(async () => {
      const { data } = await client.deliveries.list({
        status: "succeeded",
        eventType: "order.shipmentCreated",
      });
      expect(data.filter(({ orderId }) => [id, other].includes(String(orderId)))).toHaveLength(2);
    }, 20_000);
    listening.child.kill("SIGTERM");
    await listening.ended();
    expect(typesOf(receiver.requests, id)).toEqual(["order.shipmentCreated"]);
    expect(typesOf(receiver.requests, other)).toEqual([]);
    await receiver.close();
  });

  it("runs a program with the secret, until an event is accepted, and deletes its endpoint", async () => {
    const receiver = await receive();
    const listenTo = ["listen", "--forward-to", receiver.forwardTo, "--exec"];
    const passed = start(
      ...listenTo,
      `test -n "$PARTNER_ORDERS_WEBHOOK_SECRET" && ${process.execPath} packages/cli/src/main.ts trigger order.completed`,
      "--until",
      "order.completed",
    );
    const failed = start(...listenTo, "exit 7", "--until", "order.completed");
    const late = start(...listenTo, "sleep 60", "--timeout", "1");
    expect(await passed.ended()).toMatchObject({ code: 0 });
    expect(passed.output()).toContain("order.completed: test order test_");
    expect(await failed.ended()).toMatchObject({ code: 5 });
    expect(await late.ended()).toMatchObject({ code: 4 });
    expect((await client.webhookEndpoints.list()).data).toEqual([]);
    await receiver.close();
  });

  it("deletes what killed runs have left, and neither what may still run nor what is not its own", async () => {
    const [host, gone] = [hostname(), 4_194_303];
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const create = async (description: string) =>
      (await client.webhookEndpoints.create({ kind: "pull", mode: "test", description })).id;
    const left = [
      await create(describedRun({ host, pid: gone, startedAt: ago(11) })),
      await create(describedRun({ host: "ci-7", pid: process.pid, startedAt: ago(25 * 60) })),
    ];
    const kept = [
      await create(describedRun({ host, pid: gone, startedAt: ago(9) })),
      await create(describedRun({ host, pid: process.pid, startedAt: ago(60) })),
      await create(describedRun({ host: "ci-7", pid: gone, startedAt: ago(60) })),
      await create("partner-orders listen --exec on a whiteboard"),
    ];
    const nowhere = `http://127.0.0.1:${await freePort()}/webhooks`;
    const { code, errors } = await start("listen", "--forward-to", nowhere, "--exec", "true").ended();
    expect(code).toBe(0);
    for (const id of left) expect(errors).toContain(`Deleted ${id}, which`);
    const { data } = await client.webhookEndpoints.list();
    expect(data.map(({ id }) => id)).toEqual(kept);
    for (const id of kept) await client.webhookEndpoints.delete(id);
  });

  /** Waits until the log has so many attempts of the order's only delivery. */
  const acknowledged = (orderId: string, attemptCount: number) =>
    vi.waitFor(async () => {
      const [delivery] = (await client.deliveries.list({ orderId })).data;
      const { attempts } = await client.deliveries.get(String(delivery?.id));
      expect(attempts).toHaveLength(attemptCount);
    }, 20_000);

  it("obeys keys on a terminal: r sends again, q ends", async () => {
    const receiver = await receive();
    const terminal = startPartnerCli(environment(), ["listen", "--forward-to", receiver.forwardTo], {
      isTerminal: true,
    });
    await vi.waitFor(() => expect(terminal.output()).toContain("q ends."), 20_000);
    const id = await placeTestOrder();
    await receiver.waitFor(1);
    await acknowledged(id, 1); // Until then, it is sent already.
    terminal.child.stdin.write("r");
    await receiver.waitFor(2);
    await acknowledged(id, 2);
    terminal.child.stdin.write("xr"); // Pressed so quickly that they arrive together; the first means nothing.
    await receiver.waitFor(3);
    terminal.child.stdin.write("q");
    expect((await terminal.ended()).code).toBe(0);
    expect(typesOf(receiver.requests, id)).toEqual(Array(3).fill("order.created"));
    expect(terminal.output()).not.toContain("not reachable");
    await receiver.close();
  });

  it("rejects a wrong use before it makes an endpoint", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}/webhooks`;
    const results = await Promise.all([
      start("listen").ended(),
      start("listen", "--forward-to", "localhost").ended(),
      start("listen", "--forward-to", nowhere, "--timeout", "5").ended(),
    ]);
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect((await client.webhookEndpoints.list()).data).toEqual([]);
  });

  it("says that its endpoint is paused, and resumes it when it is started again", async () => {
    const receiver = await receive((_, response) => response.writeHead(410).end());
    const first = start("listen", "--forward-to", receiver.forwardTo);
    await vi.waitFor(() => expect(first.errors()).toContain("Forwarding deliveries"), 20_000);
    await placeTestOrder();
    await vi.waitFor(() => expect(first.errors()).toContain("The endpoint is paused."), 30_000);
    first.child.kill("SIGTERM");
    await first.ended();
    const second = start("listen", "--forward-to", receiver.forwardTo);
    // From then on a signal ends the program in order.
    await vi.waitFor(() => expect(second.errors()).toContain("Forwarding deliveries"), 20_000);
    expect(second.errors()).toContain("The endpoint was paused (gone).");
    second.child.kill("SIGTERM");
    expect(await second.ended()).toMatchObject({ code: 0 });
    await receiver.close();
  });
});

describe("trigger", () => {
  it("drives a test order, or sends a sample to the endpoint of listen and says so", async () => {
    expect(await start("trigger", "order.accepted").ended()).toMatchObject({ code: 2, output: "" });
    await secretOf();
    const [order, sample, unknown] = await Promise.all([
      start("trigger", "order.shipmentReturned", "--json").ended(),
      start("trigger", "order.paymentFailed", "--json").ended(),
      start("trigger", "order.lost").ended(),
    ]);
    const [made] = jsonLines(order.output);
    expect(made).toMatchObject({ by: "test-order", transitions: ["ship", "returnShipment"] });
    expect(await client.events.get(made.eventId)).toMatchObject({ type: "order.shipmentReturned" });
    const [sent] = jsonLines(sample.output);
    expect(sent).toMatchObject({ by: "sample" });
    expect(await client.deliveries.get(sent.deliveryId)).toMatchObject({ eventType: "order.paymentFailed" });
    expect(unknown.errors).toContain("There are: order.created, ");
    const tracked = () => start("trigger", "order.shipmentUpdated", "--json").ended();
    expect((await tracked()).errors).toContain("is published only to endpoints that name it");
    await client.webhookEndpoints.create({
      kind: "pull",
      mode: "test",
      eventTypes: ["order.shipmentUpdated"],
    });
    expect(jsonLines((await tracked()).output)).toMatchObject([{ by: "test-order", transitions: ["ship"] }]);
  });
});
