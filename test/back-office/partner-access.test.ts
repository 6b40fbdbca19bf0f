import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARTNERS_TOO } from "../support/back-office-permissions.ts";
import {
  createMerchantResources,
  developerOf,
  type MerchantResources,
  requestsOf,
} from "../support/back-office-resources.ts";
import { created } from "../support/builders.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { createTestOrder } from "../support/test-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let own: MerchantResources;
/** Of another connection of the same merchant. */
let neighbor: Client;
let stranger: Client;
beforeAll(async () => {
  test = await startTestService();
  own = await createMerchantResources(test);
  const path = `/api/merchants/${own.partner.merchantId}/connections`;
  const { id: connectionId } = await created(test.backOffice.post(path, { name: "Neighbor" }));
  neighbor = developerOf(test, { ...own.partner, connectionId });
  stranger = developerOf(test, (await createMerchantResources(test)).partner);
});
afterAll(() => test.close());

/** The resources have a live key, which is the merchant's (docs/design/people.md, "Partners' developers"). */
const OF_LIVE_KEYS = ["createKey"];
const requestsFor = (resources: MerchantResources) =>
  requestsOf(resources)
    .filter(
      ({ operationId, path }) => PARTNERS_TOO.includes(operationId) && path.startsWith("/api/connections/"),
    )
    .filter(({ operationId }) => !OF_LIVE_KEYS.includes(operationId))
    .sort((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"));

const OF_MERCHANT =
  /"(price|amount|unitPrice|goods|charges|refunds|balance|accountEmail|creditLimit)":(?!null|\[\])/;

describe("a partner's developer", () => {
  it("uses its own connection, and sees nothing of its merchant's business", async () => {
    const developer = developerOf(test, own.partner);
    for (const { operationId, path, send } of requestsFor(own)) {
      const { status, body } = await send(developer);
      expect([401, 403, 404], `${operationId} ${path}`).not.toContain(status);
      expect(JSON.stringify(body ?? {}), operationId).not.toMatch(OF_MERCHANT);
    }
  });

  it.each(["neighbor", "stranger"] as const)("finds nothing as a %s, as if it were missing", async (who) => {
    const client = who === "neighbor" ? neighbor : stranger;
    const before = await dumpTables(test);
    const ids = Object.fromEntries(
      Object.keys(own.ids).map((name) => [name, missing(String(own.ids[name]))]),
    );
    const nowhere = requestsFor({ ...own, ids });
    for (const [index, { operationId, send }] of requestsFor(own).entries()) {
      const foreign = await send(client);
      expect(foreign.status, operationId).toBe(404);
      expect(withoutItsOwn(foreign), operationId).toBe(
        withoutItsOwn((await nowhere[index]?.send(client)) ?? foreign),
      );
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is named by what it changes", async () => {
    const developer = developerOf(test, own.partner);
    const { order } = await createTestOrder(developer, own.partner);
    const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${order.id}`);
    expect(body.data[0].actor).toMatchObject({ kind: "partner", name: "Dev Developer" });
  });
});

/** An id of the same form that names nothing. */
const missing = (id: string): string =>
  id.includes("_")
    ? `${id.split("_")[0]}_01m7y7np16fe68bxp4h91tdmdn`
    : "019f1f83-aac1-73a5-9745-52489a50b5b6";
