import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anAddress, created, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { copyScript } from "../support/many-orders.ts";
import { connectionKey } from "../support/orders.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let one: Partner;
let other: Partner;
let facilityId: string;
const ids: Record<string, string> = {};
const shipment: Record<string, string> = {};
const times: Record<string, string> = {};
beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test);
  const place = async (name: string, partner: Partner, address: object = {}) => {
    const shippingAddress = anAddress({ firstName: "Grace", lastName: "Hopper", ...address });
    ids[name] = (await placeOrder(partner, { externalOrderId: `shop-${name}`, shippingAddress })).id;
    times[name] = test.clock.now().toISOString();
    test.clock.advance({ minutes: 1 });
  };
  await place("smith", one, { firstName: "Anna Maria", lastName: "Smith" });
  await place("smithers", one, { firstName: "Ada", lastName: "Smithers", countryCode: "FR" });
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  await operationApplied(test, String(ids["smith"]), "ship", { trackingNumber: "JD-4711" });
  const facility = { name: "Depot", countryCode: "GB" };
  facilityId = (await created(test.backOffice.post("/api/facilities", facility))).id;
  const rates = [{ countryCode: "GB", maxWeightGrams: 90_000, price: { amount: "1.00", currency: "EUR" } }];
  await test.backOffice.request("PUT", `/api/facilities/${facilityId}/rates`, { body: { rates } });
  await place("company", other, { company: "Åkerlund & Söner" });
  await place("held", other, { company: "100% Smith_Ltd" });
  await operationApplied(test, String(ids["held"]), "hold", { reasons: ["fraud"] });
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  await runJob(test, "route-orders");
  const detail = await test.backOffice.get(`/api/orders/${ids["smith"]}`);
  shipment["shipment"] = detail.body.shipments[0].id;
  shipment["line"] = detail.body.lines[0].id;
  const events = await one.client.get(`/v1/events?orderId=${ids["smith"]}`);
  shipment["event"] = events.body.data[0].id;
});
afterAll(() => test.close());

/** Copies the only order of a connection. The copies have the time of the first one in their ids. */
const copyOrders = (partner: Partner, count: number) =>
  test.db.runScript(`${copyScript({
    of: `o.connection_id = '${connectionKey(partner).connectionId}'`,
    from: 2,
    to: count,
    id: "(left(o.id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid",
  })}
    insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
    select o.merchant_id, o.connection_id, o.id, o.id, l.product_id, 1, 100
    from orders o, order_lines l
    where o.connection_id = '${connectionKey(partner).connectionId}' and l.connection_id = o.connection_id
      and l.merchant_id = o.merchant_id and l.order_id <> o.id`);

const list = async (query: string, client = test.backOffice) => {
  const { status, body } = await client.get(`/api/orders?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { data: { id: string }[]; nextCursor: string | null };
};
const named = async (query: string, client = test.backOffice) =>
  (await list(query, client)).data.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
const find = (text: string) => named(`q=${encodeURIComponent(text)}`);

describe("a search of GET /api/orders", () => {
  it.each([
    ["smith", ["held", "smithers", "smith"]],
    ["SMITH, Anna", ["smith"]],
    ["smith anna m", ["smith"]],
    ["anna maria smi", ["smith"]],
    ["anna  smith", ["smith"]],
    ["ada smith", ["smithers"]],
    ["grace hopp", ["held", "company"]],
    ["åker", ["company"]],
    ["ÅKERLUND & s", ["company"]],
    ["100%", ["held"]],
    ["shop-smi", ["smithers", "smith"]],
    ["SHOP-HELD", ["held"]],
    ["jd-4711", ["smith"]],
    ["jd-471", []],
    ["lund", ["company"]],
    ["ord_01m7y7np16fe68bxp4h91tdmdn", []],
    ["shp_01m7y7np16fe68bxp4h91tdmdn", []],
    ["evt_01m7y7np16fe68bxp4h91tdmdn", []],
    ["line_01m7y7np16fe68bxp4h91tdmdn", []],
    ["line_7zzzzzzzzzzzzzzzzzzzzzzzzz", []],
    [" , ", []],
    ["a b c d e f g h", []],
  ])("finds %s", async (text, expected) => {
    expect(await find(text)).toEqual(expected);
  });

  it("finds a tracking number with and without what separates its groups", async () => {
    for (const text of ["jd4711", "JD 47 11", "jd-47-11"]) expect(await find(text), text).toEqual(["smith"]);
  });

  it("finds an order by the id of a line, a shipment and an event", async () => {
    for (const [part, id] of Object.entries(shipment)) expect(await find(id), part).toEqual(["smith"]);
  });

  it("is narrowed by the other filters, and pages through what it finds", async () => {
    expect(await named(`q=smith&merchantId=${one.merchantId}`)).toEqual(["smithers", "smith"]);
    expect(await named(`q=smith&connectionId=${other.connectionId}`)).toEqual(["held"]);
    expect(await named("q=smith&onHold=true")).toEqual(["held", "smithers"]);
    expect(await named("q=smith&sort=oldest")).toEqual(["smith", "smithers", "held"]);
    const first = await list("q=smith&limit=2");
    expect(await named(`q=smith&limit=2&cursor=${first.nextCursor}`)).toEqual(["smith"]);
  });

  it("does not read more than it is allowed to if very many orders begin alike, and still finds the exact one", async () => {
    const crowd = await createPartner(test);
    await placeOrder(crowd, { externalOrderId: "crowd" });
    await copyOrders(crowd, 5_200);
    expect((await list(`q=copy&merchantId=${crowd.merchantId}&limit=100`)).data).toHaveLength(100);
    expect((await list("q=copy%205199")).data).toHaveLength(1);
    await test.db.runScript("analyze");
    expect(await find("anna maria smi")).toEqual(["smith"]);
  });
});

describe("the filters of GET /api/orders", () => {
  it.each([
    ["holdReason=fraud", ["held"]],
    ["holdReason=out_of_stock", []],
    ["countryCode=fr", ["smithers"]],
    ["countryCode=FR&status=CANCELED", []],
  ])("narrow it by %s", async (query, expected) => {
    const all = await named(`${query}&merchantId=${one.merchantId}`);
    const others = await named(`${query}&merchantId=${other.merchantId}`);
    expect([...others, ...all]).toEqual(expected);
  });

  it("narrow it by facility, time of creation and of change", async () => {
    expect(await named(`facilityId=${facilityId}`)).toEqual(["held", "company"]);
    const since = `createdSince=${times["smithers"]}`;
    const until = `createdUntil=${times["held"]}`;
    const both = `merchantId=${one.merchantId}&${since}`;
    expect(await named(both)).toEqual(["smithers"]);
    expect(await named(`${since}&${until}&q=h`)).toEqual(["company", "smithers"]);
    expect(await named(`merchantId=${other.merchantId}&${until}&sort=oldest`)).toEqual(["company"]);
    expect(await named(`merchantId=${one.merchantId}&updatedUntil=${times["smithers"]}`)).toEqual([]);
    expect(await named(`merchantId=${one.merchantId}&updatedSince=${times["smithers"]}`)).toEqual([
      "smithers",
      "smith",
    ]);
  });

  it("narrow it to orders with a failed delivery", async () => {
    expect(await named("hasFailedDelivery=true")).toEqual([]);
    expect(await named(`hasFailedDelivery=false&merchantId=${one.merchantId}`)).toEqual([
      "smithers",
      "smith",
    ]);
  });

  it("page through orders that no index finds, a bounded number at a time, newest and oldest first", async () => {
    for (const sort of ["newest", "oldest"]) {
      const seen: string[] = [];
      let pages = 0;
      for (let cursor: string | null = ""; cursor !== null; pages += 1) {
        const query = `countryCode=FR&sort=${sort}${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const page: Awaited<ReturnType<typeof list>> = await list(query);
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      expect(seen).toEqual([ids["smithers"]]);
      expect(pages, sort).toBeGreaterThan(sort === "newest" ? 1 : 0);
    }
  });

  it("show a member of the warehouse the orders of its facilities, and a partner's staff those of its connections", async () => {
    const { fromTypeId } = await import("../../src/platform/ids.ts");
    const facilityIds = [fromTypeId("fac", facilityId) ?? ""];
    const packer = test.backOfficeFor({ name: "Wilma", grants: [{ role: "warehouse", facilityIds }] });
    expect(await named("", packer)).toEqual(["held", "company"]);
    expect(await named("q=grace", packer)).toEqual(["held", "company"]);
    expect(await named("q=anna", packer)).toEqual([]);
    expect(await named(`countryCode=GB&merchantId=${other.merchantId}`, packer)).toEqual(["held", "company"]);
    const { merchantId, connectionId } = connectionKey(one);
    const partner = test.backOfficeFor({
      name: "Nora",
      grants: [
        { role: "merchant", merchantIds: [merchantId] },
        { role: "warehouse", facilityIds },
      ],
    });
    expect((await named("limit=3", partner)).sort()).toEqual(["company", "held", "smithers"]);
    expect(await named(`connectionId=${one.connectionId}&q=smith`, partner)).toEqual(["smithers", "smith"]);
    expect(connectionId).not.toBe("");
  });

  it.each([
    ["facilityId=1", "facilityId"],
    ["countryCode=GBR", "countryCode"],
    ["createdSince=yesterday", "createdSince"],
    ["sort=random", "sort"],
    ["holdReason=", "holdReason"],
  ])("reject %s", async (query, parameter) => {
    const { status, body } = await test.backOffice.get(`/api/orders?${query}`);
    expect([status, body.errors?.[0]?.parameter]).toEqual([422, parameter]);
  });
});
