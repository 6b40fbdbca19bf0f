import { expect, it } from "vitest";
import { anOrder, createPartner } from "../../support/builders.ts";
import { orderPath, readStoredOrders } from "../../support/orders.ts";
import { type ProcessAnswer, type ServiceProcess, startProcess } from "../../support/processes.ts";
import { startServiceForTest } from "../../support/test-service.ts";

// docs/design/creating-orders.md, "Constraints decide": "in one process or in several": real processes, over HTTP, which share
// only the database.

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

const tally = (answers: readonly ProcessAnswer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]),
  );

/** A database with a partner, seen in-process, and processes of the service on it. */
async function startProcesses(...roles: string[]) {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const databaseUrl = test.context.config.databaseUrl ?? "";
  const processes = await Promise.all(roles.map((role) => startProcess(databaseUrl, role)));
  return { test, partner, databaseUrl, processes };
}

it("fifty of the same creation over two processes: one creates, the others replay it", async () => {
  const { test, partner, processes } = await startProcesses("api", "api,back-office,worker");
  const order = anOrder(partner);
  const answers = await Promise.all(
    times(50, (n) => (processes[n % 2] as ServiceProcess).post("/v1/orders", partner.key, order)),
  );
  expect(tally(answers)).toEqual({ 200: 49, 201: 1 });
  const created = answers.find(({ status }) => status === 201);
  for (const { status, headers, body } of answers) {
    expect(body).toEqual(created?.body);
    expect(headers.get("idempotent-replayed")).toBe(status === 200 ? "true" : null);
  }
  expect(await readStoredOrders(test, partner)).toMatchObject([
    { id: created?.body.id, events: ["order.created"] },
  ]);
});

it("twenty cancels of one order over two processes: all return 200, and one event is published", async () => {
  const { test, partner, processes } = await startProcesses("api", "api");
  const [first, second] = processes as [ServiceProcess, ServiceProcess];
  const { body: order } = await first.post("/v1/orders", partner.key, anOrder(partner));
  const path = `${orderPath(order.id)}/cancel`;
  const answers = await Promise.all(times(20, (n) => (n % 2 === 0 ? first : second).post(path, partner.key)));
  expect(tally(answers)).toEqual({ 200: 20 });
  expect(await readStoredOrders(test, partner)).toMatchObject([
    { status: "CANCELED", events: ["order.created", "order.canceled"] },
  ]);
});

it("a process that is killed during creations has stored all that it acknowledged; after a restart every key has exactly one order", async () => {
  const { test, partner, databaseUrl, processes } = await startProcesses("api,worker");
  const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
  const orders = times(5_000, () => anOrder(partner, { lines }));

  /**
   * Sends orders from the first on, sixteen at a time, until there are no more or the process is gone; returns the id
   * that each got.
   */
  async function stream(process: ServiceProcess, requests: typeof orders, onAnswer: (count: number) => void) {
    const ids = new Map<string, string>();
    let next = 0;
    async function sendOn(): Promise<void> {
      for (let order = requests[next++]; order !== undefined; order = requests[next++]) {
        const answer = await process.post("/v1/orders", partner.key, order).catch(() => null);
        if (answer === null) return;
        expect(answer.status, JSON.stringify(answer.body)).toBeOneOf([200, 201]);
        ids.set(order.externalOrderId, answer.body.id);
        onAnswer(ids.size);
      }
    }
    await Promise.all(times(16, sendOn));
    return { ids, sent: Math.min(next, requests.length) };
  }

  const first = processes[0] as ServiceProcess;
  const { ids: acknowledged, sent } = await stream(first, orders, (count) => {
    if (count === 200) void first.kill();
  });
  await first.kill();
  expect(sent).toBeLessThan(orders.length);

  const kept = await readStoredOrders(test, partner);
  const keptIds = new Map(kept.map(({ externalOrderId, id }) => [externalOrderId, id]));
  expect(keptIds.size).toBe(kept.length);
  for (const [externalOrderId, id] of acknowledged) expect(keptIds.get(externalOrderId)).toBe(id);
  for (const order of kept) expect(order).toMatchObject({ lines: 2, events: ["order.created"] });

  const retried = await stream(await startProcess(databaseUrl), orders.slice(0, sent), () => undefined);
  expect(retried.ids.size).toBe(sent);
  for (const [externalOrderId, id] of keptIds) expect(retried.ids.get(externalOrderId ?? "")).toBe(id);
  const stored = await readStoredOrders(test, partner);
  expect(new Map(stored.map(({ externalOrderId, id }) => [externalOrderId, id]))).toEqual(retried.ids);
  expect(stored).toHaveLength(sent);
  for (const order of stored) expect(order).toMatchObject({ lines: 2, events: ["order.created"] });
});
