import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { type CliTest, startCliTest } from "../support/cli.ts";
import { processDuePayments } from "../support/payments.ts";

let at: CliTest;
beforeAll(async () => {
  at = await startCliTest();
});
afterAll(() => at.test.close());

const cli = (args: string, input?: string) => at.cli(args, input);

/** Each is a formula to some spreadsheet. */
const FORMULAS = [
  "=1+1",
  "+1",
  "-1",
  "@SUM(1)",
  "\t=1",
  "\r=1",
  "\n=1",
  " =1+1",
  "\u00a0=1",
  "\ufeff=1",
  "\u200b=1",
  "x;=cmd|' /C calc'!A0;y",
  "x\t=1+1\ty",
  "x; =1",
  "x\n=1",
  'x\n"=1',
  'x;"=1"',
  "x;;=1",
  "a,b;@SUM(1)",
  "＝1+1",
  "＋1",
  "－1",
  "＠SUM(1)",
  "x;＝1",
];

describe("order export", () => {
  let shop: Partner;
  const evil = {
    firstName: "=HYPERLINK(1)",
    lastName: '+"quoted", and',
    company: "@x",
    phone: "+44 1",
    address2: "two\nlines",
  };
  beforeAll(async () => {
    shop = await createPartner(at.test);
    for (let n = 0; n < 3; n += 1) {
      const lines = shop.productIds.map((productId) => ({ productId, quantity: n + 1 }));
      const { shippingAddress } = anOrder(shop);
      await placeOrder(shop, {
        externalOrderId: `-${n}`,
        lines,
        shippingAddress: { ...shippingAddress, ...evil },
        note: "=1+1",
        metadata: { shop: "7" },
      });
    }
    await placeOrder(shop, { testMode: true });
  });

  it("writes a row per line of real orders, which no spreadsheet takes for formulas", async () => {
    const { code, output, errors } = await cli(`order export --connection ${shop.connectionId}`);
    expect([code, errors]).toEqual([0, ""]);
    const [head, ...rows] = output.split("\r\n");
    expect(head).toMatch(/^\uFEFForderId,externalOrderId,merchantId,connectionId,status,/);
    expect(rows.filter((row) => row !== "")).toHaveLength(6);
    for (const row of rows.slice(0, 6)) {
      expect(row).toMatch(/^ord_\w+,'-\d,mer_\w+,con_\w+,NEW,,2/);
      expect(row).toContain(`,'=HYPERLINK(1),"'+""quoted"", and",`);
      expect(row).toContain(",'@x,");
      expect(row).toContain(',"two\nlines",');
      expect(row).toContain(",'+44 1,line_");
      expect(row).toMatch(/,SKU-1,\d,0,10\.00,EUR,,,,,,,,'=1\+1,"\{""shop"":""7""\}"(,[\d.]*){4}$/);
    }
  });

  it.each([
    ["commas", ","],
    ["semicolons, as Excel does in many countries", ";"],
    ["tabs", "\t"],
  ])("has no formulas for a spreadsheet that reads it with %s", async (_name, delimiter) => {
    const target = await createPartner(at.test);
    const { shippingAddress } = anOrder(target);
    for (const city of FORMULAS) await placeOrder(target, { shippingAddress: { ...shippingAddress, city } });
    const { output } = await cli(`order export --connection ${target.connectionId}`);
    const rows: string[][] = parse(output, { delimiter, relax_column_count: true, relax_quotes: true });
    const cells = rows.flat().map((cell) => cell.replace(/^[\s\p{Cf}"]+/u, ""));
    expect(cells.filter((cell) => /^[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
    expect(cells.length).toBeGreaterThan(FORMULAS.length);
  });

  it("writes an object per order as it is, for programs", async () => {
    const { output } = await cli(`order export --merchant ${shop.merchantId} --format ndjson`);
    const orders = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(orders.map(({ externalOrderId }) => externalOrderId)).toEqual(["-0", "-1", "-2"]);
    const { body } = await shop.client.get(`/v1/orders/${orders[0].id}`);
    expect(orders[0]).toMatchObject({
      ...body,
      merchantId: shop.merchantId,
      connectionId: shop.connectionId,
      lines: body.lines.map((line: object) => ({
        ...line,
        sku: "SKU-1",
        unitPrice: { amount: "10.00", currency: "EUR" },
      })),
    });
  });

  it("has what was charged and refunded, and the total on the first row of an order", async () => {
    const buyer = await createPartner(at.test);
    const lines = buyer.productIds.map((productId) => ({ productId, quantity: 1 }));
    const { id } = await placeOrder(buyer, { lines });
    await placeOrder(buyer);
    await processDuePayments(at.test);
    const refund = { amount: { amount: "2.50", currency: "EUR" }, reason: "late", reference: "ticket-1" };
    expect((await at.test.backOffice.post(`/api/orders/${id}/refund`, refund)).status).toBe(201);
    await processDuePayments(at.test);
    await placeOrder(buyer); // Not charged yet.
    const { output } = await cli(`order export --connection ${buyer.connectionId}`);
    const rows: Record<string, string>[] = parse(output, { columns: true, bom: true });
    const sums = ["goodsCharged", "shippingCharged", "refunded", "total"];
    expect(rows.map((row) => sums.map((name) => row[name]))).toEqual([
      ["20.00", "0.00", "2.50", "17.50"],
      ["", "", "", ""],
      ["10.00", "0.00", "0.00", "10.00"],
      ["0.00", "0.00", "0.00", "0.00"],
    ]);
    const objects = await cli(`order export --connection ${buyer.connectionId} --format ndjson`);
    expect(JSON.parse(objects.output.split("\n")[0] ?? "")).toMatchObject({
      total: { amount: "17.50", currency: "EUR" },
      charges: [
        { kind: "goods", status: "succeeded", amount: { amount: "20.00" } },
        { kind: "refund", status: "succeeded", amount: { amount: "2.50" } },
      ],
    });
    const shown = await cli(`account list ${buyer.merchantId} --order ${id}`);
    expect(shown.output.match(/ord_\w+/g)).toEqual([id, id]);
    const statement = await cli(`account statement ${buyer.merchantId} --from 2026-01-01T00:00:00Z`);
    expect(statement.output).toMatch(/^merchant id.*\nfrom/s);
    expect(statement.output).toMatch(/closing +-?\d+\.\d\d EUR/);
    const charge = await cli(`api getCharge --id ${id.replace("ord_", "chg_")}`);
    expect(charge.output).toContain(id);
  });

  it("narrows by status and by time of creation", async () => {
    const count = async (filter: string) =>
      (await cli(`order export --connection ${shop.connectionId} --format ndjson ${filter}`)).output.split(
        "\n",
      ).length - 1;
    expect(await count("--status CANCELED")).toBe(0);
    expect(await count("--since 2000-01-01 --status NEW")).toBe(3);
    expect(await count("--since 2999-01-01")).toBe(0);
    expect(await count("--until 2000-01-01T00:00:00+01:00")).toBe(0);
  });
});
