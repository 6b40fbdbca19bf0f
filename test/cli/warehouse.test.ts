import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import { type CliTest, startCliTest } from "../support/cli.ts";
import { createFacility } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";

let at: CliTest;
beforeEach(async () => {
  at = await startCliTest();
});
afterEach(() => at.test.close());

/** What a command prints that succeeds without a note. */
async function printed(args: string): Promise<string> {
  const { code, output, errors } = await at.cli(args);
  expect([code, errors]).toEqual([0, ""]);
  return output;
}

/** An order that can be picked. Without facilities it has none. */
async function placeReady(): Promise<string> {
  const { id } = await placeOrder(at.partner);
  await at.test.db.runScript(
    "update orders set created_at = now() - interval '3 hours', acceptance_due_at = now() - interval '1 hour'",
  );
  await runJob(at.test, "accept-orders");
  await runJob(at.test, "route-orders");
  return id;
}

describe("what the warehouse picks", () => {
  it("is a table, or with --format csv a file with a row for each line", async () => {
    const id = await placeReady();
    const table = await printed("work-list list");
    expect(table).toMatch(new RegExp(`^ORDER ID .*\\n${id} `));
    expect(await printed("work-list list --format text")).toBe(table);
    expect(await printed("work-list list --format csv")).toMatch(
      new RegExp(`^orderId,.*\\r\\n${id},.*\\r\\n$`),
    );
    const taken = await printed("pick-list take --by Wilma");
    const [, pickList] = /^pick list\n {2}id +(\S+)$/m.exec(taken) ?? [];
    expect(taken).toContain(id);
    expect(await printed(`pick-list show ${pickList} --format csv`)).toContain(id);
    expect(await printed(`pick-list show ${pickList}`)).toBe(taken);
  });

  it("says that nothing was taken, and names --facility where it is missing", async () => {
    const facility = await createFacility(at.test);
    expect(await printed("pick-list take --by Wilma")).toBe(
      "No order was taken: none without a facility is free. Name a facility with --facility.\n",
    );
    expect(await printed(`pick-list take --by Wilma --facility ${facility}`)).toBe(
      "No order was taken: none is free at this facility.\n",
    );
    expect((await at.cli("pick-list take --by Wilma --json")).json()).toEqual({ pickList: null, orders: [] });
    const { output } = await at.cli("pick-list take --help");
    expect(output.replace(/\s+/g, " ")).toContain(
      "Absent: orders without a facility, if there are no facilities",
    );
  });
});
