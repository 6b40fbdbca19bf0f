import { Writable } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { describeWithoutDatabase } from "../openapi/lint.ts";
import { createAnswerCheck } from "../support/answer-check.ts";
import { anAddress, anOrder, createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { readStoredOrders } from "../support/orders.ts";
import { exchange, listen, openConnection, type RawAnswer, requestText } from "../support/sockets.ts";
import { dumpTables } from "../support/tables.ts";
import { createDatabase, startTestService, type TestService } from "../support/test-service.ts";

/** A failing case is printed with its seed and path; put it among the examples by name once it is mended. */
const RUNS = { numRuns: 8000, interruptAfterTimeLimit: 25_000 };

let test: TestService;
let partner: Partner;
let url: string;
let app: ReturnType<typeof createPartnerApi>;
const metrics = createMetrics();
/** Lines of the listener's log at level warn and above. */
const logged: string[] = [];
const check = createAnswerCheck(describeWithoutDatabase() as Parameters<typeof createAnswerCheck>[0]);

beforeAll(async () => {
  test = await startTestService({ databaseUrl: await createDatabase() });
  partner = await createPartner(test);
  const lines = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  app = createPartnerApi({ ...test.service, log: createLog("warn", lines) }, metrics);
  url = await listen(app);
});
afterAll(async () => {
  await app.close();
  await test.close();
  expect(logged, "nothing that a client sends is a failure of the service").toEqual([]);
  expect(await metrics.registry.metrics()).not.toMatch(/status="5/);
});

type Headers = Record<string, string | string[]>;

const authorized = (): Headers => ({ authorization: `Bearer ${partner.key}` });
const authorizedJson = (): Headers => ({ ...authorized(), "content-type": "application/json" });

/** Sends a request as bytes; whatever it was, the answer is a described one, and no fault of the service. */
async function send(
  method: string,
  target: string,
  headers: Headers,
  body?: string | Buffer,
): Promise<RawAnswer> {
  const answer = await exchange(url, requestText(`${method} ${target} HTTP/1.1`, headers, body));
  expect(answer.status, answer.body).toBeLessThan(500);
  // What Node's parser refuses never reached a route; its problem names no path.
  const unread = answer.status === 400 && JSON.parse(answer.body).instance === "/";
  if (!unread) check(method, target, answer);
  return answer;
}

const postOrder = (body: string | Buffer, headers: Headers = {}) =>
  send("POST", "/v1/orders", { ...authorizedJson(), ...headers }, body);

/** Orders are stored for answers of 201 and for nothing else; the service goes on. */
async function expectStoredFor(work: () => Promise<RawAnswer[] | RawAnswer>): Promise<void> {
  const before = (await readStoredOrders(test, partner)).length;
  const answers = [await work()].flat();
  const created = answers.filter(({ status }) => status === 201).length;
  const stored = await readStoredOrders(test, partner);
  expect(stored.length - before).toBe(created);
  for (const { lines, events } of stored) {
    expect(lines).toBeGreaterThan(0);
    expect(events[0]).toBe("order.created");
  }
  expect((await send("GET", "/v1/me", authorized())).status).toBe(200);
}

/** Runs the property over all cases, and counts the orders at the end. */
async function fuzz<T>(arbitrary: fc.Arbitrary<T>, request: (value: T) => Promise<RawAnswer>): Promise<void> {
  await expectStoredFor(async () => {
    const answers: RawAnswer[] = [];
    await fc.assert(
      fc.asyncProperty(arbitrary, async (value) => {
        answers.push(await request(value));
      }),
      RUNS,
    );
    return answers;
  });
}

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

/** A place in a document: keys and indexes from its root. */
function placesIn(value: unknown, place: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [place];
  return [place, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...place, key]))];
}

/** A copy with another value at a place; without the place when the value is undefined. */
function changed(document: unknown, [key, ...rest]: (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  const copy = structuredClone(document) as Record<string | number, unknown>; // The place leads through objects.
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
        fc.constantFrom(...placesIn(document)),
        fc.oneof({ weight: 4, arbitrary: anything }, { weight: 1, arbitrary: fc.constant(undefined) }),
        fc.option(fc.constantFrom("__proto__", "constructor", "toString", "length", "unknown", "0", ""), {
          nil: null,
          freq: 3,
        }),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) =>
      changes.reduce<unknown>((current, [place, value, added]) => {
        try {
          return changed(current, added === null ? place : [...place, added], value);
        } catch {
          return current; // An earlier change has taken the place away.
        }
      }, document),
    );

const anyFullOrder = () =>
  anOrder(partner, {
    shippingAddress: anAddress({ address2: "x", company: "x", phone: "x", name: "x", stateCode: "x" }),
    testMode: true,
  });

describe("POST /v1/orders, whatever the body", () => {
  it("is arbitrary JSON", async () => {
    await fuzz(anything, (value) => postOrder(JSON.stringify(value) ?? "null"));
  });

  it("is a valid order with something changed, and what was taken is given back unchanged", async () => {
    await fuzz(
      fc.constant(null).chain(() => mutationsOf(anyFullOrder())),
      async (order) => {
        const text = JSON.stringify(order) ?? "";
        const answer = await postOrder(text, { "idempotency-key": crypto.randomUUID() });
        if (answer.status === 201) {
          const { id } = JSON.parse(answer.body);
          const { body } = await send("GET", `/v1/orders/${id}`, authorized());
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
    await fuzz(
      fc.record({
        at: fc.nat(text.length),
        cut: fc.nat(5),
        put: fc.oneof(
          fc.string({ unit: "binary", maxLength: 5 }),
          fc.constantFrom("{", "}", '"', ",", "\\", "\\u0000"),
        ),
      }),
      ({ at, cut, put }) =>
        postOrder(text.slice(0, at) + put + text.slice(at + cut), { "idempotency-key": crypto.randomUUID() }),
    );
  });

  it("is arbitrary bytes", async () => {
    await fuzz(fc.uint8Array({ maxLength: 500 }), (bytes) => postOrder(Buffer.from(bytes)));
  });
});

describe("POST /v1/test/orders/{orderId}/transitions, whatever the body", () => {
  it("is a valid transition with something changed", async () => {
    const order = await placeTestOrder(partner);
    const valid = {
      transition: "hold",
      reasons: ["out_of_stock"],
      lineIds: ["line_01m7y7np16fe68bxp4h91tdmdn"],
      shipmentId: "shp_01m7y7np16fe68bxp4h91tdmdn",
    };
    await fuzz(
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
        send(
          "POST",
          `/v1/test/orders/${order.id}/transitions`,
          authorizedJson(),
          JSON.stringify(value) ?? "",
        ),
    );
  });
});

/** The bytes that may stand in a header's value, and a few that may not. */
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

describe("header fields, whatever they hold", () => {
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
    await fuzz(fc.tuple(fc.constantFrom(...names), headerValue), ([name, value]) => {
      const { externalOrderId: _, ...order } = anOrder(partner);
      return postOrder(JSON.stringify(order), { "idempotency-key": crypto.randomUUID(), [name]: value });
    });
  });

  it("they are sent more than once", async () => {
    const twice = fc.tuple(fc.constantFrom(...names, "host", "content-length"), headerValue, headerValue);
    await fuzz(twice, ([name, ...values]) => send("GET", "/v1/me", { ...authorized(), [name]: values }));
  });

  it("their names are arbitrary", async () => {
    const name = fc.string({
      unit: fc.constantFrom(..."!#$%&'*+-.^_`|~09azAZ"),
      minLength: 1,
      maxLength: 30,
    });
    await fuzz(fc.tuple(name, headerValue), ([field, value]) =>
      send("GET", "/v1/me", { ...authorized(), [`x-${field}`]: value }),
    );
  });
});

describe("paths, whatever they hold", () => {
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
    await fuzz(fc.tuple(method, path), ([name, target]) =>
      send(name, target, authorizedJson(), name === "POST" ? '{"transition":"accept"}' : undefined),
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
    await fuzz(query, (text) => send("GET", `/v1/products?${text}`, authorized()));
  });
});

describe("cases that hurt", () => {
  const orderText = (fields: string) =>
    `${JSON.stringify({ ...anOrder(partner), externalOrderId: crypto.randomUUID() }).slice(0, -1)},${fields}}`;

  it.each<[name: string, fields: string]>([
    ["__proto__", '"__proto__":{"testMode":true}'],
    ["constructor.prototype", '"constructor":{"prototype":{"testMode":true}}'],
    ["the names of methods", '"toString":1,"hasOwnProperty":2,"valueOf":3'],
    ["100 000 brackets", `"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["30 000 objects in one another", `"deep":${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}`],
    ["a very large number", '"large":1e400'],
    ["20 000 members", Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(",")],
    ["NUL and lone surrogates", '"\\u0000":"\\ud800"'],
  ])("unknown fields are ignored, also %s", async (_name, fields) => {
    const { status, body } = await postOrder(orderText(fields));
    expect(status, body).toBe(201);
    expect(JSON.parse(body).testMode).toBe(false);
  });

  it("a field that is inherited is not one that was sent", async () => {
    const { firstName, ...address } = anAddress();
    const text = JSON.stringify(anOrder(partner, { shippingAddress: address })).replace(
      '"shippingAddress":{',
      `"shippingAddress":{"__proto__":{"firstName":"${firstName}"},`,
    );
    const { status, body } = await postOrder(text);
    expect(status).toBe(422);
    expect(JSON.parse(body).errors).toMatchObject([{ pointer: "/shippingAddress/firstName" }]);
  });

  it.each([
    "1e400",
    "-1e400",
    "1e308",
    "9007199254740993",
    "2147483648",
    "100001",
    "1.5",
    "-1",
    "0",
    "-0",
    '"1"',
    "[1]",
  ])("a quantity of %s is refused with 422", async (quantity) => {
    const text = JSON.stringify(anOrder(partner)).replace('"quantity":1', `"quantity":${quantity}`);
    const { status, body } = await postOrder(text);
    expect(status, body).toBe(422);
    expect(JSON.parse(body).errors).toMatchObject([{ pointer: "/lines/0/quantity" }]);
  });

  it.each(["1.0", "1e0", "10e-1"])("a quantity of %s is 1", async (quantity) => {
    const text = JSON.stringify(anOrder(partner)).replace('"quantity":1', `"quantity":${quantity}`);
    const { status, body } = await postOrder(text);
    expect(status, body).toBe(201);
    expect(JSON.parse(body).lines[0].quantity).toBe(1);
  });

  it("of a member sent twice the last one counts, as JSON parsers do", async () => {
    const text = orderText('"testMode":false,"testMode":true');
    expect(JSON.parse((await postOrder(text)).body).testMode).toBe(true);
  });

  it("a body with very many faults is answered with some of them", async () => {
    const text = JSON.stringify({ lines: Array.from({ length: 20_000 }, () => ({})) });
    const { status, body } = await postOrder(text);
    expect(status).toBe(422);
    expect(JSON.parse(body).errors.length).toBeLessThanOrEqual(500);
  });

  it("a key of bytes beyond ASCII is a key: it replays", async () => {
    const order = JSON.stringify(anOrder(partner));
    const headers = { "idempotency-key": "\u00ff\u0080 \u00e9" };
    const first = await postOrder(order, headers);
    const second = await postOrder(order, headers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(JSON.parse(second.body).id).toBe(JSON.parse(first.body).id);
  });

  it.each(["Infinity", "-Infinity", "1e400", "%E2%88%9E"])(
    "a limit of %s is refused with 422",
    async (limit) => {
      expect((await send("GET", `/v1/products?limit=${limit}`, authorized())).status).toBe(422);
    },
  );

  it.each([
    "%00",
    "%0A",
    "%FF",
    "%F0%9F%98%80",
    "%C3%A9",
    "%E2%80%AE",
    "%25",
    "%2F",
    "..",
    "%2e%2e",
    "%EF%BF%BF",
  ])("an order named %s is not there", async (id) => {
    for (const [method, path] of [
      ["GET", `/v1/orders/${id}`],
      ["POST", `/v1/orders/${id}/cancel`],
      ["POST", `/v1/test/orders/${id}/transitions`],
    ] as const)
      expect((await send(method, path, authorizedJson(), '{"transition":"accept"}')).status).toBe(404);
  });

  it("requests that are sent without waiting are answered in their order", async () => {
    const connection = await openConnection(url);
    const paths = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 0 ? "/v1/me" : `/v1/nothing-${index}`,
    );
    connection.send(Buffer.concat(paths.map((path) => requestText(`GET ${path} HTTP/1.1`, authorized()))));
    for (const path of paths) {
      const { status, body } = await connection.answer();
      if (path === "/v1/me") expect(status).toBe(200);
      else expect(JSON.parse(body).instance).toBe(path);
    }
    connection.close();
  });
});

describe("a client that hangs up", () => {
  const head = (body: string) =>
    requestText("POST /v1/orders HTTP/1.1", {
      ...authorizedJson(),
      "content-length": String(Buffer.byteLength(body)),
      expect: "100-continue",
    });

  /** A connection whose request the service has in hand: it has asked for the body. */
  async function beginOrder(body: string) {
    const connection = await openConnection(url);
    connection.send(head(body));
    await new Promise((resolve) => connection.socket.once("data", resolve));
    return connection;
  }

  it("in the middle of the header leaves nothing behind", async () => {
    await expectStoredFor(async () => {
      for (const bytes of ["", "P", "POST /v1/or", "POST /v1/orders HTTP/1.1\r\nhost: a\r\nauth"]) {
        const connection = await openConnection(url);
        connection.send(bytes);
        connection.close();
      }
      return [];
    });
  });

  it("in the middle of the body leaves nothing behind, and is no failure of the service", async () => {
    const before = await dumpTables(test);
    const body = JSON.stringify(anOrder(partner));
    for (const length of [0, 1, body.length / 2, body.length - 1]) {
      const connection = await beginOrder(body);
      connection.send(body.slice(0, length));
      connection.socket.resetAndDestroy();
    }
    const idle = () =>
      new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await vi.waitFor(async () => expect(await idle()).toBe(0), { timeout: 20_000, interval: 20 });
    expect(await dumpTables(test)).toEqual(before);
    expect((await postOrder(body)).status, "the same order, sent whole").toBe(201);
  });

  it("after the body and before the answer has placed its order: a retry replays it", async () => {
    const order = anOrder(partner);
    const body = JSON.stringify(order);
    const count = (await readStoredOrders(test, partner)).length;
    await test.db.transaction(async (tx) => {
      // Nobody can write an order until this transaction ends, so there is no answer yet.
      await tx.query({ name: "test-lock-orders", text: "lock table orders in share mode", values: [] });
      const connection = await beginOrder(body);
      connection.send(body);
      await vi.waitFor(
        async () => {
          const waiting = await test.db.query({
            name: "test-waiting",
            text: "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            values: [],
          });
          expect(waiting).toHaveLength(1);
        },
        { timeout: 20_000, interval: 20 },
      );
      connection.socket.resetAndDestroy();
    });
    await vi.waitFor(async () => expect(await readStoredOrders(test, partner)).toHaveLength(count + 1), {
      timeout: 20_000,
      interval: 20,
    });
    const retry = await postOrder(body);
    expect(retry.status).toBe(200);
    expect(retry.headers["idempotent-replayed"]).toBe("true");
    expect(await readStoredOrders(test, partner)).toHaveLength(count + 1);
  });
});
