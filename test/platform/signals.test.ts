import { randomUUID } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import type { Database } from "../../src/platform/database/database.ts";
import { type ChangedOrder, type ChangedOrders, openSignalChannel } from "../../src/platform/signals.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("signals reach another process for more connections than one notification holds", async () => {
  const { db, context } = await startServiceForTest();
  const heard = new Set<string>();
  const stop = openSignalChannel(db, context.log, "listener").listen((_signal, connections) => {
    for (const { connectionId } of connections) heard.add(connectionId);
  });
  onTestFinished(stop);
  const sender = openSignalChannel(db, context.log, "sender");
  const connections = Array.from({ length: 250 }, () => ({
    merchantId: randomUUID(),
    connectionId: randomUUID(),
  }));
  // The listener may not listen yet, so the signal is repeated, as events repeat it.
  while (heard.size < connections.length) {
    sender.send("deliveries_due", connections);
    await db.query({ name: "test-round-trip", text: "select 1", values: [] });
  }
  expect(heard).toEqual(new Set(connections.map(({ connectionId }) => connectionId)));
});

it("a change of a key reaches another process", async () => {
  const { db, context } = await startServiceForTest();
  const heard = Promise.withResolvers<string>();
  const stop = openSignalChannel(db, context.log, "listener").listen((signal) => heard.resolve(signal));
  onTestFinished(stop);
  const sender = openSignalChannel(db, context.log, "sender");
  const connection = { merchantId: randomUUID(), connectionId: randomUUID() };
  let signal: string | null = null;
  void heard.promise.then((first) => {
    signal = first;
  });
  while (signal === null) {
    sender.send("keys_changed", [connection]);
    await db.query({ name: "test-round-trip", text: "select 1", values: [] });
  }
  expect(signal).toBe("keys_changed");
});

it("a change of a key is sent without a delay, which other signals have", async () => {
  const { db, context } = await startServiceForTest();
  const sent: string[] = [];
  const watched: Database = {
    ...db,
    query: (statement) => {
      sent.push(JSON.stringify(statement.values));
      return db.query(statement);
    },
  };
  const sender = openSignalChannel(watched, context.log, "sender");
  const connection = { merchantId: randomUUID(), connectionId: randomUUID() };
  sender.send("deliveries_due", [connection]);
  expect(sent).toEqual([]);
  sender.send("keys_changed", [connection]);
  expect(sent.at(-1)).toContain("keys_changed");
});

const changedOrders = (count: number, merchantIds: readonly string[]): ChangedOrder[] =>
  Array.from({ length: count }, (_, index) => ({
    merchantId: merchantIds[index % merchantIds.length] ?? "",
    connectionId: randomUUID(),
    id: randomUUID(),
    testMode: index % 2 === 0,
  }));

it("changed orders reach another process by name, and if they are too many, by their merchants", async () => {
  const { db, context } = await startServiceForTest();
  const listening = Promise.withResolvers<void>();
  const received: ChangedOrders[] = [];
  let next = Promise.withResolvers<void>();
  const stop = openSignalChannel(db, context.log, "listener").watch({
    onSignal: () => listening.resolve(),
    onOrders: (changed) => {
      received.push(changed);
      next.resolve();
    },
  });
  onTestFinished(stop);
  const sender = openSignalChannel(db, context.log, "sender");
  const untilListening = setInterval(
    () => sender.send("keys_changed", [{ merchantId: randomUUID(), connectionId: randomUUID() }]),
    10,
  );
  await listening.promise;
  clearInterval(untilListening);

  const merchantIds = Array.from({ length: 101 }, () => randomUUID());
  const [few, many] = [
    changedOrders(50, merchantIds.slice(0, 2)),
    changedOrders(101, merchantIds.slice(0, 100)),
  ];
  for (const orders of [few, many, changedOrders(101, merchantIds)]) {
    next = Promise.withResolvers();
    sender.sendOrders(orders);
    await next.promise;
  }
  expect(received).toEqual([
    { orders: few },
    { merchantIds: merchantIds.slice(0, 100) },
    { merchantIds: null },
  ]);
});
