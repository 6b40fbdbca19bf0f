import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ENTRIES_READ_MAX } from "../../src/audit/audit-sql.ts";
import { exportAuditEntries } from "../../src/audit/record-audit.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { UUID_MAX, UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { countRows, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { expectErrors } from "../support/orders.ts";
import {
  type Client,
  OPERATOR_TOKEN,
  startServiceForTest,
  startTestService,
  type TestService,
} from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  [partner, other] = [await createPartner(test), await createPartner(test)];
});
afterAll(() => test.close());
beforeEach(() => void test.clock.advance({ seconds: 1 }));

async function entriesFor(query: string, service = test) {
  const { status, body } = await service.backOffice.get(`/api/audit-entries?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}
const actionsFor = async (query: string): Promise<string[]> =>
  (await entriesFor(query)).map(({ action }: { action: string }) => action);

describe("GET /api/audit-entries", () => {
  it("lists entries newest first, page by page", async () => {
    const all = await entriesFor("limit=100");
    expect(all.map(({ id }: { id: string }) => id)).toEqual(
      all
        .map(({ id }: { id: string }) => id)
        .toSorted()
        .reverse(),
    );
    const paged: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await test.backOffice.get(
        `/api/audit-entries?limit=3${cursor && `&cursor=${cursor}`}`,
      );
      paged.push(...body.data);
      cursor = body.nextCursor;
    }
    expect(paged).toEqual(all);
  });

  it("is filtered by merchant, connection, action, actor, subject and time", async () => {
    const person = personOf(test, partner.merchantId);
    const path = `/api/connections/${partner.connectionId}`;
    const since = test.clock.now().toISOString();
    await person.request("PATCH", path, { body: { name: "By a person" } });
    test.clock.advance({ seconds: 1 });
    const until = test.clock.now().toISOString();
    await test.backOffice.request("PATCH", path, { body: { name: "By the operator" } });

    expect(await actionsFor(`action=updateConnection`)).toHaveLength(2);
    expect(await actionsFor(`action=updateConnection&actor=operator`)).toHaveLength(1);
    expect(await actionsFor(`actor=Mia%20Merchant`)).toEqual(["updateConnection"]);
    expect(await actionsFor(`actor=merchant`)).toEqual(["updateConnection"]);
    expect(await actionsFor(`from=${since}&to=${until}`)).toEqual(["updateConnection"]);
    expect(await actionsFor(`from=${until}`)).toEqual(["updateConnection"]);
    expect(await actionsFor(`merchantId=${other.merchantId}&action=updateConnection`)).toEqual([]);
    expect(await actionsFor(`connectionId=${partner.connectionId}&action=updateConnection`)).toHaveLength(2);
    expect((await actionsFor(`merchantId=${other.merchantId}`)).at(-1)).toBe("createMerchant");
    expect(await actionsFor(`subjectId=${other.productIds[0]}`)).toEqual(["exposeProduct", "createProduct"]);
    expect(await actionsFor(`subjectId=${other.connectionId}`)).toEqual(["createConnection"]);
  });

  it("is narrowed to changes, reads or sign-ins, and to several operations", async () => {
    const order = await placeOrder(partner);
    await test.backOffice.get(`/api/orders/${order.id}`);
    await test.backOffice.get("/api/search?q=lovelace");
    await test.backOffice.post(`/api/orders/${order.id}/notes`, { text: "Called." });
    const ofOrder = (query: string) => actionsFor(`subjectId=${order.id}${query}`);
    expect(await ofOrder("")).toHaveLength(3);
    expect(await ofOrder("&kind=change")).toEqual(["addOrderNote"]);
    expect((await ofOrder("&kind=read")).toSorted()).toEqual(["getOrder", "search"]);
    expect(await ofOrder("&kind=sign-in")).toEqual([]);
    expect(await ofOrder("&action=addOrderNote,getOrder")).toHaveLength(2);
    expect((await test.backOffice.get("/api/audit-entries?kind=all")).status).toBe(422);
  });

  it("reads a leap second as the second before it", async () => {
    expect(await actionsFor("to=2016-12-31T23:59:60Z")).toEqual([]);
    expect(await actionsFor("from=2016-12-31T23:59:60Z&limit=100")).toContain("createMerchant");
  });

  it("shows the values that were set, and shortens texts of callers", async () => {
    const name = "n".repeat(255);
    const path = `/api/connections/${partner.connectionId}`;
    await test.backOffice.request("PATCH", path, { body: { name } });
    const [entry] = await entriesFor("limit=1");
    expect(entry.details).toEqual({ name: `${"n".repeat(199)}…` });
    expect(entry).toMatchObject({ subjectIds: [partner.connectionId], merchantId: partner.merchantId });
  });

  it("returns the changed limits of a connection", async () => {
    const path = `/api/connections/${partner.connectionId}`;
    await test.backOffice.request("PATCH", path, { body: { limits: { endpoints: 7 } } });
    const [entry] = await entriesFor("limit=1");
    expect(entry.details).toEqual({ endpoints: "7" });
  });

  it("shows entries that belong to no merchant", async () => {
    const id = await createFacility(test, { rates: [] });
    expect(await entriesFor(`subjectId=${id}&action=createFacility`)).toMatchObject([
      { merchantId: null, connectionId: null, details: { name: "Facility", countryCode: "GB" } },
    ]);
  });

  it("rejects filters that are not ids", async () => {
    for (const name of ["merchantId", "connectionId", "subjectId"])
      expectErrors(await test.backOffice.get(`/api/audit-entries?${name}=x`), [{ parameter: name }]);
  });

  it("is the operator's", async () => {
    for (const client of [warehouseOf(test), personOf(test, partner.merchantId)])
      expect((await client.get("/api/audit-entries")).status).toBe(403);
  });
});

describe("a read of personal data", () => {
  let id: string;
  let wilma: Client;
  beforeAll(async () => {
    ({ id } = await placeOrder(partner));
    wilma = warehouseOf(test);
  });
  const readsOf = (orderId: string) => entriesFor(`subjectId=${orderId}`);

  it("is recorded when a person reads an order", async () => {
    await wilma.get(`/api/orders/${id}`);
    expect(await readsOf(id)).toMatchObject([
      {
        action: "getOrder",
        actor: { kind: "warehouse", name: "Wilma Packer" },
        subjectIds: [id],
        merchantId: partner.merchantId,
        connectionId: partner.connectionId,
      },
    ]);
  });

  it("is recorded with all orders of a list, for each merchant, without the text that was searched for", async () => {
    const one = (await placeOrder(other)).id;
    const two = (await placeOrder(other)).id;
    await wilma.get("/api/orders?q=Lovelace&onHold=false");
    const [listed] = await readsOf(one);
    expect(listed).toMatchObject({ action: "listOrders", merchantId: other.merchantId });
    expect(listed.subjectIds.toSorted()).toEqual([one, two].toSorted());
    expect(listed.details).toEqual({ onHold: "false", searched: "true" });
    expect((await readsOf(id))[0]).toMatchObject({ action: "listOrders", requestId: listed.requestId });
  });

  it("is recorded for test orders by their own ids", async () => {
    const { id: testId } = await placeTestOrder(partner);
    await wilma.get(`/api/orders/${testId}`);
    expect(await readsOf(testId)).toMatchObject([{ action: "getOrder", subjectIds: [testId] }]);
  });

  it("leaves no entry when nothing was read", async () => {
    const before = await countRows(test, "audit_entries");
    await wilma.get("/api/orders?q=nobody-of-this-name");
    expect((await wilma.get("/api/orders/ord_01m7y7np16fe68bxp4h91tdmdn")).status).toBe(404);
    expect(await countRows(test, "audit_entries")).toBe(before);
  });

  it("is rejected if it cannot be recorded", async () => {
    const service = await startServiceForTest();
    const { id: orderId } = await placeOrder(await createPartner(service));
    await service.db.runScript(
      "alter table audit_entries add constraint refuse check (action <> 'getOrder') not valid",
    );
    const answer = await service.backOffice.get(`/api/orders/${orderId}`);
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.body)).not.toContain("Lovelace");
  });
});

describe("the size of the log", () => {
  /** Entries of another actor, older than all others. */
  const fill = (service: TestService, count: number, from: string) =>
    service.db.query({
      name: "test-fill-audit",
      text: `
        insert into audit_entries (merchant_id, id, action, actor_kind, actor_name, subject_type, subject_ids, details, created_at)
        select $1, (substr($2, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'filled', 'operator', 'filler', 'mer', array[$1::uuid], '{}', now()
        from generate_series(1, $3::integer) as n`,
      values: [fromTypeId("mer", partner.merchantId), from, count],
    });

  it("does not slow a list down: a page reads a limited part of it, and the next one continues", async () => {
    const service = await startServiceForTest();
    await fill(service, 2 * ENTRIES_READ_MAX + 10, "019cae00-0000-7000-8000-000000000000");
    await service.backOffice.post("/api/merchants", { name: "Newest", accountEmail: "m@example.com" });
    let pages = 0;
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; pages += 1) {
      const query = `/api/audit-entries?action=createMerchant${cursor && `&cursor=${cursor}`}`;
      const { body } = await service.backOffice.get(query);
      found.push(...body.data.map(({ action }: { action: string }) => action));
      cursor = body.nextCursor;
    }
    expect(found).toEqual(["createMerchant"]);
    expect(pages).toBe(3);
  });

  it("is bounded by AUDIT_RETENTION_DAYS: older entries are deleted, younger ones stay", async () => {
    const service = await startServiceForTest({ config: { auditRetentionMs: 24 * 3_600_000 } });
    await fill(service, 4_500, "019c0000-0000-7000-8000-000000000000");
    await service.backOffice.post("/api/merchants", { name: "Young", accountEmail: "m@example.com" });
    expect(await runJob(service, "purge-audit-entries")).toBe(4_500);
    expect(await countRows(service, "audit_entries")).toBe(1);
    service.clock.advance({ hours: 25 });
    expect(await runJob(service, "purge-audit-entries")).toBe(1);
  });
});

describe("GET /api/audit-entries/export", () => {
  const exported = async (query: string) => {
    const answer = await test.inject({
      method: "GET",
      url: `/api/audit-entries/export?${query}`,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer;
  };

  it("has all that the list has with the same filters, as CSV and as NDJSON, and is recorded", async () => {
    const query = `merchantId=${partner.merchantId}&action=createConnection`;
    const listed = await entriesFor(query);
    expect(listed.length).toBeGreaterThan(0);
    const lines = (await exported(`${query}&format=ndjson`)).body.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(listed);
    const csv = await exported(query);
    expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8");
    const [head, first = ""] = csv.body.split("\r\n");
    expect(head).toMatch(/^id,createdAt,action,/);
    expect(first).toContain(listed[0].id);
    expect(csv.body.trim().split("\r\n")).toHaveLength(listed.length + 1);
    expect(await actionsFor(`merchantId=${partner.merchantId}&limit=2`)).toEqual([
      "exportAuditEntries",
      "exportAuditEntries",
    ]);
  });

  it("rejects what the list rejects, and callers who may not read the log", async () => {
    const wrong = await test.backOffice.get("/api/audit-entries/export?subjectId=nothing");
    expect(wrong.status).toBe(422);
    expect((await personOf(test, partner.merchantId).get("/api/audit-entries/export")).status).toBe(403);
  });

  it("ends a file that would be too large with the time from which the next one continues", async () => {
    const filter = {
      merchantId: null,
      connectionId: null,
      actor: null,
      actions: null,
      kind: null,
      subjectId: null,
    };
    const range = { beforeId: UUID_MAX, fromId: UUID_MIN };
    const partsOf = async (limits: Parameters<typeof exportAuditEntries>[3]) => {
      const parts = [];
      for await (const part of exportAuditEntries(test.db, filter, range, limits)) parts.push(part);
      return parts;
    };
    const all = await entriesFor("limit=3");
    const parts = await partsOf({ entriesMax: 2 });
    expect(parts.map(({ entries }) => entries?.length ?? null)).toEqual([2, null]);
    const continueBefore = new Date(Date.parse(all[1].createdAt) + 1);
    expect(parts.at(-1)).toMatchObject({ continueBefore });
    const stopped = await partsOf({ statementsMax: 0 });
    expect(stopped).toMatchObject([{ entries: null }]);
  });
});
