import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../../src/platform/ids.ts";
import {
  badCursor,
  decodeCursor,
  encodeCursor,
  pagePosition,
  toPage,
  UUID_MAX,
  UUID_MIN,
} from "../../../src/platform/wire/cursor.ts";
import {
  decodeFeedCursor,
  decodeOrderCursor,
  encodeFeedCursor,
  encodeOrderCursor,
  FEED_START,
} from "../../../src/webhooks/events/feed-sql.ts";

const ID = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e5f";
const OTHER = "0196a3e1-8b0d-7c11-8d55-6f7a8b9c0d1e";
const CURSOR = encodeCursor("products", bytesOf(ID));
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const uuid = fc.uuid();

/** Every text that is one mistake away from a cursor. */
function mangled(cursor: string): string[] {
  const characters = [...cursor].flatMap((_, at) =>
    [...ALPHABET].map((other) => cursor.slice(0, at) + other + cursor.slice(at + 1)),
  );
  const cut = [...cursor].flatMap((_, at) => [cursor.slice(0, at), cursor.slice(at + 1)]);
  const added = [
    `${cursor}A`,
    `A${cursor}`,
    `${cursor}=`,
    `${cursor}==`,
    ` ${cursor}`,
    `${cursor} `,
    `${cursor}\n`,
  ];
  const other = [
    cursor + cursor,
    cursor.toLowerCase(),
    cursor.toUpperCase(),
    ID,
    "null",
    "0",
    "%",
    "🦊",
    "A".repeat(500),
  ];
  const flipped = Buffer.from(cursor, "base64url").toString("base64");
  return [...characters, ...cut, ...added, ...other, flipped].filter((text) => text !== cursor);
}

describe("the cursor of a list", () => {
  it("is the same text in every release, since clients keep it, in the letters of base64url", () => {
    expect(CURSOR).toBe("AZaj4Xwee1KfTjobLD1OX1a80Wk");
    expect(encodeCursor("orders", bytesOf(ID))).toBe("AZaj4Xwee1KfTjobLD1OXx5AtxI");
    expect(CURSOR).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it("contains the position that it was made from", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.string(), (bytes, list) => {
        const position = Buffer.from(bytes);
        expect(decodeCursor(list, encodeCursor(list, position))).toEqual(position);
      }),
    );
  });

  it("is not valid after any change", () => {
    for (const text of mangled(CURSOR)) expect(decodeCursor("products", text), text).toBeNull();
  });

  it("is not valid for another list", () => {
    for (const list of ["orders", "product", "productsx", "Products", ""])
      expect(decodeCursor(list, CURSOR), list).toBeNull();
  });

  it("is not an arbitrary text", () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(decodeCursor("products", text)).toBeNull()));
  });
});

describe("the position of a page", () => {
  it("begins before every id, or after every id", () => {
    expect(UUID_MIN).toBe("00000000-0000-0000-0000-000000000000");
    expect(UUID_MAX).toBe("ffffffff-ffff-ffff-ffff-ffffffffffff");
  });

  it("is the start of the list without a cursor", () => {
    expect(pagePosition("products", {})).toEqual({ list: "products", afterId: UUID_MIN, limit: 50 });
    expect(pagePosition("orders", { limit: 7 }, UUID_MAX)).toEqual({
      list: "orders",
      afterId: UUID_MAX,
      limit: 7,
    });
  });

  it("is after the id of its cursor", () => {
    fc.assert(
      fc.property(uuid, (id) => {
        const cursor = encodeCursor("orders", bytesOf(id));
        expect(pagePosition("orders", { cursor, limit: 3 }, UUID_MAX)).toEqual({
          list: "orders",
          afterId: id,
          limit: 3,
        });
      }),
    );
  });

  it.each<[string, string]>([
    ["of another list", encodeCursor("orders", bytesOf(ID))],
    ["of too few bytes", encodeCursor("products", bytesOf(ID).subarray(1))],
    ["of too many bytes", encodeCursor("products", Buffer.concat([bytesOf(ID), Buffer.alloc(1)]))],
    ["of no bytes", encodeCursor("products", Buffer.alloc(0))],
    ["of the feed", encodeFeedCursor(FEED_START)],
    ["that is empty", ""],
  ])("is a validation error for a cursor %s", (_, cursor) => {
    expect(pagePosition("products", { cursor })).toBe(badCursor);
  });

  it("the error names the parameter", () => {
    expect(badCursor).toMatchObject({
      code: "validation-failed",
      members: {
        errors: [{ parameter: "cursor", rule: "cursor", detail: "is not a valid cursor of this list" }],
      },
    });
  });
});

describe("a page", () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `0196a3e1-7c1e-7b52-9f4e-0000000000${10 + index}` }));
  const page = (count: number, limit: number) =>
    toPage(rows(count), { list: "products", afterId: UUID_MIN, limit }, ({ id }) => id);

  it.each<[string, number, number, number]>([
    ["no row", 0, 3, 0],
    ["fewer rows than the limit", 2, 3, 2],
    ["as many rows as the limit", 3, 3, 3],
  ])("of %s is the last one", (_, count, limit, shown) => {
    expect(page(count, limit)).toEqual({ data: rows(shown).map(({ id }) => id), nextCursor: null });
  });

  it("of one row more leaves it out, and its cursor continues after the last row shown", () => {
    const { data, nextCursor } = page(4, 3);
    expect(data).toEqual(rows(3).map(({ id }) => id));
    expect(pagePosition("products", { cursor: nextCursor ?? "" })).toMatchObject({ afterId: data[2] });
  });
});

describe("the cursor of the feed", () => {
  const place = { position: "1771923600000001", eventId: ID };
  const anyPlace = fc.record({ position: fc.bigInt(0n, 2n ** 63n - 1n).map(String), eventId: uuid });

  it("is the same text in every release, since readers keep it", () => {
    expect(encodeFeedCursor(place)).toBe("AAZLjhy_RAEBlqPhfB57Up9OOhssPU5fPKzoIA");
  });

  it("contains the place that it was made from", () => {
    for (const each of [FEED_START, place, { position: String(2n ** 63n - 1n), eventId: UUID_MAX }])
      expect(decodeFeedCursor(encodeFeedCursor(each))).toEqual(each);
    fc.assert(
      fc.property(anyPlace, (each) => void expect(decodeFeedCursor(encodeFeedCursor(each))).toEqual(each)),
    );
  });

  it("begins before every event", () => {
    expect(FEED_START).toEqual({ position: "0", eventId: UUID_MIN });
  });

  it("continues at the event of a cursor with a transaction id, from before positions were counted", () => {
    const old = "AAAAAR8Bi-YAAAAHAZaj4Xwee1KfTjobLD1OX__MPl8";
    expect(decodeFeedCursor(old)).toEqual({ position: "0", eventId: ID });
  });

  it("is not valid if it was changed, or is of another list or length, or has a position below 0", () => {
    for (const text of mangled(encodeFeedCursor(place))) expect(decodeFeedCursor(text), text).toBeNull();
    for (const bytes of [16, 23, 25, 27, 29])
      expect(decodeFeedCursor(encodeCursor("events", Buffer.alloc(bytes)))).toBeNull();
    for (const bytes of [16, 24, 28])
      expect(decodeFeedCursor(encodeCursor("orders", Buffer.alloc(bytes)))).toBeNull();
    expect(decodeFeedCursor(encodeCursor("events", Buffer.alloc(24, 255)))).toBeNull();
  });
});

describe("the cursor of an order's feed", () => {
  const place = { orderId: OTHER, sequence: 7, eventId: ID };

  it("contains the place that it was made from", () => {
    expect(decodeOrderCursor(encodeOrderCursor(place))).toEqual(place);
  });

  it("is not valid if it was changed, or is of another list or length", () => {
    for (const text of mangled(encodeOrderCursor(place))) expect(decodeOrderCursor(text), text).toBeNull();
    expect(decodeOrderCursor(encodeFeedCursor(FEED_START))).toBeNull();
    expect(decodeFeedCursor(encodeOrderCursor(place))).toBeNull();
    for (const bytes of [35, 37])
      expect(decodeOrderCursor(encodeCursor("events of an order", Buffer.alloc(bytes)))).toBeNull();
  });
});
