import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { type CliTest, startCliTest } from "../support/cli.ts";
import { runJob } from "../support/jobs.ts";
import { processDuePayments } from "../support/payments.ts";

let at: CliTest;
let other: Partner;
beforeAll(async () => {
  at = await startCliTest();
  other = await createPartner(at.test);
});
afterAll(() => at.test.close());

const cli = (args: string) => at.cli(args);
/** What a command prints that succeeds without a note. */
async function printed(args: string): Promise<string> {
  const { code, output, errors } = await cli(args);
  expect([code, errors]).toEqual([0, ""]);
  return output;
}

/** An accepted order of two lines of three units each. */
async function placeAccepted(externalOrderId: string): Promise<{ id: string; lineIds: string[] }> {
  const lines = at.partner.productIds.map((productId) => ({ productId, quantity: 3 }));
  const { id } = await placeOrder(at.partner, { externalOrderId, lines });
  await at.test.db.runScript(
    `update orders
     set created_at = now() - interval '3 hours', acceptance_due_at = now() - interval '1 hour'
     where id = (select order_id from order_requests where external_order_id = '${externalOrderId}')`,
  );
  await runJob(at.test, "accept-orders");
  const { body } = await at.test.backOffice.get(`/api/orders/${id}`);
  expect(body.status).toBe("ACCEPTED");
  return { id, lineIds: body.lines.map((line: { id: string }) => line.id) };
}

describe("commands that take an order", () => {
  it("take the partner's own id, real or test, and show the same order", async () => {
    const real = await placeOrder(at.partner, { externalOrderId: "web-1/ö 1" });
    const rehearsed = await placeTestOrder(at.partner, { externalOrderId: "test-1" });
    expect((await cli('order show "web-1/ö 1" --json')).json().id).toBe(real.id);
    expect((await cli("order show test-1 --json")).json().id).toBe(rehearsed.id);
  });

  it("list the orders if several connections use the id, and take --connection", async () => {
    const own = await placeOrder(at.partner, { externalOrderId: "same" });
    const foreign = await placeOrder(other, { externalOrderId: "same" });
    const { code, output, errors } = await cli("order cancel same");
    expect([code, output]).toEqual([2, ""]);
    expect(errors).toMatch(
      /^Several orders have the id same: add --connection, or give the id of one\.\nID /,
    );
    for (const text of [own.id, foreign.id, at.partner.connectionId, other.connectionId])
      expect(errors).toContain(text);
    expect(await printed(`order cancel same --connection ${other.connectionId}`)).toMatch(/^Canceled\./);
    expect((await cli(`order show ${own.id} --json`)).json().status).toBe("NEW");
  });

  it("create, move and cancel test orders of a connection, by the partner's own id too", async () => {
    const connection = `--id ${at.partner.connectionId}`;
    const address = { firstName: "Ada", lastName: "Lovelace", address1: "Street", city: "London", zip: "N1" };
    const body = JSON.stringify({
      shippingAddress: { ...address, countryCode: "FR" },
      metadata: { color: "red" },
    });
    const sent = `${connection} --lines "${at.partner.productIds[0]} 2" --externalOrderId rehearsal`;
    const country = "--shippingAddress.countryCode GB";
    const { order } = (await at.cli(`api createTestOrder ${sent} ${country} --json -`, body)).json();
    expect(order.shippingAddress).toMatchObject({ countryCode: "GB", city: "London" });
    expect(order).toMatchObject({ testMode: true, externalOrderId: "rehearsal", metadata: { color: "red" } });
    expect(await printed(`api listTestOrders ${connection} --status NEW --all`)).toContain(order.id);
    const at1 = `${connection} --orderId rehearsal`;
    const moved = await cli(`api transitionTestOrder ${at1} --transition hold --reasons a --reasons b`);
    expect(moved.json().order.onHoldReasons).toEqual(["a", "b"]);
    expect((await cli(`api cancelTestOrder ${at1}`)).json().order.status).toBe("CANCELED");
    const shown = await cli(`api getTestOrder ${connection} --orderId ${order.id}`);
    expect(shown.json().order.status).toBe("CANCELED");
    expect((await cli(`api createTestOrder ${connection} --lines mug`)).code).toBe(2);
  });

  it("report an id that no order has, one of another connection, and one that is too long", async () => {
    await placeOrder(at.partner, { externalOrderId: "mine" });
    for (const args of ["order show nowhere", `order show mine --connection ${other.connectionId}`])
      expect(await cli(args)).toMatchObject({ code: 1, errors: "Resource not found: No such order.\n" });
    const long = await cli(`order show ${"x".repeat(201)}`);
    expect(long).toMatchObject({ code: 1, output: "" });
    expect(long.errors).toMatch(/externalOrderId: must/);
  });

  it("also where an option names the order", async () => {
    const { id } = await placeOrder(at.partner, { externalOrderId: "charged-1" });
    await processDuePayments(at.test);
    expect(await printed(`account list ${at.partner.merchantId} --order charged-1`)).toContain(id);
  });
});

describe("commands that change an order say what has changed", () => {
  it("hold, release-hold and cancel", async () => {
    await placeOrder(at.partner, { externalOrderId: "held" });
    expect(await printed("order hold held")).toBe("Held: merchant_request.\n");
    expect(await printed("order hold held --reasons fraud_check,other")).toBe(
      "Held: fraud_check, other. Also on hold: merchant_request.\n",
    );
    expect(await printed("order release-hold held --reasons other")).toBe(
      "Released: other. Still on hold: merchant_request, fraud_check.\n",
    );
    expect(await printed("order release-hold held")).toBe("Released. The order is not on hold.\n");
    expect(await printed("order cancel held")).toBe("Canceled. The order is CANCELED.\n");
  });

  it("ship, shipment change, complete and return", async () => {
    const { id, lineIds } = await placeAccepted("shipped");
    const tracking = '--carrier "Royal Mail" --tracking-number RM1';
    const first = await printed(`order ship shipped --lines ${lineIds[0]} ${tracking}`);
    const [, shipment = ""] = /Shipment (shp_\w+)\.\n$/.exec(first) ?? [];
    expect(first).toBe(`Shipped: 1 line with Royal Mail RM1, 1 line remains. Shipment ${shipment}.\n`);
    expect(await printed("order ship shipped")).toMatch(
      /^Packed, not yet with the carrier: 1 line, no line remains\. Shipment shp_\w+\.\n$/,
    );
    expect(await printed(`shipment change ${shipment} --status delivered`)).toBe(
      `id      ${shipment}\nstatus  delivered\n`,
    );
    expect(await printed(`shipment show ${shipment}`)).toContain(id);
    expect(await printed("order complete shipped")).toBe("Completed. The order is COMPLETED.\n");
    const some = `--quantities "${lineIds[0]} 2" --reason damaged --restock yes`;
    expect(await printed(`order return shipped ${some}`)).toMatch(
      /^Returned: 2 units(, restocked)?\. The order is COMPLETED\.\n$/,
    );
  });

  it("refund and correct-address, and with --json the whole response", async () => {
    await placeOrder(at.partner, { externalOrderId: "refunded" });
    await processDuePayments(at.test);
    const refund = 'order refund refunded --amount "2.50 EUR" --reason late --reference ticket-1';
    expect(await printed(refund)).toMatch(/^Refunded: 2\.50 EUR\. Refund rfd_\w+\.\n$/);
    const version = (await cli("order show refunded --json")).json().shippingAddressVersion;
    const correct = "order correct-address refunded --city Leeds --zip LS1";
    expect(await printed(`${correct} --expected-version ${version}`)).toBe("Corrected: city, zip.\n");
    const whole = (await cli("order hold refunded --json")).json();
    expect(whole).toMatchObject({ onHoldReasons: ["merchant_request"], timeline: expect.any(Array) });
  });
});

describe("what lists and other commands show", () => {
  it("order list shows merchant, units, value, country and age", async () => {
    const { id } = await placeAccepted("listed");
    const [head, row] = (await printed(`order list --search ${id}`)).split("\n");
    expect(head).toMatch(/STATUS +ON HOLD REASONS +MERCHANT +UNITS +GOODS +COUNTRY +AGE$/);
    expect(row).toMatch(/ACCEPTED +- +\S.*? +6 +60\.00 EUR +GB +3 h$/);
  });

  it("lists without rows show the head of their table", async () => {
    const { id } = (
      await cli("person invite --name Ada --email ada@example.com --grants operator --json")
    ).json();
    expect(await printed("person list --role monitoring")).toMatch(/^ID +NAME +EMAIL +STATE .*\n$/);
    expect(await printed("person list --search ada@")).toContain(id);
  });

  it("key create says that the key is shown only once, on standard error", async () => {
    const { code, output, errors } = await cli(`key create --connection ${at.partner.connectionId}`);
    expect([code, errors]).toEqual([0, "The key is shown only this once. Store it now.\n"]);
    const [, id] = /^id +(\S+)$/m.exec(output) ?? [];
    expect(await printed(`key show ${id}`)).toMatch(/^prefix +\S+$/m);
  });

  it("account commands take the merchant as argument, and statement writes CSV", async () => {
    const { merchantId } = at.partner;
    expect(await printed(`account show ${merchantId}`)).toMatch(/^balance /m);
    expect((await cli("account show")).errors).toMatch(/missing required argument 'merchant'/);
    const csv = await printed(`account statement ${merchantId} --format csv --from 2026-01-01`);
    expect(csv).toMatch(/^bookedAt,kind,.*\r?\n2026-01-01T00:00:00\.000Z,opening,/);
    expect(csv).toMatch(/,closing,.*\r?\n$/);
  });

  it("show exists for products and audit entries too, and help marks what is required", async () => {
    const [productId] = at.partner.productIds;
    expect(await printed(`product show ${productId}`)).toContain(productId);
    const [entry] = (await cli("audit list --limit 1 --json")).json().data;
    expect(await printed(`audit show ${entry.id}`)).toContain(entry.action);
    expect(await printed("audit list --limit 100 --from 2026-01-01 --to 2999-01-01 --all")).toMatch(
      new RegExp(`^${entry.id} .* ${entry.action} +command line`, "m"),
    );
    const { output } = await cli("merchant create --help");
    expect(output.replace(/\s+/g, " ")).toMatch(/--account-email <text> .*? \(required\)/);
  });
});
