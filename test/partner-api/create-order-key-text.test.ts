import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder } from "../support/builders.ts";
import { readStoredOrders } from "../support/orders.ts";
import { aTestOrder, testOrdersPath } from "../support/test-orders.ts";
import { startWatchedListener, type WatchedListener } from "../support/watched-listener.ts";

let wire: WatchedListener;
beforeAll(async () => {
  wire = await startWatchedListener();
});
afterAll(() => wire.close());

/** Each character is sent as one byte. */
const keyOf = (bytes: string) => ({ "idempotency-key": bytes });
const inUtf8 = (key: string) => keyOf(Buffer.from(key, "utf8").toString("latin1"));
const bodyOf = (externalOrderId?: string) => JSON.stringify(anOrder(wire.partner, { externalOrderId }));
const post = async (body: string, headers: Record<string, string> = {}) => {
  const answer = await wire.postOrder(body, headers);
  return { status: answer.status, body: JSON.parse(answer.body) };
};
const storedUnder = async (id: string) =>
  (await readStoredOrders(wire.test, wire.partner)).find((order) => order.id === id)?.idempotencyKey;

describe("POST /v1/orders, an Idempotency-Key beyond ASCII", () => {
  it.each(["ü", "注", "😀"])("may have 255 characters, also such as %s", async (character) => {
    const key = character.repeat(255);
    const body = bodyOf();
    const first = await post(body, inUtf8(key));
    const second = await post(body, inUtf8(key));
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await storedUnder(first.body.id)).toBe(key);
  });

  it("is rejected with 256 characters", async () => {
    const { status, body } = await post(bodyOf(), inUtf8("ü".repeat(256)));
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { header: "idempotency-key", rule: "max_length", max: 255, detail: "must have at most 255 characters" },
    ]);
  });

  it("is the same key as an equal externalOrderId, whichever is sent first", async () => {
    const orders = [bodyOf("bestellung-ü"), bodyOf("注文-1")] as const;
    const firsts = [await post(orders[0]), await post(orders[1], inUtf8("注文-1"))];
    const seconds = [await post(orders[0], inUtf8("bestellung-ü")), await post(orders[1])];
    expect(firsts.map(({ status }) => status)).toEqual([201, 201]);
    expect(seconds.map(({ status }) => status)).toEqual([200, 200]);
    expect(seconds.map(({ body }) => body.id)).toEqual(firsts.map(({ body }) => body.id));
  });

  it("has one character for each byte if it is not UTF-8, as clients send it that write Latin-1", async () => {
    const body = bodyOf("grün");
    const first = await post(body);
    const second = await post(body, keyOf("gr\u00fcn"));
    expect([first.status, second.status]).toEqual([201, 200]);
  });

  it.each([
    ["an encoded surrogate", "\u00ed\u00a0\u0080"],
    ["an overlong NUL", "\u00c0\u0080"],
    ["a character that is cut off", "a\u00c3"],
    ["UTF-8 beside another byte", "\u00c3\u00bc\u00fc"],
  ])("is not UTF-8 with %s", async (_name, bytes) => {
    const { status, body } = await post(bodyOf(), keyOf(bytes));
    expect(status).toBe(201);
    expect(await storedUnder(body.id)).toBe(bytes);
  });

  it("is another key with a byte order mark", async () => {
    const first = await post(bodyOf(), inUtf8("é"));
    const second = await post(bodyOf(), inUtf8("\ufeffé"));
    expect([first.status, second.status]).toEqual([201, 201]);
  });
});

describe("POST /api/connections/{id}/test-orders, an Idempotency-Key beyond ASCII", () => {
  it("is the key of the partner", async () => {
    const order = aTestOrder(wire.partner);
    const { backOffice } = wire.test;
    const first = await backOffice.post(testOrdersPath(wire.partner), order, { headers: inUtf8("später") });
    const second = await post(JSON.stringify({ ...order, testMode: true }), inUtf8("später"));
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await storedUnder(second.body.id)).toBe("später");
  });
});
