import { beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { tokensOf } from "../support/tokens.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let first: Partner;
let second: Partner;
/** Orders, oldest first, in turn of both. */
const orders: string[] = [];
beforeAll(async () => {
  test = await startTestService();
  first = await createPartner(test);
  second = await createPartner(test);
  for (const partner of [first, second]) await createEndpoint(partner);
  for (let count = 0; count < 6; count += 1) {
    test.clock.advance({ seconds: 1 });
    orders.push((await placeOrder(count % 2 === 0 ? first : second)).id);
  }
  return () => test.close();
});

type Row = {
  merchantId?: string | null;
  facilityId?: string | null;
  orderId: string;
  connectionId: string;
  connectionName: string;
  merchantName?: string | null;
  facilityName?: string | null;
};
const list = async (
  query = "",
  client = test.backOffice,
): Promise<{ data: Row[]; nextCursor: string | null }> => {
  const { status, body } = await client.get(`/api/deliveries${query}`);
  expect(status).toBe(200);
  return body;
};
const ordersOf = ({ data }: { data: Row[] }) => data.map(({ orderId }) => orderId);

describe("GET /api/deliveries", () => {
  it("lists those of all connections, newest first, with the connection and the fields of its log", async () => {
    const page = await list();
    expect(ordersOf(page)).toEqual(orders.toReversed());
    const [newest] = page.data;
    expect(newest).toMatchObject({ connectionId: second.connectionId, connectionName: "Partner" });
    const own = await test.backOffice.get(`/api/connections/${second.connectionId}/deliveries`);
    const { connectionId, connectionName, merchantId, merchantName, facilityId, facilityName, ...delivery } =
      newest ?? {};
    expect(delivery).toEqual(own.body.data[0]);
  });

  it("continues with its cursor without gaps, for each size of a page", async () => {
    for (const limit of [1, 2, 4, 6]) {
      const read: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          `?limit=${limit}${cursor && `&cursor=${cursor}`}`,
        );
        read.push(...ordersOf(page));
        cursor = page.nextCursor;
      }
      expect(read, `pages of ${limit}`).toEqual(orders.toReversed());
    }
  });

  it("filters by merchant, status, type and time", async () => {
    const time = (index: number) =>
      list().then(({ data }) => (data.toReversed()[index] as never)["createdAt"]);
    expect(ordersOf(await list(`?merchantId=${first.merchantId}`))).toEqual([
      orders[4],
      orders[2],
      orders[0],
    ]);
    expect(ordersOf(await list("?status=succeeded"))).toEqual([]);
    expect(ordersOf(await list("?status=pending&eventType=order.created"))).toHaveLength(6);
    expect(ordersOf(await list("?eventType=order.canceled"))).toEqual([]);
    expect(ordersOf(await list(`?since=${await time(1)}&until=${await time(3)}`))).toEqual([
      orders[2],
      orders[1],
    ]);
  });

  it("shows a merchant and a partner their own only, also if they name another", async () => {
    const tokens = tokensOf(test);
    for (const fields of [
      { role: "merchant", merchantIds: [first.merchantId] },
      { role: "partner", connectionIds: [first.connectionId] },
    ]) {
      const client = test.backOfficeAs((await tokens.create(fields)).body.token);
      expect(ordersOf(await list("", client))).toEqual([orders[4], orders[2], orders[0]]);
      expect(ordersOf(await list(`?merchantId=${second.merchantId}`, client))).toEqual([]);
    }
  });

  it("rejects a cursor of another list and an id that is none", async () => {
    const { nextCursor } = (await test.backOffice.get("/api/orders?limit=1")).body;
    for (const query of [`?cursor=${nextCursor}`, "?merchantId=x", "?hasFailedAttempts=true"])
      expect((await test.backOffice.get(`/api/deliveries${query}`)).status, query).toBe(422);
  });
});
