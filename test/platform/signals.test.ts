import { randomUUID } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { openSignalChannel } from "../../src/platform/signals.ts";
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
