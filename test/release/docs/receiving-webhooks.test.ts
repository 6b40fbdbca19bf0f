import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished, vi } from "vitest";
import { openInbox } from "../../../docs/examples/inbox.mjs";
import { keepOrder } from "../../../docs/examples/keep-order.mjs";
import { createReceiver } from "../../../docs/examples/receiver.mjs";
import { reconcile } from "../../../docs/examples/reconcile.mjs";
import { isGenuine } from "../../../docs/examples/verify-webhook.mjs";
import { placeTestOrder } from "../../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../../support/dispatch.ts";
import { freePort } from "../../support/free-port.ts";
import { HOSTILE, type Signed } from "../../support/hostile-signatures.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { startPartnerListener } from "../../support/partner-listener.ts";
import type { ReceivedRequest } from "../../support/receivers.ts";
import { applied } from "../../support/sandbox.ts";
import { exchange, requestText } from "../../support/sockets.ts";
import { createEndpoint, endpointPath } from "../../support/webhooks.ts";

const EXAMPLES = new URL("../../../docs/examples/", import.meta.url);
const GUIDE = ["webhooks", "signatures", "reconciling", "receivers"]
  .map((name) => readFileSync(new URL(`../../../docs/partners/${name}.md`, import.meta.url), "utf8"))
  .join("\n");

type KnownOrders = Map<string, { id: string; sequence: number; updatedAt: string }>;

const hasPython = spawnSync("python3", ["--version"]).status === 0;

it("the pages show the examples as they are, and no other code", () => {
  const shown = [...GUIDE.matchAll(/^```(?:js|python|php|java|go)\n(.*?)^```$/gms)].map(([, code]) => code);
  const examples = readdirSync(EXAMPLES).map((name) => readFileSync(new URL(name, EXAMPLES), "utf8"));
  expect(shown.toSorted()).toEqual(examples.toSorted());
});

it("an order's events are received, each is kept once, and the order is known as it stands", async () => {
  const { partner, dispatcher, inbox, endpoint } = await startPartner();
  const order = await placeTestOrder(partner);
  await applied(partner, order.id, "ship");
  await sendDue(dispatcher);
  const { body: log } = await partner.client.get(`/v1/deliveries?endpointId=${endpoint.id}`);
  expect(log.data.map((delivery: { status: string }) => delivery.status)).toEqual(["succeeded", "succeeded"]);
  for (const { id } of log.data) await partner.client.post(`/v1/deliveries/${id}/redeliver`);
  await sendDue(dispatcher);
  const orders: KnownOrders = new Map();
  expect(workOff(inbox, orders)).toEqual([true, true]);
  expect(orders.get(order.id)).toMatchObject({ sequence: 2, status: "IN_PROGRESS" });
});

it("the receiver runs as a program, with the command of the guide", async () => {
  const command = /^WEBHOOK_SECRET=whsec_… PORT=3000 node (receiver\.mjs)$/m.exec(GUIDE);
  const listener = await startPartnerListener({ config: { webhookAllowPrivateNetworks: true } });
  onTestFinished(listener.close);
  const { test, partner } = listener;
  // The program has the machine's clock, and rejects what is older than five minutes.
  test.clock.advance({ ms: Date.now() - test.clock.now().getTime() });
  const port = await freePort();
  const { secret } = await createEndpoint(partner, { url: `http://127.0.0.1:${port}/webhooks` });
  const program = spawn(process.execPath, [resolve("docs/examples", String(command?.[1]))], {
    cwd: await temporaryFolder(), // Its inbox is a file in the folder where it runs.
    env: { WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    program.kill();
    await once(program, "close");
  });
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe(`Receiving at http://127.0.0.1:${port}`);
  const order = await placeTestOrder(partner);
  await applied(partner, order.id, "ship");
  const dispatcher = startDispatcher(test);
  await sendDue(dispatcher);
  expect((await lines.next()).value).toBe(`order.created ${order.id}`);
  expect((await lines.next()).value).toBe(`order.shipmentCreated ${order.id}`);
});

it("an inbox that was closed in the middle of a line continues after the last whole one", async () => {
  const path = join(await temporaryFolder(), "inbox.jsonl");
  const event = (id: string) => ({ id, type: "order.created", sequence: 1, data: {} });
  const first = openInbox(path);
  for (const id of ["evt_1", "evt_2"]) expect(first.add(event(id))).toBe(true);
  expect(first.add(event("evt_1"))).toBe(false);
  first.done(event("evt_1"));
  first.keepCursor("c1");
  first.close();
  appendFileSync(path, '{"event":{"id":"evt_3"');
  const second = openInbox(path);
  expect(second.next()).toEqual(event("evt_2"));
  expect(second.cursor()).toBe("c1");
  expect([second.add(event("evt_1")), second.add(event("evt_3"))]).toEqual([false, true]);
  second.done(event("evt_2"));
  second.close();
  const third = openInbox(path);
  expect(third.next()).toEqual(event("evt_3"));
  third.close();
});

it("a request that the service did not send, or that was changed on the way, is rejected and not stored", async () => {
  const { inbox, url, partner, request } = await startPartner();
  await placeTestOrder(partner);
  const { body, headers } = await request();
  const signed = pick(headers);
  const send = async (sentBody: string, sentHeaders: Record<string, string>) =>
    (await fetch(url, { method: "POST", body: sentBody, headers: sentHeaders })).status;
  expect(await send(body.replace("test_", "TEST_"), signed)).toBe(401);
  expect(await send(body, { ...signed, "webhook-id": "evt_other" })).toBe(401);
  expect(await send(body, {})).toBe(401);
  vi.setSystemTime(Date.now() + 301_000);
  expect(await send(body, signed)).toBe(401);
  vi.setSystemTime(Date.now() - 301_000);
  expect(inbox.next()).toBeNull();
  expect(await send(body, signed)).toBe(204);
  expect(inbox.next()).toEqual(JSON.parse(body));
});

it("a body without end is rejected before it is in memory", async () => {
  const { inbox, url } = await startPartner();
  const endless = requestText("POST /webhooks HTTP/1.1", { "content-length": "1000000000" });
  const { status } = await exchange(url, Buffer.concat([endless, Buffer.alloc(2 * 1_048_576, "x")]));
  expect(status).toBe(413);
  expect(inbox.next()).toBeNull();
});

it("an inbox that cannot store an event has it sent again", async () => {
  const { inbox, partner, dispatcher } = await startPartner();
  inbox.close();
  await placeTestOrder(partner);
  await sendDue(dispatcher);
  const { body: log } = await partner.client.get("/v1/deliveries");
  expect(log.data).toMatchObject([{ status: "pending", attempts: [{ responseStatus: 500 }] }]);
});

it("verification without a library accepts genuine requests, also during a rotation, and no others", async () => {
  const { partner, endpoint, request } = await startPartner();
  const rotated = await partner.client.post(endpointPath(endpoint.id, "rotate-secret"), {});
  await placeTestOrder(partner);
  const { body, headers } = await request();
  expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(2);
  const bytes = Buffer.from(body);
  for (const secret of [endpoint.secret, rotated.body.secret])
    expect(isGenuine(secret, headers, bytes)).toBe(true);
  expect(isGenuine(`whsec_${"A".repeat(43)}=`, headers, bytes)).toBe(false);
  expect(isGenuine(endpoint.secret, headers, Buffer.from(`${body} `))).toBe(false);
  expect(isGenuine(endpoint.secret, { ...headers, "webhook-signature": "v1," }, bytes)).toBe(false);
  expect(isGenuine(endpoint.secret, {}, bytes)).toBe(false);
  vi.setSystemTime(Date.now() + 301_000);
  expect(isGenuine(endpoint.secret, headers, bytes)).toBe(false);
});

it("verification without a library accepts nothing that a stranger can send, and never fails at it", async () => {
  const { partner, endpoint, request } = await startPartner();
  await placeTestOrder(partner);
  const { body, headers } = await request();
  for (const [name, forge] of HOSTILE)
    expect(isGenuine(endpoint.secret, forge(pick(headers)), Buffer.from(body)), name).toBe(false);
});

it.skipIf(!hasPython)("the same in Python", async () => {
  const { partner, endpoint, request } = await startPartner();
  await placeTestOrder(partner);
  const { body, headers } = await request();
  const signed = pick(headers);
  const [genuine, changed, ...hostile] = areGenuineInPython(endpoint.secret, [
    [signed, body],
    [signed, `${body} `],
    ...HOSTILE.map(([, forge]) => [forge(signed), body] as const),
    [{ ...signed, "webhook-timestamp": null, "webhook-id": 1 }, body],
    // As servers of Python give bytes beyond ASCII.
    [{ ...signed, "webhook-id": "\udcff", "webhook-signature": "v1,\udcff" }, body],
  ]);
  expect([genuine, changed]).toEqual([true, false]);
  expect(hostile).toEqual(hostile.map(() => false));
  expect(hostile.length).toBe(HOSTILE.length + 2);
});

it("the feed returns missed events, once, and continues from the stored cursor", async () => {
  const { inbox, partner, dispatcher, url, endpoint, api } = await startPartner();
  expect(await reconcile(api, partner.key, inbox)).toBe(2); // Products published before there was an endpoint.
  const orders: KnownOrders = new Map();
  workOff(inbox, orders);
  const order = await placeTestOrder(partner);
  await sendDue(dispatcher);
  await partner.client.request("DELETE", endpointPath(endpoint.id));
  await applied(partner, order.id, "ship");
  await applied(partner, order.id, "complete");
  expect(await reconcile(api, partner.key, inbox)).toBe(2);
  expect(await reconcile(api, partner.key, inbox)).toBe(0);
  expect(workOff(inbox, orders)).toEqual([true, true, true]);
  expect(orders.get(order.id)).toMatchObject({ sequence: 3, status: "COMPLETED" });
  await createEndpoint(partner, { url });
  await applied(partner, order.id, "returnShipment");
  expect(await reconcile(api, partner.key, inbox)).toBe(1);
  await sendDue(dispatcher);
  expect(workOff(inbox, orders)).toEqual([true]);
});

it("keeps the copy with the highest sequence, and of these the one that changed last", () => {
  const orders: KnownOrders = new Map();
  const keep = (sequence: number, second: number) =>
    keepOrder(orders, { id: "ord_1", sequence, updatedAt: `2026-03-02T09:00:0${second}.000Z` });
  expect([keep(1, 1), keep(3, 1), keep(2, 2), keep(3, 1), keep(3, 0), keep(3, 2)]).toEqual([
    true,
    true,
    false,
    false,
    false,
    true,
  ]);
  expect(orders.get("ord_1")).toMatchObject({ sequence: 3, updatedAt: "2026-03-02T09:00:02.000Z" });
});

/** A partner whose receiver is that of the guide, at an endpoint that it has registered. */
async function startPartner() {
  const listener = await startPartnerListener({ config: { webhookAllowPrivateNetworks: true } });
  onTestFinished(listener.close);
  const { test, partner, url: api } = listener;
  // Receivers compare a request's time with their own, so they must live in the time of the test.
  vi.useFakeTimers({ toFake: ["Date"], now: test.clock.now() });
  onTestFinished(() => void vi.useRealTimers());
  const inbox = openInbox(join(await temporaryFolder(), "inbox.jsonl"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks`;
  const endpoint = await createEndpoint(partner, { url });
  const server = createReceiver(endpoint.secret, inbox).listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const dispatcher = startDispatcher(test);

  /** What the service sends at this moment, as it would come to another address. */
  async function request(): Promise<ReceivedRequest> {
    const receiver = await startReceiverForTest();
    await partner.client.request("PATCH", endpointPath(endpoint.id), { body: { url: receiver.url } });
    await sendDue(dispatcher);
    const [first] = receiver.requests;
    if (first === undefined) throw new Error("Nothing was sent.");
    return first;
  }

  return { partner, api, inbox, url, endpoint, dispatcher, request };
}

/** Processes the events in the inbox; returns of each whether its order was newer. */
function workOff(inbox: ReturnType<typeof openInbox>, orders: KnownOrders): boolean[] {
  const outcomes: boolean[] = [];
  for (let event = inbox.next(); event !== null; event = inbox.next()) {
    const { order } = event.data;
    if (order !== undefined) outcomes.push(keepOrder(orders, order));
    inbox.done(event);
  }
  return outcomes;
}

const pick = (headers: ReceivedRequest["headers"]): Signed => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"]),
});

type PythonRequest = readonly [headers: Readonly<Record<string, unknown>>, body: string];

/** At the time of the test. */
function areGenuineInPython(secret: string, requests: readonly PythonRequest[]): boolean[] {
  const program = `
import json, sys, time
sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True
from verify_webhook import is_genuine
given = json.load(sys.stdin)
time.time = lambda: given["now"]
print(json.dumps([is_genuine(given["secret"], headers, body.encode()) for headers, body in given["requests"]]))`;
  const input = JSON.stringify({ secret, requests, now: Date.now() / 1_000 });
  const { stdout, stderr } = spawnSync("python3", ["-c", program, EXAMPLES.pathname], {
    input,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}
