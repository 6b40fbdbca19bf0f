import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anAddress, anOrder, placeTestOrder } from "../support/builders.ts";
import { startWatchedListener, type WatchedListener } from "../support/watched-listener.ts";

let wire: WatchedListener;
beforeAll(async () => {
  wire = await startWatchedListener();
});
afterAll(() => wire.close());

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    -1,
    1.5,
    1e308,
    2 ** 31,
    2 ** 53 + 2,
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udc00x",
    "\ufeff",
    "\u202e",
    "x".repeat(255),
    "x".repeat(256),
    "\u{1f600}".repeat(200),
    [],
    {},
    [[]],
    [null],
  ),
);

/** A path in a document: keys and indexes from its root. */
function pathsIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key]))];
}

/** A copy with another value at a path; without it when the value is undefined. */
function changed(document: unknown, [key, ...rest]: (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  const copy = structuredClone(document) as Record<string | number, unknown>; // The path leads through objects.
  const part = changed(copy[key], rest, value);
  if (part === undefined) delete copy[key];
  // Defined and not assigned, so that `__proto__` becomes a member as well; an array's length is none in JSON.
  else if (!(Array.isArray(copy) && key === "length"))
    Object.defineProperty(copy, key, { value: part, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** Up to three changes of a document: values replaced, taken away or added. */
const mutationsOf = (document: object): fc.Arbitrary<unknown> =>
  fc
    .array(
      fc.tuple(
        fc.constantFrom(...pathsIn(document)),
        fc.oneof({ weight: 4, arbitrary: anything }, { weight: 1, arbitrary: fc.constant(undefined) }),
        fc.option(fc.constantFrom("__proto__", "constructor", "toString", "length", "unknown", "0", ""), {
          nil: null,
          freq: 3,
        }),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) =>
      changes.reduce<unknown>((current, [path, value, added]) => {
        try {
          return changed(current, added === null ? path : [...path, added], value);
        } catch {
          return current; // An earlier change has removed the path.
        }
      }, document),
    );

const anyFullOrder = () =>
  anOrder(wire.partner, {
    shippingAddress: anAddress({ address2: "x", company: "x", phone: "x", name: "x", stateCode: "x" }),
    testMode: true,
  });

describe("POST /v1/orders with any body", () => {
  it("is arbitrary JSON", async () => {
    await wire.fuzz(anything, (value) => wire.postOrder(JSON.stringify(value) ?? "null"));
  });

  it("is a valid order with something changed, and what was taken is given back unchanged", async () => {
    await wire.fuzz(
      fc.constant(null).chain(() => mutationsOf(anyFullOrder())),
      async (order) => {
        const text = JSON.stringify(order) ?? "";
        const answer = await wire.postOrder(text, { "idempotency-key": crypto.randomUUID() });
        if (answer.status === 201) {
          const { id } = JSON.parse(answer.body);
          const { body } = await wire.send("GET", `/v1/orders/${id}`, wire.authorized());
          // biome-ignore lint/suspicious/noExplicitAny: it was a valid order.
          const sent = JSON.parse(text) as any;
          const { shippingAddress } = JSON.parse(body);
          for (const field of ["firstName", "lastName", "address1", "city", "zip"])
            expect(shippingAddress[field]).toBe(sent.shippingAddress[field]);
        }
        return answer;
      },
    );
  });

  it("is JSON text with a piece cut out or put in", async () => {
    const text = JSON.stringify(anyFullOrder());
    await wire.fuzz(
      fc.record({
        at: fc.nat(text.length),
        cut: fc.nat(5),
        put: fc.oneof(
          fc.string({ unit: "binary", maxLength: 5 }),
          fc.constantFrom("{", "}", '"', ",", "\\", "\\u0000"),
        ),
      }),
      ({ at, cut, put }) =>
        wire.postOrder(text.slice(0, at) + put + text.slice(at + cut), {
          "idempotency-key": crypto.randomUUID(),
        }),
    );
  });

  it("is arbitrary bytes", async () => {
    await wire.fuzz(fc.uint8Array({ maxLength: 500 }), (bytes) => wire.postOrder(Buffer.from(bytes)));
  });
});

describe("POST /v1/test/orders/{orderId}/transitions with any body", () => {
  it("is a valid transition with something changed", async () => {
    const order = await placeTestOrder(wire.partner);
    const valid = {
      transition: "hold",
      reasons: ["out_of_stock"],
      lineIds: ["line_01m7y7np16fe68bxp4h91tdmdn"],
      shipmentId: "shp_01m7y7np16fe68bxp4h91tdmdn",
    };
    await wire.fuzz(
      fc.oneof(
        anything,
        fc
          .constantFrom(
            "process",
            "accept",
            "hold",
            "releaseHold",
            "ship",
            "returnShipment",
            "complete",
            "cancel",
          )
          .chain((transition) => mutationsOf({ ...valid, transition })),
      ),
      (value) =>
        wire.send(
          "POST",
          `/v1/test/orders/${order.id}/transitions`,
          wire.authorizedJson(),
          JSON.stringify(value) ?? "",
        ),
    );
  });
});
