import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, anOrder, createPartner, type Partner } from "../support/builders.ts";
import {
  expectInvalid,
  OPTIONAL_TEXTS,
  REQUIRED_TEXTS,
  requestOrder,
  sendOrder,
  sendRawOrder,
} from "../support/order-requests.ts";
import {
  expectErrors,
  expectNothingHappened,
  expectProblem,
  readOrder,
  readStoredOrders,
} from "../support/orders.ts";
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

const TEXTS = [...REQUIRED_TEXTS, ...OPTIONAL_TEXTS];

const create = (fields?: object) => requestOrder(partner, fields);
const createTo = (address: object) => create({ shippingAddress: anAddress(address) });
const createOf = (quantity: unknown) => create({ lines: [{ productId: partner.productIds[0], quantity }] });
const createUnder = (key: string | string[], fields: object = { externalOrderId: undefined }) =>
  sendOrder(partner, anOrder(partner, fields), key);
const createRaw = (rawBody: string | Buffer, headers?: object) => sendRawOrder(partner, rawBody, headers);

const expectRejected = (response: Promise<Answer>, ...pointers: string[]) =>
  expectInvalid(test, partner, response, ...pointers);

describe("POST /v1/orders, required fields", () => {
  it.each(["shippingAddress", "lines"])("rejects a request without %s", async (field) => {
    await expectRejected(create({ [field]: undefined }), `/${field}`);
  });

  it.each([...REQUIRED_TEXTS, "countryCode"])("rejects a shippingAddress without %s", async (field) => {
    await expectRejected(createTo({ [field]: undefined }), `/shippingAddress/${field}`);
  });

  it("rejects a line without productId or quantity", async () => {
    await expectRejected(create({ lines: [{}] }), "/lines/0/productId", "/lines/0/quantity");
  });

  it("reports all errors at once, each with its pointer", async () => {
    const request = {
      externalOrderId: "..",
      testMode: "yes",
      shippingAddress: { firstName: 1, countryCode: "GBR", phone: 1 },
      lines: [{ productId: partner.productIds[0], quantity: 1 }, { quantity: 0 }, null],
    };
    await expectRejected(
      partner.client.post("/v1/orders", request),
      "/externalOrderId",
      "/testMode",
      "/shippingAddress/firstName",
      "/shippingAddress/lastName",
      "/shippingAddress/address1",
      "/shippingAddress/city",
      "/shippingAddress/zip",
      "/shippingAddress/countryCode",
      "/shippingAddress/phone",
      "/lines/1/productId",
      "/lines/1/quantity",
      "/lines/2",
    );
  });

  it.each(["[]", "null", '"order"', "1", "true"])(
    "rejects the body %s, which is not an object",
    async (body) => {
      await expectRejected(createRaw(body), "");
    },
  );
});

describe("POST /v1/orders, shippingAddress", () => {
  it.each(TEXTS)("takes a %s of 1 and of 255 characters, and returns it unchanged", async (field) => {
    for (const text of ["x", "😀".repeat(255)]) {
      const { status, body } = await createTo({ [field]: text });
      expect(status).toBe(201);
      expect((await readOrder(partner, body.id)).shippingAddress[field]).toBe(text);
    }
  });

  it.each(TEXTS)("rejects a %s that has 256 characters, or is not text", async (field) => {
    for (const value of ["x".repeat(256), 1, ["x"]])
      await expectRejected(createTo({ [field]: value }), `/shippingAddress/${field}`);
  });

  it.each(REQUIRED_TEXTS)("rejects a %s that is empty or null", async (field) => {
    for (const value of ["", null])
      await expectRejected(createTo({ [field]: value }), `/shippingAddress/${field}`);
  });

  it("shows optional fields that were not sent as null, and the name as first and last name", async () => {
    const { body } = await create();
    expect((await readOrder(partner, body.id)).shippingAddress).toEqual({
      ...anAddress(),
      name: "Ada Lovelace",
      company: null,
      address2: null,
      stateCode: null,
      phone: null,
    });
  });

  it.each(["us", "US", "uS"])("stores the countryCode %s in upper case", async (countryCode) => {
    const { body } = await createTo({ countryCode });
    expect((await readOrder(partner, body.id)).shippingAddress.countryCode).toBe("US");
  });

  it.each(["", "G", "GBR", "G1", "ÄÖ", "ß", "GB\n", 44, null])(
    "rejects the countryCode %j",
    async (countryCode) => {
      await expectRejected(createTo({ countryCode }), "/shippingAddress/countryCode");
    },
  );
});

describe("POST /v1/orders, lines", () => {
  it.each([1, 100])("takes %i lines, and keeps their order", async (count) => {
    const lines = Array.from({ length: count }, (_, index) => ({
      productId: partner.productIds[index % 2],
      quantity: index + 1,
    }));
    const { status, body } = await create({ lines });
    expect(status).toBe(201);
    expect(body.lines).toEqual(lines);
    expect((await readOrder(partner, body.id)).lines).toMatchObject(lines);
  });

  it.each([0, 101])("rejects %i lines", async (count) => {
    const lines = Array.from({ length: count }, () => ({ productId: partner.productIds[0], quantity: 1 }));
    await expectRejected(create({ lines }), "/lines");
  });

  it.each([{}, "line", null])("rejects lines that are not an array: %j", async (lines) => {
    await expectRejected(create({ lines }), "/lines");
  });

  it.each([1, 100_000])("takes a quantity of %i", async (quantity) => {
    const { status, body } = await createOf(quantity);
    expect(status).toBe(201);
    expect((await readOrder(partner, body.id)).lines).toMatchObject([{ quantity }]);
  });

  it.each([0, -1, 100_001, 1.5, "2", 1e300, 2 ** 53, null, true, [1]])(
    "rejects the quantity %j",
    async (quantity) => {
      await expectRejected(createOf(quantity), "/lines/0/quantity");
    },
  );

  it("rejects a quantity beyond the range of numbers: 1e400", async () => {
    const rawBody = JSON.stringify(anOrder(partner)).replace('"quantity":1', '"quantity":1e400');
    await expectRejected(createRaw(rawBody), "/lines/0/quantity");
  });

  it("accepts the largest order: 100 lines of 100 000 units", async () => {
    const lines = Array.from({ length: 100 }, () => ({
      productId: partner.productIds[0],
      quantity: 100_000,
    }));
    expect((await create({ lines })).status).toBe(201);
  });

  it.each([
    "urn:uuid:01a1fc93-691a-7dab-a31b-167027d168d7", // The library's own format would take it.
    "mug",
    "",
    1,
    null,
    "01890a5d-ac96-774b-bcce-b302099a805",
    "\u0000",
  ])("rejects the productId %j, which is not a UUID", async (productId) => {
    await expectRejected(create({ lines: [{ productId, quantity: 1 }] }), "/lines/0/productId");
  });
});

describe("POST /v1/orders, externalOrderId and testMode", () => {
  it.each(["x", "x".repeat(200), "😀".repeat(200)])(
    "takes an externalOrderId of 1 to 200 characters, and is addressed by it: %s",
    async (externalOrderId) => {
      const { status, body } = await create({ externalOrderId });
      expect([status, body.externalOrderId]).toEqual([201, externalOrderId]);
      expect((await readOrder(partner, externalOrderId)).id).toBe(body.id);
    },
  );

  it.each(["x".repeat(201), "😀".repeat(201), 7])(
    "rejects the externalOrderId %j",
    async (externalOrderId) => {
      await expectRejected(create({ externalOrderId }), "/externalOrderId");
    },
  );

  it.each(["", null])("needs a key if the externalOrderId is %j, as without one", async (externalOrderId) => {
    expectProblem(await create({ externalOrderId }), 400, "idempotency-key-missing");
  });

  it.each(["true", 1, ""])("rejects the testMode %j", async (testMode) => {
    await expectRejected(create({ testMode }), "/testMode");
  });
});

describe("POST /v1/orders, Idempotency-Key", () => {
  it.each([1, 255])("accepts a key of %i characters, and recognizes it", async (length) => {
    const request = anOrder(partner);
    const options = { headers: { "idempotency-key": "k".repeat(length) } };
    expect((await partner.client.post("/v1/orders", request, options)).status).toBe(201);
    expect((await partner.client.post("/v1/orders", request, options)).status).toBe(200);
    expect(await readStoredOrders(test, partner)).toMatchObject([{ idempotencyKey: "k".repeat(length) }]);
  });

  it.each([0, 256])("rejects a key of %i characters, with or without an externalOrderId", async (length) => {
    const key = "k".repeat(length);
    expectErrors(await createUnder(key), [{ header: "idempotency-key" }]);
    expectErrors(await createUnder(key, {}), [{ header: "idempotency-key" }]);
    await expectNothingHappened(test, partner);
  });

  it("distinguishes keys by case, and by every character", async () => {
    for (const key of ["key", "KEY", "key ey", "key%20ey", '"key"'])
      expect((await createUnder(key)).status).toBe(201);
  });

  it("takes a header sent twice as one combined key, as HTTP does: never as either of the two (RFC 9110, 5.3)", async () => {
    const request = anOrder(partner);
    const send = (key: string | string[]) =>
      partner.client.post("/v1/orders", request, { headers: { "idempotency-key": key } });
    expect((await send(["one", "two"])).status).toBe(201);
    expect((await send(["one", "two"])).status).toBe(200);
    for (const key of ["one", "two", ["two", "one"]])
      expectProblem(await send(key), 409, "order-already-exists", {
        orderId: expect.any(String),
        externalOrderId: request.externalOrderId,
      });
    expectErrors(await send(["k".repeat(127), "k".repeat(127)]), [{ header: "idempotency-key" }]);
  });
});
