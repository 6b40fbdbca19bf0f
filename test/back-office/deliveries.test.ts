import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deliveryRows } from "../../src/back-office/orders/deliveries.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { encodeCursor } from "../../src/platform/wire/cursor.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { expectErrors, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, pauseEndpoint, readRows } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
let endpointId: string;
let order: { id: string; externalOrderId: string };
let deliveryId: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  [partner, other] = [await createPartner(test), await createPartner(test)];
  endpointId = (await createEndpoint(partner)).id;
  order = await placeOrder(partner);
  deliveryId = await deliveryOf(partner, endpointId, order.id);
});
afterAll(() => test.close());

const pathOf = ({ connectionId }: Partner, rest = "") => `/api/connections/${connectionId}/deliveries${rest}`;
const personOf = ({ merchantId }: Partner): Client =>
  test.backOfficeFor({ kind: "merchant", merchantIds: [fromTypeId("mer", merchantId) ?? ""], name: "Mia" });

/** Each way to request the delivery, of this connection. */
const REQUESTS: [method: string, rest: () => string][] = [
  ["GET", () => ""],
  ["GET", () => "/export"],
  ["GET", () => `/${deliveryId}`],
  ["POST", () => `/${deliveryId}/redeliver`],
];

describe("the deliveries of a connection", () => {
  it.each(REQUESTS)(
    "%s returns the same for another merchant's staff as for a missing delivery",
    async (method, rest) => {
      const before = await dumpTables(test);
      const person = personOf(other);
      const foreign = await person.request(method, pathOf(partner, rest()));
      const missing = { ...partner, connectionId: "con_01m7y7np16fe68bxp4h91tdmdn" };
      expectProblem(foreign, 404, "not-found");
      expect(withoutItsOwn(await person.request(method, pathOf(missing, rest())))).toBe(
        withoutItsOwn(foreign),
      );
      expect(await dumpTables(test)).toEqual(before);
    },
  );

  it.each(REQUESTS)("%s is not for the warehouse", async (method, rest) => {
    const warehouse = test.backOfficeFor({ kind: "warehouse", name: "Willem" });
    expectProblem(await warehouse.request(method, pathOf(partner, rest())), 403, "forbidden");
  });

  it("are not found under another connection, not even by the operator", async () => {
    expectProblem(await test.backOffice.get(pathOf(other, `/${deliveryId}`)), 404, "not-found");
    expectProblem(await test.backOffice.post(pathOf(other, `/${deliveryId}/redeliver`)), 404, "not-found");
    expect((await test.backOffice.get(pathOf(other))).body).toEqual({ data: [], nextCursor: null });
  });

  it.each(["endpointId=x", "eventId=dlv_1", "status=lost", "cursor=abc", "limit=101"])(
    "rejects the filter %s",
    async (query) => {
      const [parameter = ""] = query.split("=");
      expectErrors(await test.backOffice.get(pathOf(partner, `?${query}`)), [{ parameter }]);
    },
  );

  it("are the same for the operator, the merchant's staff and the partner", async () => {
    const seen = (await partner.client.get("/v1/deliveries")).body;
    expect(seen.data).toHaveLength(1);
    const wait = { reason: "turn", until: null, error: null };
    const shown = { ...seen.data[0], externalOrderId: order.externalOrderId, wait };
    const page = { ...seen, data: [shown] };
    for (const client of [test.backOffice, personOf(partner)]) {
      expect((await client.get(pathOf(partner))).body).toEqual(page);
      expect((await client.get(pathOf(partner, `?orderId=${order.externalOrderId}`))).body).toEqual(page);
      expect((await client.get(pathOf(partner, "?status=failed"))).body.data).toEqual([]);
      expect((await client.get(pathOf(partner, `/${deliveryId}`))).body).toEqual(shown);
    }
  });

  it("are exported with the filters of the list, and no order that the log does not have", async () => {
    const rows = async (query: string, client = test.backOffice): Promise<string[]> => {
      const { status, body } = await client.get(pathOf(partner, `/export${query}`));
      expect(status, String(body)).toBe(200);
      const [head, ...others] = String(body).trimEnd().split("\r\n");
      expect(head).toMatch(
        /^id,createdAt,eventType,.*,attemptCount,lastAttemptAt,durationMs,responseStatus,error,/,
      );
      return others.map((row) =>
        row
          .split(",")
          .slice(0, 8)
          .filter((_, at) => at !== 1 && at !== 3)
          .join(" "),
      );
    };
    const row = [deliveryId, "order.created", "pending", order.id, order.externalOrderId, endpointId].join(
      " ",
    );
    for (const client of [test.backOffice, personOf(partner)]) {
      expect(await rows("?eventType=order.created", client)).toEqual([row]);
      expect(await rows(`?orderId=${order.externalOrderId}&status=pending`, client)).toEqual([row]);
      expect(await rows("?orderId=none", client)).toEqual([]);
      expect(await rows("?status=failed", client)).toEqual([]);
    }
    for (const [query, parameter] of [
      ["endpointId=x", "endpointId"],
      ["limit=1", "limit"],
    ] as const)
      expectErrors(await test.backOffice.get(pathOf(partner, `/export?${query}`)), [{ parameter }]);
  });

  it("say in the last row of a file that is too long where the next one continues", async () => {
    const { data } = (await test.backOffice.get(pathOf(partner))).body;
    let pages = 0;
    const read = async () => {
      pages += 1;
      return { data, nextCursor: pages < 5 ? encodeCursor("deliveries", Buffer.alloc(16)) : null };
    };
    const found = async (max: number) => {
      pages = 0;
      const ids: unknown[] = [];
      for await (const rows of deliveryRows(read, max))
        ids.push(...rows.map(([id, time]) => (id === "not complete" ? time : id)));
      return ids;
    };
    const [{ id, createdAt }] = data;
    const until = new Date(Date.parse(createdAt) + 1).toISOString();
    expect(await found(3)).toEqual([id, id, id, until]);
    expect(await found(5)).toEqual([id, id, id, id, id]);
  });

  it("leave an entry in the audit log when they are read with the order in their requests", async () => {
    const reads = async () =>
      (await test.backOffice.get(`/api/audit-entries?subjectId=${order.id}&action=getDelivery`)).body.data;
    const before = (await reads()).length;
    expect((await personOf(partner).get(pathOf(partner, `/${deliveryId}`))).status).toBe(200);
    const [entry, ...others] = await reads();
    expect(others).toHaveLength(before);
    expect(entry).toMatchObject({
      actor: { kind: "merchant", name: "Mia" },
      connectionId: partner.connectionId,
      details: { deliveryId },
    });
    const { body: pinged } = await partner.client.post(endpointPath(endpointId, "ping"));
    expect((await test.backOffice.get(pathOf(partner, `/${pinged.id}`))).status).toBe(200);
    expect(await reads()).toHaveLength(before + 1); // It is about no order.
  });

  it("are sent once more when requested, and only once while that is pending", async () => {
    const planned = await readRows(test, "due_deliveries", endpointId);
    for (const client of [test.backOffice, personOf(partner)]) {
      const { status, body } = await client.post(pathOf(partner, `/${deliveryId}/redeliver`));
      expect(status, JSON.stringify(body)).toBe(202);
      expect(body.id).toBe(deliveryId);
    }
    const added = (await readRows(test, "due_deliveries", endpointId)).length - planned.length;
    expect(added).toBe(1);
  });

  it("are not sent to a paused endpoint", async () => {
    await pauseEndpoint(test, endpointId);
    const before = await dumpTables(test);
    const asked = await test.backOffice.post(pathOf(partner, `/${deliveryId}/redeliver`));
    expectProblem(asked, 409, "endpoint-paused");
    expect(await dumpTables(test)).toEqual(before);
  });
});
