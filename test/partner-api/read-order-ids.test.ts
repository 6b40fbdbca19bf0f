import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { expectErrors, expectProblem, orderPath, readOrder, withoutItsOwn } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

async function expectMissing(id: string): Promise<void> {
  expectProblem(await partner.client.get(orderPath(id)), 404, "not-found");
}

describe("GET /v1/orders/{orderId}, ids", () => {
  it.each([
    "a+b",
    "a/b",
    "/",
    "100%",
    "%2F",
    "%252F",
    "a b",
    "a?b=c",
    "a#b",
    "a&b;c=d,e",
    "a:b@c",
    "Größe-注文-😀",
    "\u0001\n",
    "ord_",
    "x/cancel",
    "'\"<>\\",
  ])("finds the external id %j, percent-encoded", async (externalOrderId) => {
    const { id } = await placeOrder(partner, { externalOrderId });
    expect(await readOrder(partner, externalOrderId)).toMatchObject({ id, externalOrderId });
  });

  it("finds an id whose every character is percent-encoded", async () => {
    const { id } = await placeOrder(partner);
    const encoded = [...id].map((c: string) => `%${c.charCodeAt(0).toString(16)}`).join("");
    expect((await partner.client.get(`/v1/orders/${encoded}`)).body.id).toBe(id);
  });

  it("uses an external id as it is: + is not a space, and case matters", async () => {
    await placeOrder(partner, { externalOrderId: "a b" });
    await placeOrder(partner, { externalOrderId: "shop" });
    for (const id of ["a+b", "Shop", "shop ", "a%20b"]) await expectMissing(id);
  });

  it.each(["x", "😀"])(
    "accepts ids of 200 characters, and rejects longer ones with 422: %s",
    async (character) => {
      const externalOrderId = character.repeat(200);
      const { id } = await placeOrder(partner, { externalOrderId });
      expect((await readOrder(partner, externalOrderId)).id).toBe(id);
      const tooLong = await partner.client.get(orderPath(character.repeat(201)));
      expectErrors(tooLong, [{ parameter: "orderId" }]);
      expectErrors(await partner.client.get(orderPath(character.repeat(1_000))), [{ parameter: "orderId" }]);
    },
  );

  it("tries the service's id first: another order's external id cannot hide an order", async () => {
    const { id } = await placeOrder(partner);
    const other = await placeOrder(partner, { externalOrderId: id });
    expect((await readOrder(partner, id)).id).toBe(id);
    expect((await readOrder(partner, other.id)).externalOrderId).toBe(id);
  });

  it("finds an external id that looks like a service id", async () => {
    const externalOrderId = toTypeId("ord", "01890a5d-ac96-774b-bcce-b302099a8057");
    const { id } = await placeOrder(partner, { externalOrderId });
    expect((await readOrder(partner, externalOrderId)).id).toBe(id);
  });
});

describe("GET /v1/orders/{orderId}, 404 not-found", () => {
  it.each([
    "nothing",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    toTypeId("ord", "01890a5d-ac96-774b-bcce-b302099a8057"),
    "ord_7zzzzzzzzzzzzzzzzzzzzzzzzz",
    "ord_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "test_é",
    "a\u0000b",
  ])("for the unknown id %j", async (id) => {
    const answer = await partner.client.get(orderPath(id));
    expectProblem(answer, 404, "not-found");
    expect(answer.body).toMatchObject({ title: "Resource not found", instance: orderPath(id) });
  });

  it("for a real order's id under the prefix of test orders, and the other way round", async () => {
    const { id: real } = await placeOrder(partner);
    const { id: test } = await placeTestOrder(partner);
    await expectMissing(real.replace("ord_", "test_"));
    await expectMissing(test.replace("test_", "ord_"));
  });

  it("for an id in another case than the service wrote it", async () => {
    const { id } = await placeOrder(partner);
    await expectMissing(id.toUpperCase());
    await expectMissing(id.replace("ord_", "ORD_"));
  });

  it("for another connection's order, exactly as for a missing one", async () => {
    const other = await createPartner(test);
    const path = orderPath("theirs");
    const missing = await partner.client.get(path);
    const { id } = await placeOrder(other, { externalOrderId: "theirs" });
    expect(withoutItsOwn(await partner.client.get(path))).toBe(withoutItsOwn(missing));
    expect(withoutItsOwn(await partner.client.get(orderPath(id)))).toBe(withoutItsOwn(missing));
    expect(missing.status).toBe(404);
  });

  it("keeps equal external ids of two connections apart", async () => {
    const other = await createPartner(test);
    const ours = await placeOrder(partner, { externalOrderId: "shop-1" });
    const theirs = await placeOrder(other, { externalOrderId: "shop-1" });
    expect((await readOrder(partner, "shop-1")).id).toBe(ours.id);
    expect((await readOrder(other, "shop-1")).id).toBe(theirs.id);
  });
});
