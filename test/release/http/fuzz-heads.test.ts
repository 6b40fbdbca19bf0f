import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { anOrder } from "../../support/builders.ts";
import { startWatchedListener, type WatchedListener } from "../../support/watched-listener.ts";

let wire: WatchedListener;
beforeAll(async () => {
  wire = await startWatchedListener();
});
afterAll(() => wire.close());

/** The bytes that may be in a header's value, and a few that may not. */
const headerValue = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 300,
  }),
  fc.string({
    unit: fc
      .integer({ min: 0, max: 0xff })
      .filter((code) => code !== 0x0a && code !== 0x0d)
      .map((code) => String.fromCharCode(code)),
    maxLength: 20,
  }),
  fc.constantFrom("", " ", ",", "a, b", '"', "Bearer", "Bearer ", "\u00ff".repeat(255), "x".repeat(256)),
);

describe("header fields with any content", () => {
  const names = [
    "idempotency-key",
    "authorization",
    "x-api-key",
    "content-type",
    "x-request-id",
    "accept",
    "expect",
  ];

  it("one of them is arbitrary", async () => {
    await wire.fuzz(fc.tuple(fc.constantFrom(...names), headerValue), ([name, value]) => {
      const { externalOrderId: _, ...order } = anOrder(wire.partner);
      return wire.postOrder(JSON.stringify(order), { "idempotency-key": crypto.randomUUID(), [name]: value });
    });
  });

  it("they are sent more than once", async () => {
    const twice = fc.tuple(fc.constantFrom(...names, "host", "content-length"), headerValue, headerValue);
    await wire.fuzz(twice, ([name, ...values]) =>
      wire.send("GET", "/v1/me", { ...wire.authorized(), [name]: values }),
    );
  });

  it("their names are arbitrary", async () => {
    const name = fc.string({
      unit: fc.constantFrom(..."!#$%&'*+-.^_`|~09azAZ"),
      minLength: 1,
      maxLength: 30,
    });
    await wire.fuzz(fc.tuple(name, headerValue), ([field, value]) =>
      wire.send("GET", "/v1/me", { ...wire.authorized(), [`x-${field}`]: value }),
    );
  });
});

describe("paths with any content", () => {
  const percentEncoded = fc
    .integer({ min: 0, max: 255 })
    .map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
  const segment = fc.oneof(
    fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 250 })
      .filter((text) => text.isWellFormed())
      .map(encodeURIComponent),
    fc.string({ unit: fc.constantFrom(..."abz09-._~!$&'()*+,;=:@%\\|^[]{}<>\""), maxLength: 20 }),
    fc.array(percentEncoded, { maxLength: 220 }).map((bytes) => bytes.join("")),
    fc.constantFrom(
      "",
      ".",
      "..",
      "%2e%2e",
      "orders",
      "me",
      "products",
      "x".repeat(200),
      "x".repeat(201),
      "%00",
    ),
  );
  const path = fc.oneof(
    fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`),
    segment.map((text) => `/v1/orders/${text}`),
    segment.map((text) => `/v1/products/${text}`),
    segment.map((text) => `/v1/orders/${text}/cancel`),
    segment.map((text) => `/v1/test/orders/${text}/transitions`),
  );
  const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

  it("are arbitrary, with any method", async () => {
    await wire.fuzz(fc.tuple(method, path), ([name, target]) =>
      wire.send(name, target, wire.authorizedJson(), name === "POST" ? '{"transition":"accept"}' : undefined),
    );
  });

  it("have an arbitrary query", async () => {
    const query = fc.oneof(
      fc.webQueryParameters(),
      fc
        .array(fc.tuple(fc.constantFrom("limit", "cursor", "sku", "__proto__", "x"), segment), {
          maxLength: 4,
        })
        .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&")),
    );
    await wire.fuzz(query, (text) => wire.send("GET", `/v1/products?${text}`, wire.authorized()));
  });
});
