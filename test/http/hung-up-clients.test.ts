import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import { anOrder } from "../support/builders.ts";
import { readStoredOrders } from "../support/orders.ts";
import { openConnection, requestText } from "../support/sockets.ts";
import { dumpTables } from "../support/tables.ts";
import { startWatchedListener, type WatchedListener } from "../support/watched-listener.ts";

let wire: WatchedListener;
beforeAll(async () => {
  wire = await startWatchedListener();
});
afterAll(() => wire.close());

/** Longer than anything takes on a busy machine. */
const PATIENCE = { timeout: 20_000, interval: 20 };

describe("a client that hangs up", () => {
  const head = (body: string) =>
    requestText("POST /v1/orders HTTP/1.1", {
      ...wire.authorizedJson(),
      "content-length": String(Buffer.byteLength(body)),
      expect: "100-continue",
    });

  /** A connection whose request the service is handling: it has requested the body. */
  async function beginOrder(body: string) {
    const connection = await openConnection(wire.url);
    connection.send(head(body));
    await new Promise((resolve) => connection.socket.once("data", resolve));
    return connection;
  }

  it("in the middle of the header leaves nothing behind", async () => {
    await wire.expectStoredFor(async () => {
      for (const bytes of ["", "P", "POST /v1/or", "POST /v1/orders HTTP/1.1\r\nhost: a\r\nauth"]) {
        const connection = await openConnection(wire.url);
        connection.send(bytes);
        connection.close();
      }
      return [];
    });
  });

  it("in the middle of the body leaves nothing behind, and is no failure of the service", async () => {
    const before = await dumpTables(wire.test);
    const body = JSON.stringify(anOrder(wire.partner));
    for (const length of [0, 1, body.length / 2, body.length - 1]) {
      const connection = await beginOrder(body);
      connection.send(body.slice(0, length));
      connection.socket.resetAndDestroy();
    }
    const idle = () =>
      new Promise<number>((resolve) => wire.app.server.getConnections((_error, count) => resolve(count)));
    await vi.waitFor(async () => expect(await idle()).toBe(0), PATIENCE);
    expect(await dumpTables(wire.test)).toEqual(before);
    expect((await wire.postOrder(body)).status, "the same order, sent whole").toBe(201);
  });

  it("after the body and before the response has placed its order: a retry replays it", async () => {
    const order = anOrder(wire.partner);
    const body = JSON.stringify(order);
    const count = (await readStoredOrders(wire.test, wire.partner)).length;
    await wire.test.db.transaction(async (tx) => {
      // No order can be written until this transaction ends, so there is no response yet.
      await tx.query({ name: "test-lock-orders", text: "lock table orders in share mode", values: [] });
      const connection = await beginOrder(body);
      connection.send(body);
      await untilBlocked(wire.test, 1);
      connection.socket.resetAndDestroy();
    });
    await vi.waitFor(
      async () => expect(await readStoredOrders(wire.test, wire.partner)).toHaveLength(count + 1),
      PATIENCE,
    );
    const retry = await wire.postOrder(body);
    expect(retry.status).toBe(200);
    expect(retry.headers["idempotent-replayed"]).toBe("true");
    expect(await readStoredOrders(wire.test, wire.partner)).toHaveLength(count + 1);
  });
});

it("a client that closes its side after its last response leaves no connection behind", async () => {
  const connection = await openConnection(wire.url);
  connection.send(requestText("GET /v1/me HTTP/1.1", wire.authorized()));
  expect((await connection.answer()).status).toBe(200);
  connection.socket.end();
  expect(await connection.closed()).toBe("");
});
