import { randomUUID } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { type Database, isOutOfReach, openDatabase } from "../../../../src/platform/database/database.ts";
import { createLog } from "../../../../src/platform/log.ts";
import { openSignalChannel } from "../../../../src/platform/signals.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../support/database-proxy.ts";
import { createDatabase } from "../../../support/test-service.ts";

// In each test, an error that no code handles would fail the run, as it would end the service.

const SELECT = { name: "one", text: "select 1 as one", values: [] };
/** How the server says that it can be used. */
const READY = Buffer.from("Z\0\0\0\x05I", "latin1");
const FATAL_FIELDS = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
const FATAL = Buffer.concat([
  Buffer.from("E"),
  bigEndian(FATAL_FIELDS.length + 4),
  Buffer.from(FATAL_FIELDS),
]);

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function open({ url, close }: DatabaseProxy, statementTimeoutMs?: number) {
  const limit = statementTimeoutMs === undefined ? {} : { statementTimeoutMs };
  const db = openDatabase({ url, connectionsMax: 2, onIdleError: () => undefined, ...limit });
  onTestFinished(async () => {
    await db.close();
    await close();
  });
  return db;
}

it("a session that the server ends together with its opening fails only the transaction that has it", async () => {
  let ended = 0;
  const proxy = await startDatabaseProxy(await createDatabase(), {
    toClient(data) {
      if (ended > 0 || !data.subarray(-READY.length).equals(READY)) return data;
      ended += 1;
      return Buffer.concat([data, FATAL]);
    },
  });
  const db = open(proxy);
  await expect(db.transaction((tx) => tx.query(SELECT))).rejects.toSatisfy(isOutOfReach);
  expect(ended).toBe(1);
  expect(await db.transaction((tx) => tx.query(SELECT))).toEqual([{ one: 1 }]);
});

it("a session that is lost while it begins to listen for signals is replaced by another", async () => {
  let broken = 0;
  const realUrl = await createDatabase();
  const proxy = await startDatabaseProxy(realUrl, {
    toDatabase(data) {
      if (broken > 0 || !data.includes("listen ")) return data;
      broken += 1;
      return null;
    },
  });
  const [db, other] = [open(proxy), open(await startDatabaseProxy(realUrl))];
  const log = createLog("silent");
  let isHeard = false;
  const stop = openSignalChannel(db, log, "listener").listen(() => {
    isHeard = true;
  });
  onTestFinished(stop);
  const sender = openSignalChannel(other, log, "sender");
  // Until the listener has a session again.
  while (!isHeard) {
    sender.send("keys_changed", [{ merchantId: randomUUID(), connectionId: randomUUID() }]);
    await other.query(SELECT);
  }
  expect(broken).toBe(1);
});

it.each<[string, (db: Database) => Promise<unknown>]>([
  ["a statement", (db) => db.query(SELECT)],
  ["a transaction", (db) => db.transaction((tx) => tx.query(SELECT))],
  ["a script", (db) => db.runScript("select 1")],
  ["a session of its own", (db) => db.withClient((client) => client.query("select 1"))],
])("%s ends if the server does not respond, and its session is not used again", async (_what, run) => {
  const proxy = await startDatabaseProxy(await createDatabase());
  const db = open(proxy, 500);
  await db.query(SELECT); // Opens the session.
  proxy.loseResponses();
  await expect(run(db)).rejects.toSatisfy(isOutOfReach);
  expect(await db.query(SELECT)).toEqual([{ one: 1 }]);
});

it("an error of a statement leads to its caller", async () => {
  const db = open(await startDatabaseProxy(await createDatabase()));
  const callWrongly = () => db.transaction((tx) => tx.query({ ...SELECT, text: "select 1 / 0" }));
  const error = await callWrongly().catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: "22012", stack: expect.stringContaining("ended-sessions.test.ts") });
});
