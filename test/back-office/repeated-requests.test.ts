import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import {
  type AuditedWorld,
  backOfficeChanges,
  type ChangeRequest,
  importedFiles,
  orderRequest,
} from "../support/audited-changes.ts";
import { createPartner } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { shipTwoParcels } from "../support/returnable-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

// The table of docs/back-office.md: what happens if the response to a request is lost, and the caller repeats it.

let test: TestService;
let world: AuditedWorld;
beforeAll(async () => {
  test = await startTestService({ config: { stripeSecretKey: "sk_test_1" } });
  const partner = await createPartner(test);
  world = { test, partner, reviewed: await createPartner(test, { reviewPolicy: { maxQuantity: 1 } }) };
});
afterAll(() => test.close());

/** @param file the body of an import */
const send = ([method, path, body]: ChangeRequest, file?: string): Promise<Answer> =>
  test.backOffice.request(
    method,
    path,
    file === undefined ? { body } : { rawBody: file, headers: { "content-type": "text/csv" } },
  );

/**
 * All rows, without the records of the requests themselves, the time at which rates were set, and the requests to attempt
 * declined charges again, of which there are none.
 */
async function dumpState(): Promise<object> {
  const {
    audit_entries: _entries,
    timeline_entries: _timeline,
    payment_retries: _retries,
    facilities,
    ...state
  } = await dumpTables(test);
  return { ...state, facilities: facilities?.length };
}

/** Sends a request twice. Returns the second response, and whether it changed anything. */
async function repeat(
  request: ChangeRequest,
  file?: string,
): Promise<{ answer: Answer; isChanged: boolean }> {
  const first = await send(request, file);
  expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
  const before = JSON.stringify(await dumpState());
  const answer = await send(request, file);
  return { answer, isChanged: JSON.stringify(await dumpState()) !== before };
}

/** What changes goods, money and orders. */
const TAGS = ["Orders", "Money", "Products", "Facilities", "Work list"];

/** These do the same again if they are repeated. The reason is what the caller can see before. */
const REPEATED = new Map([
  ["createProduct", "listed by SKU; an import rejects a SKU that exists"],
  ["createFacility", "listed, and can be closed"],
  ["addOrderNote", "shown in the timeline, and moves updatedAt"],
  ["adjustStock", "without a reference"],
  ["takePickList", "listed, and can be released"],
]);
const REJECTED = new Set([
  "approveOrder",
  "rejectOrder",
  "cancelOrder",
  "completeOrder",
  "shipOrder",
  "returnShipment",
  "importProducts",
  "deleteBankDetails",
]);

describe("a repeated request of the back office", () => {
  const changing = backOfficeRoutes.filter(({ method, tag }) => method !== "GET" && TAGS.includes(tag));

  it.each(
    changing.map(({ operationId }) => [
      operationId,
      REPEATED.has(operationId)
        ? "has its effect again"
        : REJECTED.has(operationId)
          ? "is rejected"
          : "has no effect",
    ]),
  )("%s %s", async (operationId, outcome) => {
    const request = await backOfficeChanges(world)[operationId]?.();
    if (request === undefined) throw new Error(`Add a request of ${operationId} to audited-changes.ts.`);
    const { answer, isChanged } = await repeat(request, importedFiles(world)[operationId]);
    expect(isChanged).toBe(outcome === "has its effect again");
    expect(answer.status >= 400, JSON.stringify(answer.body)).toBe(outcome === "is rejected");
  });

  it("ships units of a line once", async () => {
    const partner = await createPartner(test);
    const lines = [{ productId: partner.productIds[0], quantity: 3 }];
    const order = await placeAcceptedOrder(test, partner, { lines });
    await routeAll(test);
    const body = { lines: [{ lineId: order.lines[0].id, quantity: 1 }] };
    const { answer, isChanged } = await repeat(orderRequest(order.id, "ship", body));
    expect([answer.status, answer.body.rule, isChanged]).toEqual([409, "nothing_to_ship", false]);
  });

  it("brings units back once with a reference, and again without one", async () => {
    const { id, lines } = await shipTwoParcels(test, await createPartner(test));
    const body = { lines: [{ lineId: lines[0], quantity: 1 }] };
    const named = await repeat(orderRequest(id, "return", { ...body, reference: "note-1" }));
    expect([named.answer.status, named.isChanged]).toEqual([200, false]);
    const unnamed = await repeat(orderRequest(id, "return", body));
    expect([unnamed.answer.status, unnamed.isChanged]).toEqual([200, true]);
  });

  it("adjusts stock once with a reference", async () => {
    const [productId = ""] = world.reviewed.productIds;
    const facility = await createFacility(test);
    await setStock(test, facility, productId, 5);
    const path = `/api/facilities/${facility}/stock/${productId}/adjust`;
    const { answer, isChanged } = await repeat([
      "POST",
      path,
      { difference: -1, reason: "lost", reference: "a" },
    ]);
    expect([answer.status, isChanged]).toEqual([200, false]);
  });
});
