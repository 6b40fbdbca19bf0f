import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let one: Partner;
let other: Partner;
/** By what is special about each order. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
  const place = async (name: string, partner: Partner, fields: object = {}) => {
    ids[name] = (await placeOrder(partner, { externalOrderId: `web-${name}`, ...fields })).id;
    test.clock.advance({ seconds: 1 });
  };
  await place("accepted", one);
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  await place("held", one);
  await operationApplied(test, String(ids["held"]), "hold", { reasons: ["merchant_request"] });
  await place("canceled", one);
  await operationApplied(test, String(ids["canceled"]), "cancel");
  await place("new", one);
  await place("reviewed", other, { lines: [{ productId: other.productIds[0], quantity: 2 }] });
  ids["test"] = (await placeTestOrder(one)).id;
});
afterAll(() => test.close());

const list = async (query: string) => {
  const { status, body } = await test.backOffice.get(`/api/orders?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { data: { id: string }[]; nextCursor: string | null };
};
const named = ({ data }: { data: { id: string }[] }) =>
  data.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));

describe("GET /api/orders", () => {
  it("lists the real orders of all connections, newest first, and whose they are", async () => {
    const page = await list("");
    expect(named(page)).toEqual(["reviewed", "new", "canceled", "held", "accepted"]);
    expect(page.data[0]).toMatchObject({
      merchantId: other.merchantId,
      merchantName: "Merchant",
      connectionId: other.connectionId,
      connectionName: "Partner",
      status: "PROCESSING",
    });
    expect(page.nextCursor).toBeNull();
  });

  it.each([
    ["status=PROCESSING", ["reviewed"]],
    ["status=ACCEPTED", ["accepted"]],
    ["status=CANCELED", ["canceled"]],
    ["status=NEW", ["new", "held"]],
    ["status=COMPLETED", []],
    ["onHold=true", ["held"]],
    ["onHold=false&status=NEW", ["new"]],
    ["testMode=true", ["test"]],
    ["testMode=true&status=NEW", ["test"]],
    ["testMode=true&status=ACCEPTED", []],
    ["testMode=false&status=NEW&onHold=true", ["held"]],
    ["q=WEB-HE", ["held"]],
    ["q=ada%20love", ["reviewed", "new", "canceled", "held", "accepted"]],
    ["q=nobody", []],
    ["q=%25", []],
    ["q=_", []],
  ])("is narrowed by %s", async (query, expected) => {
    expect(named(await list(query))).toEqual(expected);
  });

  it("names the products of each line as they are now, of several merchants in one page", async () => {
    const [product] = one.productIds;
    await test.backOffice.request("PATCH", `/api/products/${product}`, {
      body: { sku: "MUG-01", name: "Mug" },
    });
    const { data } = await list("");
    const linesOf = (name: string) => data.find(({ id }) => id === ids[name]);
    expect(linesOf("new")).toMatchObject({ lines: [{ productId: product, sku: "MUG-01", name: "Mug" }] });
    expect(linesOf("reviewed")).toMatchObject({ lines: [{ sku: "SKU-1", name: "Product" }] });
  });

  it("is narrowed to a merchant, a connection, an order's id", async () => {
    expect(named(await list(`merchantId=${other.merchantId}`))).toEqual(["reviewed"]);
    expect(named(await list(`connectionId=${other.connectionId}`))).toEqual(["reviewed"]);
    expect(named(await list(`merchantId=${one.merchantId}&connectionId=${other.connectionId}`))).toEqual([]);
    expect(named(await list(`q=${ids["canceled"]}`))).toEqual(["canceled"]);
    expect(named(await list(`q=${ids["test"]}`))).toEqual([]);
    expect(named(await list(`q=${ids["test"]}&testMode=true`))).toEqual(["test"]);
  });

  it("shows an order as its deadline has left it, whether or not a worker has seen to it", async () => {
    const late = await createPartner(test);
    const { id } = await placeOrder(late);
    test.clock.advance({ hours: 2 });
    const query = `connectionId=${late.connectionId}`;
    expect((await list(`${query}&status=ACCEPTED`)).data).toMatchObject([{ id, status: "ACCEPTED" }]);
    expect((await list(`${query}&status=NEW`)).data).toEqual([]);
    await runJob(test, "accept-orders");
    expect((await list(`${query}&status=ACCEPTED`)).data).toMatchObject([{ id, status: "ACCEPTED" }]);
  });

  it("finds an order by the deadline as its last change, whether or not a worker has seen to it", async () => {
    const late = await createPartner(test);
    const { id } = await placeOrder(late);
    test.clock.advance({ hours: 1 });
    const since = test.clock.now().toISOString();
    const found = async (query: string) =>
      (await list(`connectionId=${late.connectionId}&${query}=${since}`)).data.map((order) => order.id);
    expect([await found("updatedSince"), await found("updatedUntil")]).toEqual([[], [id]]);
    test.clock.advance({ hours: 1 });
    expect([await found("updatedSince"), await found("updatedUntil")]).toEqual([[id], []]);
    await runJob(test, "accept-orders");
    expect([await found("updatedSince"), await found("updatedUntil")]).toEqual([[id], []]);
  });

  it("shows an order as new past its deadline while its payment has failed", async () => {
    const poor = await createPartner(test);
    const { id } = await placeOrder(poor);
    await operationApplied(test, id, "hold", { reasons: ["payment_failed"] });
    test.clock.advance({ hours: 2 });
    const query = `connectionId=${poor.connectionId}`;
    expect((await list(`${query}&status=NEW`)).data).toMatchObject([{ id, status: "NEW" }]);
    expect((await list(`${query}&status=ACCEPTED`)).data).toEqual([]);
  });

  it("pages through all connections without losing or repeating any", async () => {
    const whole = (await list("")).data.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(
        `limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      expect(page.data.length).toBeLessThanOrEqual(2);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(whole);
  });

  it.each([
    ["merchantId=mer_x", "merchantId"],
    ["merchantId=con_01m7y7np16fe68bxp4h91tdmdn", "merchantId"],
    ["connectionId=1", "connectionId"],
    ["status=OPEN", "status"],
    ["onHold=yes", "onHold"],
    ["ready=1", "ready"],
    [`q=${"x".repeat(201)}`, "q"],
    ["q=%00", "q"],
    ["limit=101", "limit"],
    ["cursor=nonsense", "cursor"],
  ])("rejects %s", async (query, parameter) => {
    const { status, body } = await test.backOffice.get(`/api/orders?${query}`);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ parameter }]);
  });
});
