import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { anAddress, anOrder, createPartner, type Partner } from "../support/builders.ts";
import {
  expectInvalid,
  OPTIONAL_TEXTS,
  REQUIRED_TEXTS,
  requestOrder,
  sendRawOrder,
} from "../support/order-requests.ts";
import { expectNothingHappened, expectProblem, readOrder } from "../support/orders.ts";
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
const createRaw = (rawBody: string | Buffer, headers?: object) => sendRawOrder(partner, rawBody, headers);

const expectRejected = (response: Promise<Answer>, ...pointers: string[]) =>
  expectInvalid(test, partner, response, ...pointers);

describe("POST /v1/orders, text that cannot be stored unchanged", () => {
  const UNSTORABLE = ["a\u0000b", "a\ud800b", "\udc00"];

  it.each(TEXTS)("rejects NUL and lone surrogates in the address's %s", async (field) => {
    for (const text of UNSTORABLE)
      await expectRejected(createTo({ [field]: text }), `/shippingAddress/${field}`);
  });

  it("rejects NUL and lone surrogates in externalOrderId", async () => {
    for (const externalOrderId of UNSTORABLE)
      await expectRejected(create({ externalOrderId }), "/externalOrderId");
  });

  it.each([
    "\u0001\u001f\u007f",
    "e\u0301 é",
    "\u202ea‮",
    " spaced ",
    "'; drop table orders; --",
    "{}\\\"'",
    "\ufffd",
  ])("keeps every other text as it is: %j", async (text) => {
    const { body } = await create({ externalOrderId: text, shippingAddress: anAddress({ address2: text }) });
    const read = await readOrder(partner, body.id);
    expect([read.externalOrderId, read.shippingAddress.address2]).toEqual([text, text]);
  });
});

describe("POST /v1/orders, hostile field names", () => {
  const rawOrder = (extra: string) => JSON.stringify(anOrder(partner)).replace("{", `{${extra},`);

  it.each([
    '"__proto__":{"testMode":true}',
    '"\\u005f_proto__":{"testMode":true}',
    '"constructor":{"prototype":{"testMode":true}}',
    '"toString":1,"hasOwnProperty":null',
  ])("ignores %s", async (extra) => {
    const { status, body } = await createRaw(rawOrder(extra));
    expect([status, body.testMode]).toEqual([201, false]);
    expect({}).not.toHaveProperty("testMode");
  });

  it("does not take a required field from __proto__", async () => {
    const { lines, shippingAddress } = anOrder(partner);
    const rawBody = `{"__proto__":${JSON.stringify({ lines })},"shippingAddress":${JSON.stringify(shippingAddress)}}`;
    await expectRejected(createRaw(rawBody), "/lines");
  });
});

describe("POST /v1/orders, the body", () => {
  it.each(["", "{", "nonsense", "{'a':1}", "{}{}", '{"quantity":NaN}', "\u0000"])(
    "returns 400 malformed-request for %j",
    async (rawBody) => {
      expectProblem(await createRaw(rawBody), 400, "malformed-request");
      await expectNothingHappened(test, partner);
    },
  );

  it("returns 400 malformed-request for bytes that are not UTF-8", async () => {
    const rawBody = Buffer.from(JSON.stringify(anOrder(partner, { externalOrderId: "é" })), "latin1");
    expectProblem(await createRaw(rawBody), 400, "malformed-request");
    await expectNothingHappened(test, partner);
  });

  it("returns 400 malformed-request when there is no body", async () => {
    expectProblem(await partner.client.request("POST", "/v1/orders"), 400, "malformed-request");
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/problem+json",
  ])("returns 415 unsupported-media-type for %s", async (type) => {
    expectProblem(
      await createRaw(JSON.stringify(anOrder(partner)), { "content-type": type }),
      415,
      "unsupported-media-type",
    );
    await expectNothingHappened(test, partner);
  });

  it.each(["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"])(
    "takes %s",
    async (type) => {
      expect((await createRaw(JSON.stringify(anOrder(partner)), { "content-type": type })).status).toBe(201);
    },
  );

  it("accepts a body of 256 KiB, and returns 413 payload-too-large for one byte more", async () => {
    expect(BODY_LIMIT_BYTES).toBe(256 * 1024);
    const padded = (bytes: number) => {
      const order = JSON.stringify(anOrder(partner));
      return order + " ".repeat(bytes - Buffer.byteLength(order));
    };
    expectProblem(await createRaw(padded(256 * 1024 + 1)), 413, "payload-too-large", { maxBytes: 262_144 });
    await expectNothingHappened(test, partner);
    expect((await createRaw(padded(256 * 1024))).status).toBe(201);
  });

  it("does not wait for all large bodies of another connection to be read", async () => {
    const other = await createPartner(test);
    const errors = `{"lines":[${"{},".repeat(20_000)}{}]}`;
    const responded: string[] = [];
    const send = async (name: string, to: Partner) => {
      expect((await sendRawOrder(to, errors)).status).toBe(422);
      responded.push(name);
    };
    await Promise.all([...Array.from({ length: 40 }, () => send("other", other)), send("own", partner)]);
    expect(responded.indexOf("own")).toBeLessThan(30);
  });
});
