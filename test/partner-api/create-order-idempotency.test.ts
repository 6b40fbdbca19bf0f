import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, anOrder, createKey, createPartner, type Partner } from "../support/builders.ts";
import { sendOrder, UNKNOWN_PRODUCT } from "../support/order-requests.ts";
import {
  cancelOrder,
  expectNothingHappened,
  expectProblem,
  readOrder,
  readStoredOrders,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const send = (request: object, key?: string | string[], by = partner) => sendOrder(by, request, key);

type Request = ReturnType<typeof anOrder>;
/** What is changed in a request, and the change. */
type Change = [string, (request: Request) => object];
/** The same, and the members that differ then. */
type Difference = [...Change, ...pointers: string[]];

const withoutExternalId = (fields: object = {}) =>
  anOrder(partner, { externalOrderId: undefined, ...fields });

describe("POST /v1/orders, rule 1: a request that already succeeded", () => {
  it.each([
    ["externalOrderId alone", undefined, "shop-1"],
    ["the Idempotency-Key header alone", "key-1", undefined],
    ["both", "key-1", "shop-1"],
  ])("is replayed with 200, and creates no second order, with %s", async (_, key, externalOrderId) => {
    const request = anOrder(partner, { externalOrderId });
    const first = await send(request, key);
    const second = await send(request, key);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect(second.body).toEqual(first.body);
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { id: first.body.id, events: ["order.created"] },
    ]);
  });

  it("returns the order as it is now: canceled", async () => {
    const request = anOrder(partner);
    const { body: created } = await send(request);
    await cancelOrder(partner, created.id);
    const replay = await send(request);
    expect(replay.status).toBe(200);
    expect(replay.body).toEqual({ ...created, status: "CANCELED" });
  });

  it("returns the order as it is now: accepted by its deadline, before any worker has run", async () => {
    const request = anOrder(partner);
    const { body: created } = await send(request);
    test.clock.advance({ hours: 2 });
    expect((await send(request)).body).toEqual({ ...created, status: "ACCEPTED" });
  });

  it("returns the order as it is now: a test order that was moved", async () => {
    const request = anOrder(partner, { testMode: true });
    const { body: created } = await send(request);
    await applied(partner, created.id, "ship");
    expect((await send(request)).body).toEqual({ ...created, status: "IN_PROGRESS" });
  });

  it("is replayed even when its product has been discontinued or withdrawn since", async () => {
    const [productId] = partner.productIds;
    const request = anOrder(partner);
    await send(request);
    await test.backOffice.request("PATCH", `/api/products/${productId}`, {
      body: { status: "discontinued" },
    });
    expect((await send(request)).status).toBe(200);
    await test.backOffice.request("DELETE", `/api/connections/${partner.connectionId}/products/${productId}`);
    expect((await send(request)).status).toBe(200);
    expect(await readStoredOrders(test, partner)).toHaveLength(1);
  });

  it("is replayed for every key of the connection", async () => {
    const request = anOrder(partner);
    const { body } = await send(request);
    const { key } = await createKey(test, partner.connectionId);
    const replay = await test.partner(key).post("/v1/orders", request);
    expect([replay.status, replay.body.id]).toEqual([200, body.id]);
  });

  it("is a new request on another connection, with the same key and external id", async () => {
    const other = await createPartner(test);
    const first = await send(anOrder(partner, { externalOrderId: "shop-1" }), "key-1");
    const second = await send(anOrder(other, { externalOrderId: "shop-1" }), "key-1", other);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

describe("POST /v1/orders, rule 2: neither Idempotency-Key nor externalOrderId", () => {
  it("is rejected with 400 idempotency-key-missing, and stores nothing", async () => {
    expectProblem(await send(withoutExternalId()), 400, "idempotency-key-missing", {});
    await expectNothingHappened(test, partner);
  });
});

describe("POST /v1/orders, rule 3: a key belongs to the request it was first sent with", () => {
  const change = (fields: object) => (request: Request) => ({ ...request, ...fields });
  const changeAddress = (fields: object) =>
    change({ shippingAddress: anAddress({ address2: "Suite 5", ...fields }) });
  const ADDRESS_TEXTS = [
    "firstName",
    "lastName",
    "name",
    "company",
    "address1",
    "address2",
    "city",
    "zip",
    "stateCode",
    "phone",
  ];

  const ofAddress = (...fields: string[]) => fields.map((field) => `/shippingAddress/${field}`);
  const allQuantities = (r: Request) => ({ ...r, lines: r.lines.map((l) => ({ ...l, quantity: 2 })) });
  it.each<Difference>([
    ...ADDRESS_TEXTS.map(
      (field): Difference => [`another ${field}`, changeAddress({ [field]: "another" }), ...ofAddress(field)],
    ),
    ["another countryCode", changeAddress({ countryCode: "IE" }), ...ofAddress("countryCode")],
    ["an optional address field more", changeAddress({ phone: "+44 20 7946 0000" }), ...ofAddress("phone")],
    [
      "the same text in another address field",
      changeAddress({ phone: "Suite 5", address2: undefined }),
      ...ofAddress("address2", "phone"),
    ],
    ["another externalOrderId", change({ externalOrderId: "another" }), "/externalOrderId"],
    ["no externalOrderId", change({ externalOrderId: undefined }), "/externalOrderId"],
    ["testMode", change({ testMode: true }), "/testMode"],
    ["another quantity", allQuantities, "/lines/0/quantity", "/lines/1/quantity"],
    [
      "its lines in another order",
      (r: Request) => ({ ...r, lines: r.lines.toReversed() }),
      "/lines/0/productId",
      "/lines/1/productId",
    ],
    ["a line less", (r: Request) => ({ ...r, lines: r.lines.slice(1) }), "/lines"],
    ["an unknown product", change(UNKNOWN_PRODUCT), "/lines"],
  ])(
    "rejects it with %s: 422 idempotency-key-reused, and nothing happens",
    async (_, changed, ...differences) => {
      const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
      const shippingAddress = anAddress({ address2: "Suite 5" });
      const request = anOrder(partner, { lines, shippingAddress });
      const { body: created } = await send(request, "key-1");
      const before = await readOrder(partner, created.id);
      const members = { orderId: created.id, differences };
      expectProblem(await send(changed(request), "key-1"), 422, "idempotency-key-reused", members);
      expect(await readOrder(partner, created.id)).toEqual(before);
      expect(await readStoredOrders(test, partner)).toMatchObject([
        { id: created.id, events: ["order.created"] },
      ]);
    },
  );

  it("applies to the externalOrderId too, if it is the key", async () => {
    const request = anOrder(partner);
    const { body: created } = await send(request);
    const other = { ...request, shippingAddress: anAddress({ city: "Leeds" }) };
    expectProblem(await send(other), 422, "idempotency-key-reused", {
      orderId: created.id,
      differences: ofAddress("city"),
    });
  });

  it("names the address as a whole once the merchant has corrected it, and only if it differs from the first one", async () => {
    const request = anOrder(partner);
    const { body: created } = await send(request);
    const correction = await test.backOffice.request("PATCH", `/api/orders/${created.id}/shipping-address`, {
      body: { city: "Leeds" },
    });
    expect(correction.status).toBe(200);
    const orderId = created.id;
    const corrected = { ...request, shippingAddress: anAddress({ city: "Leeds" }) };
    expectProblem(await send(corrected), 422, "idempotency-key-reused", {
      orderId,
      differences: ["/shippingAddress"],
    });
    expectProblem(await send({ ...request, note: "Ring." }), 422, "idempotency-key-reused", {
      orderId,
      differences: ["/note"],
    });
    expect((await send(request)).status).toBe(200);
  });

  it("names the order of this connection only", async () => {
    const other = await createPartner(test);
    await send(anOrder(other), "key-1", other);
    const { body: own } = await send(anOrder(partner), "key-1");
    expect((await send(anOrder(partner), "key-1")).body.orderId).toBe(own.id);
  });

  it("is one key space: a header may be an earlier externalOrderId, and the other way round", async () => {
    const byExternalId = anOrder(partner, { externalOrderId: "one" });
    await send(byExternalId);
    expect((await send(byExternalId, "one")).status).toBe(200);
    const reusedBy = async (answer: Answer) =>
      expectProblem(answer, 422, "idempotency-key-reused", {
        orderId: expect.stringMatching(/^ord_/),
        differences: ["/externalOrderId"],
      });
    await reusedBy(await send(withoutExternalId(), "one"));

    await send(withoutExternalId(), "two");
    await reusedBy(await send(anOrder(partner, { externalOrderId: "two" })));
  });

  it.each([
    [
      "countryCode in the other case",
      (r: Request) => ({ ...r, shippingAddress: anAddress({ countryCode: "gb" }) }),
    ],
    [
      "productId in upper case",
      (r: Request) => ({
        ...r,
        lines: r.lines.map((l) => ({ ...l, productId: l.productId.toUpperCase() })),
      }),
    ],
    ["testMode false instead of absent", (r: Request) => ({ ...r, testMode: false })],
    [
      "null instead of what is absent",
      (r: Request) => ({
        ...{ ...r, testMode: null, note: null, metadata: null },
        shippingAddress: {
          ...r.shippingAddress,
          address2: null,
          company: null,
          stateCode: null,
          phone: null,
        },
      }),
    ],
    [
      "empty texts instead of what is absent",
      (r: Request) => ({
        ...{ ...r, note: "", metadata: { gift: null } },
        shippingAddress: {
          ...r.shippingAddress,
          address2: "",
          company: "",
          stateCode: "",
          name: "",
          phone: "",
        },
      }),
    ],
    [
      "unknown fields",
      (r: Request) => ({
        ...r,
        comment: "urgent",
        lines: r.lines.map((l) => ({ ...l, comment: 1 })),
      }),
    ],
    ["its fields in another order", (r: Request) => Object.fromEntries(Object.entries(r).toReversed())],
  ])("treats it as the same request with %s", async (_, written) => {
    const request = anOrder(partner);
    const first = await send(request);
    const second = await send(written(request));
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
  });

  it("compares the content, not the bytes: spacing, escapes and 1.0 for 1 do not matter", async () => {
    const request = anOrder(partner);
    await send(request);
    const rawBody = JSON.stringify(request, null, 4)
      .replace("London", "\\u004condon")
      .replace('"quantity": 1', '"quantity": 1.0');
    expect((await partner.client.request("POST", "/v1/orders", { rawBody })).status).toBe(200);
  });
});

describe("POST /v1/orders, rule 4: a second order claiming a used externalOrderId", () => {
  it("is rejected with 409 order-already-exists, which names the order, even under a new key", async () => {
    const request = anOrder(partner);
    const { externalOrderId } = request;
    const { body: created } = await send(request, "key-1");
    const members = { orderId: created.id, externalOrderId };
    expectProblem(await send(request, "key-2"), 409, "order-already-exists", members);
    expectProblem(await send(request), 409, "order-already-exists", members);
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { id: created.id, events: ["order.created"] },
    ]);
  });

  it("names a test order by its test_ id", async () => {
    const request = anOrder(partner, { testMode: true });
    const { body: created } = await send(request, "key-1");
    const rejected = await send({ ...request, testMode: false }, "key-2");
    expect(rejected.body.orderId).toBe(created.id);
  });

  it("is rejected even when the earlier order was canceled", async () => {
    const request = anOrder(partner);
    const { body: created } = await send(request, "key-1");
    await cancelOrder(partner, created.id);
    expect((await send(request, "key-2")).status).toBe(409);
  });

  it("does not use its key up", async () => {
    await send(anOrder(partner, { externalOrderId: "taken" }));
    expect((await send(anOrder(partner, { externalOrderId: "taken" }), "key-1")).status).toBe(409);
    expect((await send(anOrder(partner, { externalOrderId: "free" }), "key-1")).status).toBe(201);
  });

  it("does not affect another connection", async () => {
    const other = await createPartner(test);
    await send(anOrder(partner, { externalOrderId: "shop-1" }), "key-1");
    expect((await send(anOrder(other, { externalOrderId: "shop-1" }), "key-2", other)).status).toBe(201);
  });
});
