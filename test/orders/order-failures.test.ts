import { beforeEach, describe, expect, it } from "vitest";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createSibling } from "../support/facilities.ts";
import { runJob, storedStatuses } from "../support/jobs.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// One order that cannot be stored keeps no other waiting; routing has tests of its own for that.

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
});

/** The failures that a job's run reports. */
const errorsOf = (job: string): Promise<string[]> =>
  runJob(test, job).then(
    () => [],
    (error: AggregateError) => error.errors.map(({ message }: Error) => message),
  );

describe("an order that cannot be accepted", () => {
  const place = async (by = partner): Promise<string> => {
    test.clock.advance({ ms: 1 });
    return (await placeOrder(by)).id;
  };

  it("delays no other order, is reported with its id, and is accepted as soon as possible", async () => {
    const sibling = await createSibling(test, partner);
    const ids = [await place(), await place(), await place(), await place(sibling)];
    const repair = await blockOrderChanges(test, ids[1] ?? "");
    test.clock.advance({ hours: 2 });
    expect(await errorsOf("accept-orders")).toEqual([`Order ${ids[1]} could not be accepted.`]);
    expect(await storedStatuses(test)).toEqual(["ACCEPTED", "NEW", "ACCEPTED", "ACCEPTED"]);
    await repair();
    expect(await runJob(test, "accept-orders")).toBe(1);
    expect(new Set(await storedStatuses(test))).toEqual(new Set(["ACCEPTED"]));
  });

  it("delays no other order, even if a whole batch fails", async () => {
    const first = await place();
    await Promise.all(Array.from({ length: 498 }, () => placeOrder(partner)));
    const last = await place();
    await place();
    await blockOrderChanges(test, first, last);
    test.clock.advance({ hours: 2 });
    expect(await errorsOf("accept-orders")).toHaveLength(10); // The first of them: a log has to stay readable.
    const statuses = await storedStatuses(test);
    expect([statuses.filter((status) => status === "NEW").length, statuses.at(-1)]).toEqual([
      500,
      "ACCEPTED",
    ]);
  });
});

describe("an order that cannot be completed", () => {
  it("delays no other order, and is reported with its id", async () => {
    const path = `/api/merchants/${partner.merchantId}`;
    await test.backOffice.request("PATCH", path, { body: { completeWhenShipped: true } });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await placeAcceptedOrder(test, partner);
      await operationApplied(test, id, "ship");
      ids.push(id);
    }
    await runJob(test, "process-payments");
    const repair = await blockOrderChanges(test, ids[1] ?? "");
    const statuses = () => Promise.all(ids.map(async (id) => (await readDetail(test, id)).status));
    expect(await errorsOf("complete-shipped-orders")).toEqual([`Order ${ids[1]} could not be completed.`]);
    expect(await statuses()).toEqual(["COMPLETED", "IN_PROGRESS", "COMPLETED"]);
    await repair();
    expect(await runJob(test, "complete-shipped-orders")).toBe(1);
    expect(await statuses()).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
  });
});
