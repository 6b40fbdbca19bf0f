import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { untilBlocked } from "../../support/blocked.ts";
import { anOrder } from "../../support/builders.ts";
import { readStoredOrders } from "../../support/orders.ts";
import { openConnection, requestText } from "../../support/sockets.ts";
import { dumpTables } from "../../support/tables.ts";
import { startWatchedListener, type WatchedListener } from "../../support/watched-listener.ts";

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

describe("a client that closes its side after its requests, and reads on", () => {
  /** Everything that the service sends until it closes its side too. */
  async function sendAndClose(bytes: Buffer, during: () => Promise<unknown> = async () => undefined) {
    const connection = await openConnection(wire.url);
    connection.socket.end(bytes);
    await during();
    return connection.closed();
  }
  const newOrder = (fields: object = {}) =>
    requestText(
      "POST /v1/orders HTTP/1.1",
      wire.authorizedJson(),
      JSON.stringify(anOrder(wire.partner, fields)),
    );

  it("gets the response, and the connection is closed after it", async () => {
    await wire.expectStoredFor(async () => {
      const text = await sendAndClose(newOrder());
      expect(text).toMatch(/^HTTP\/1\.1 201 /);
      return [{ status: 201, statusLine: "", headers: {}, body: text }];
    });
  });

  it("gets all responses, in their order", async () => {
    const ids = ["first", "second", "third"];
    const text = await sendAndClose(
      Buffer.concat(ids.map((externalOrderId) => newOrder({ externalOrderId }))),
    );
    expect([...text.matchAll(/"externalOrderId":"(\w+)"/g)].map(([, id]) => id)).toEqual(ids);
  });

  it("gets a response that begins after the end of its side", async () => {
    let text: Promise<string> | undefined;
    await wire.test.db.transaction(async (tx) => {
      await tx.query({ name: "test-lock-orders", text: "lock table orders in share mode", values: [] });
      const ended = new Promise((resolve) =>
        wire.app.server.once("connection", (socket) => socket.once("end", resolve)),
      );
      text = sendAndClose(newOrder());
      await Promise.all([ended, untilBlocked(wire.test, 1)]);
    });
    expect(await text).toMatch(/^HTTP\/1\.1 201 /);
  });

  it("gets a problem for a request that is not complete, which places nothing", async () => {
    await wire.expectStoredFor(async () => {
      const text = await sendAndClose(newOrder().subarray(0, -1));
      expect(text).toMatch(/^HTTP\/1\.1 400 .*malformed-request/s);
      return [];
    });
  });

  it("before it has sent anything, or after its last response, leaves no connection behind", async () => {
    const connection = await openConnection(wire.url);
    connection.send(requestText("GET /v1/me HTTP/1.1", wire.authorized()));
    expect((await connection.answer()).status).toBe(200);
    connection.socket.end();
    expect(await connection.closed()).toBe("");
    expect(await sendAndClose(Buffer.alloc(0))).toBe("");
  });
});
