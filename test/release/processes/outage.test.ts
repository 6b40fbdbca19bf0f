import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { toTypeId } from "../../../src/platform/ids.ts";
import { DEFAULT_EVENT_TYPES } from "../../../src/webhooks/events/event.ts";
import { created, createPartner, type Partner, placeOrder, placeTestOrder } from "../../support/builders.ts";
import { sendDue, startDispatcher } from "../../support/dispatch.ts";
import { freePort } from "../../support/free-port.ts";
import { runJob } from "../../support/jobs.ts";
import type { MainProcess } from "../../support/main-process.ts";
import { operationApplied } from "../../support/real-orders.ts";
import { eventually, send, startService } from "../../support/running-service.ts";
import { createDatabase, startServiceForTest, type TestService } from "../../support/test-service.ts";
import { ENDPOINTS, endpointPath, uuidIn } from "../../support/webhooks.ts";

const SECRET_KEY = Buffer.alloc(32, 1); // That of the tests' own services.
const OUTAGE_MINUTES = 8 * 60;
/** Minutes of the outage at which orders are placed, so that attempts are at many steps of the schedule when it ends. */
const WAVES = [0, 9, 60, 180, 300, 420, 465];
const ORDERS_OF_A_WAVE = 20;
/** With a test order, whose events live endpoints receive, too. */
const ORDERS = WAVES.length * ORDERS_OF_A_WAVE + 1;
/** What the service does in the last minutes is the work of the two processes. */
const LAST_MINUTES = 6;

type Arrival = { endpoint: string; eventId: string; orderId: string; sequence: number };
const idOf = ({ endpoint, eventId }: Pick<Arrival, "endpoint" | "eventId">): string =>
  `${endpoint} ${eventId}`;

type Counts = { pending: number; heads: number; failed: number };

it("a partner that was down for eight hours has everything after recover and resume, though a process is killed in the middle", async () => {
  const databaseUrl = await createDatabase();
  const test = await startServiceForTest({ databaseUrl, config: { webhookAllowPrivateNetworks: true } });
  // Eight hours pass on the tests' clock. Then two real processes take over, whose clock is the machine's.
  const startsAt = Date.now() - OUTAGE_MINUTES * 60_000;
  test.clock.advance({ ms: startsAt - test.clock.now().getTime() });
  await runJob(test, "make-partitions");
  const partner = await createPartner(test);
  const receiver = await startStoppable();
  const register = async (name: string, fields: object = {}): Promise<string> =>
    (await created(partner.client.post(ENDPOINTS, { url: `${receiver.url}/${name}`, ...fields }))).id;
  const failing = await register("failing");
  const paused = await register("paused");
  const rehearsal = await register("rehearsal", { mode: "test" });

  receiver.stop();
  await outage(test, partner, paused);
  const environment = {
    DATABASE_URL: databaseUrl,
    RATE_LIMIT_PER_MINUTE: "0",
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    WEBHOOK_SECRET_KEYS: SECRET_KEY.toString("base64"),
  };
  const processes = await Promise.all([startService(environment), startService(environment)]);
  // One of them finds the receiver down, too, and backs off.
  await eventually(() => expect(attemptsAt(failing, processes)).not.toEqual([]));
  const [first, second] = processes;
  const stateOf = async (id: string) => (await send(first.api + endpointPath(id), partner.key)).body;
  await eventually(async () =>
    expect(await stateOf(failing)).toMatchObject({ status: "active", backingOffUntil: expect.any(String) }),
  );
  expect(await stateOf(paused)).toMatchObject({ status: "paused", pauseReason: "requested" });
  expect((await attemptCounts(test, failing)).length).toBeGreaterThan(3);

  const before = Object.fromEntries(
    await Promise.all([failing, paused, rehearsal].map(async (id) => [id, await countsOf(test, id)])),
  );
  expect(before).toMatchObject({
    [failing]: { heads: ORDERS, failed: 0 },
    [paused]: { pending: before[failing].pending, failed: 0 },
    [rehearsal]: { pending: 0, failed: 1 },
  });
  receiver.holdAt("failing", ORDERS);
  await receiver.start();
  const since = { since: new Date(startsAt).toISOString() };
  const ask = async (process: (typeof processes)[number], id: string, operation: string, body?: object) =>
    (await send(process.api + endpointPath(id, operation), partner.key, body ?? {})).body.deliveryCount;
  expect(await ask(first, failing, "recover", since)).toBe(before[failing].heads);
  expect(await ask(second, paused, "resume")).toBe(before[paused].pending);
  expect(await ask(second, rehearsal, "recover", since)).toBe(before[rehearsal].failed);

  // In the middle, all that is being sent to the endpoint is lost with its process.
  await receiver.held();
  // A line is written up to a tenth of a second after its attempt.
  const answered = () =>
    attemptsAt(failing, processes).filter((line) => "status" in line && line.status === 204);
  await eventually(() => expect(answered()).toHaveLength(ORDERS));
  const killed = lastSenderTo(failing, processes);
  killed.child.kill("SIGKILL");
  await killed.exited();
  receiver.holdAt("failing", Number.POSITIVE_INFINITY);
  await expireLeasesOfSenderTo(test, failing);

  await eventually(async () => {
    expect(new Set(receiver.arrived.map(idOf))).toEqual(new Set((await published(test)).map(idOf)));
  });
  await eventually(async () => {
    const counts = await Promise.all([failing, paused, rehearsal].map((id) => countsOf(test, id)));
    expect(counts).toEqual(Array(3).fill({ pending: 0, heads: 0, failed: 0 }));
  });
  // An event that arrives again is not followed by an older one, either.
  const streams = Map.groupBy(receiver.arrived, ({ endpoint, orderId }) => `${endpoint} ${orderId}`);
  for (const events of streams.values()) {
    const sequences = events.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
  }
  const again = [...Map.groupBy(receiver.arrived.map(idOf), (id) => id).values()].filter(
    (all) => all.length > 1,
  );
  expect(again.length).toBeGreaterThan(0);
  expect(again.every((all) => all.length === 2)).toBe(true);
  const unknown = await unknownOutcomes(test);
  expect(unknown).toEqual(expect.arrayContaining(again.map(([id]) => id?.split(" ")[1])));
});

/** A server of a partner that is stopped, and started again at the same address. */
async function startStoppable() {
  const arrived: Arrival[] = [];
  const port = await freePort();
  let server: Server | null = null;
  let hold = { endpoint: "", after: Number.POSITIVE_INFINITY };
  let isHeld = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const start = async (): Promise<void> => {
    server = createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8"));
      const endpoint = String(request.url).slice(1);
      arrived.push({ endpoint, eventId: body.id, orderId: body.data.order.id, sequence: body.sequence });
      const count = arrived.filter((each) => each.endpoint === endpoint).length;
      if (endpoint === hold.endpoint && count > hold.after) isHeld();
      else response.writeHead(204).end();
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const stop = (): void => {
    server?.close();
    server?.closeAllConnections();
  };
  onTestFinished(stop);
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    start,
    stop,
    /** Does not respond to requests of an endpoint after so many. */
    holdAt: (endpoint: string, after: number) => {
      hold = { endpoint, after };
    },
    held: () => held,
  };
}

/** Orders are placed, put on hold and released while the receiver is down; one endpoint is paused after two hours. */
async function outage(test: TestService, partner: Partner, pausedId: string): Promise<void> {
  const dispatcher = startDispatcher(test);
  const work = async () => {
    for (const job of ["accept-orders", "route-orders", "process-payments", "clear-endpoints"])
      await runJob(test, job);
  };
  for (let minutes = 0; minutes < OUTAGE_MINUTES; minutes += 3) {
    if (WAVES.includes(minutes)) await placeOrders(test, partner);
    if (minutes === OUTAGE_MINUTES - 60) await placeTestOrder(partner);
    if (minutes === 120)
      await test.backOffice.post(
        `/api/connections/${partner.connectionId}/webhook-endpoints/${pausedId}/pause`,
      );
    await work();
    if (minutes < OUTAGE_MINUTES - LAST_MINUTES) await sendDue(dispatcher);
    test.clock.advance({ minutes: 3 });
  }
  await dispatcher.stop();
}

async function placeOrders(test: TestService, partner: Partner): Promise<void> {
  for (let count = 0; count < ORDERS_OF_A_WAVE; count += 1) {
    const { id } = await placeOrder(partner);
    if (count % 2 === 0) continue;
    await operationApplied(test, id, "hold");
    await operationApplied(test, id, "release-hold");
  }
}

type Running = { readonly main: MainProcess };

/** The attempts of processes at an endpoint, as they have logged them. */
const attemptsAt = (endpointId: string, processes: readonly Running[]) =>
  processes
    .flatMap(({ main }) => main.log().map((line) => ({ ...line, main })))
    .filter(({ msg, ...line }) => {
      const { endpoint } = line as { endpoint?: { id: string } }; // Only lines about attempts have it.
      return msg === "delivery attempted" && endpoint?.id === uuidIn("whe", endpointId);
    });

/** The process that sends to an endpoint now. */
function lastSenderTo(endpointId: string, processes: readonly Running[]): MainProcess {
  const attempts = attemptsAt(endpointId, processes) as unknown as { time: string; main: MainProcess }[];
  const last = attempts.toSorted((one, other) => (one.time < other.time ? -1 : 1)).at(-1);
  if (last === undefined) throw new Error("No process has sent to the endpoint.");
  return last.main;
}

/** What a minute of waiting would do for what the killed process has claimed. */
async function expireLeasesOfSenderTo(test: TestService, endpointId: string): Promise<void> {
  const ofSender = `
    select endpoint_id from webhook_endpoint_states
    where worker_id = (select worker_id from webhook_endpoint_states where endpoint_id = '${uuidIn("whe", endpointId)}')`;
  await test.db.runScript(`
    update due_deliveries set leased_until = now() where leased_until is not null and endpoint_id in (${ofSender});
    update webhook_endpoint_states set leased_until = now() where endpoint_id in (${ofSender})`);
}

async function countsOf({ db }: TestService, endpointId: string): Promise<Counts> {
  const [counts] = await db.query<Counts>({
    name: "test-counts-of-endpoint",
    text: `
      select (select count(*)::integer from due_deliveries where endpoint_id = $1) as heads,
        (count(*) filter (where status = 'pending'))::integer as pending,
        (count(*) filter (where status = 'failed'))::integer as failed
      from deliveries where endpoint_id = $1`,
    values: [uuidIn("whe", endpointId)],
  });
  if (counts === undefined) throw new Error("Not counted.");
  return counts;
}

/** The different numbers of failed attempts of what waits for an endpoint. */
async function attemptCounts({ db }: TestService, endpointId: string): Promise<number[]> {
  const rows = await db.query<{ count: number }>({
    name: "test-attempt-counts",
    text: "select distinct attempt_count as count from due_deliveries where endpoint_id = $1 order by 1",
    values: [uuidIn("whe", endpointId)],
  });
  return rows.map(({ count }) => count);
}

/** What the two live endpoints and the one for test orders have to receive, by the events of the database. */
async function published({ db }: TestService): Promise<Pick<Arrival, "endpoint" | "eventId">[]> {
  const rows = await db.query<{ id: string; isTest: boolean }>({
    name: "test-published-events",
    text: `select id, not_after is not null as "isTest" from events where order_id is not null and type = any($1)`,
    values: [DEFAULT_EVENT_TYPES],
  });
  return rows.flatMap(({ id, isTest }) =>
    ["failing", "paused", ...(isTest ? ["rehearsal"] : [])].map((endpoint) => ({
      endpoint,
      eventId: toTypeId("evt", id),
    })),
  );
}

/** The events of attempts of which no process knows how they ended. */
async function unknownOutcomes({ db }: TestService): Promise<string[]> {
  const rows = await db.query<{ eventId: string }>({
    name: "test-unknown-outcomes",
    text: `
      select d.event_id as "eventId"
      from attempts a
      join deliveries d on d.merchant_id = a.merchant_id and d.id = a.delivery_id
      where a.error like 'outcome unknown%'`,
    values: [],
  });
  return rows.map(({ eventId }) => toTypeId("evt", eventId));
}
