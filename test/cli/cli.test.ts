import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands/commands.ts";
import { countRows, type Partner, placeOrder } from "../support/builders.ts";
import { type CliTest, startCliTest } from "../support/cli.ts";
import { temporaryFolder } from "../support/main-process.ts";
import type { TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf } from "../support/webhooks.ts";

let at: CliTest;
let test: TestService;
let partner: Partner;
beforeAll(async () => {
  at = await startCliTest();
  ({ test, partner } = at);
});
afterAll(() => test.close());

const cli = (args: string, input?: string) => at.cli(args, input);

const statusWith = async (token: string): Promise<number> =>
  (await test.backOfficeAs(token).get("/api/me")).status;

describe("the command line", () => {
  it("lists its exit codes and every command in its help, with exit code 0", async () => {
    const { code, output, errors } = await cli("--help");
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/Exit codes:\n {2}0 {2}done\n {2}1 .*\n {2}2 .*\n {2}3 /);
    for (const { words } of COMMANDS) expect(output).toContain(`  ${words.split(" ")[0]} `);
  });

  it("creates a token with named scopes", async () => {
    const made = (
      await cli("token create --name W --role warehouse --scopes *:read,stock:write --json")
    ).json();
    expect(made.scopes).toEqual(expect.arrayContaining(["orders:read", "stock:write"]));
    expect(made.scopes).not.toContain("orders:write");
    expect((await cli("token list")).output).toContain(made.id);
  });

  it("creates, rotates and revokes tokens, and prints each once", async () => {
    const made = (await cli("token create --name Watch --role monitoring --json")).json();
    expect(await statusWith(made.token)).toBe(200);
    const rotated = await cli(`token rotate ${made.id} --overlap-hours 0 --expires-at 2999-01-01T00:00:00Z`);
    const [, token = ""] = /^token +(pot_monitoring_\S+)$/m.exec(rotated.output) ?? [];
    expect(rotated.output).toMatch(/^expires at +2999/m);
    expect(await statusWith(token)).toBe(200);
    const { replacedBy, ...ended } = (await cli(`token show ${made.id} --json`)).json();
    expect((await cli(`token revoke ${replacedBy}`)).output).toMatch(/^revoked at +2/m);
    expect(await statusWith(token)).toBe(401);
    expect(Date.parse(ended.expiresAt)).toBeLessThanOrEqual(Date.now());
    expect((await cli("token list --live no")).output).not.toContain(token);
    const shop = await cli(
      `token create --name Shop --role merchant --merchants ${partner.merchantId} --json`,
    );
    expect(shop.json().merchantIds).toEqual([partner.merchantId]);
    const developer = `--role partner --connections ${partner.connectionId}`;
    expect((await cli(`token create --name Dev ${developer} --json`)).json()).toMatchObject({
      connectionIds: [partner.connectionId],
    });
    expect((await cli("me show --json")).json()).toMatchObject({ role: "operator", tokenId: null });
  });

  it("does the operator's work from the merchant to the key, with text output", async () => {
    const merchant = (
      await cli('merchant create --name "Mugs & Co" --account-email m@example.com --json')
    ).json();
    expect(merchant).toMatchObject({ name: "Mugs & Co", currency: "EUR", creditLimit: null });
    const changed = await cli(`merchant change ${merchant.id} --credit-limit "500 EUR"`);
    expect(changed.output).toMatch(/^credit limit +500\.00 EUR$/m);
    const limits = '--max-quantity 5 --max-order-value "99.50 EUR" --countries DE,AT';
    const made = await cli(`connection create --merchant ${merchant.id} --name Shop ${limits} --json`);
    const connection = made.json();
    expect(connection.reviewPolicy).toMatchObject({
      maxQuantity: 5,
      countries: ["DE", "AT"],
      maxOrderValue: { amount: "99.50", currency: "EUR" },
    });
    const without = await cli(`connection change ${connection.id} --max-quantity none --json`);
    expect(without.json().reviewPolicy).toMatchObject({
      maxQuantity: null,
      maxOrderValue: null,
      countries: null,
    });
    const key = await cli(`key create --connection ${connection.id} --name first`);
    expect(key.output).toMatch(/^key +\S{20,}$/m);
    const [listed] = (await cli(`key list --connection ${connection.id} --json`)).json().data;
    expect((await cli(`key revoke ${listed.id}`)).output).toMatch(/^revoked at +2/m);
    const price = '--price "12.50 EUR"';
    const product = (
      await cli(`product create --merchant ${merchant.id} --sku S --name Mug ${price} --json`)
    ).json();
    const exposed = await cli(`product expose ${product.id} --connection ${connection.id}`);
    expect(exposed.output).toBe("The product is exposed to the connection.\n");
    const withdrawn = await cli(`product withdraw ${product.id} --connection ${connection.id}`);
    expect(withdrawn).toMatchObject({ code: 0, output: "The product is not exposed to the connection.\n" });
    const cleared = await cli(`product change ${product.id} --description "" --status discontinued`);
    expect(cleared.output).toMatch(/^status +discontinued$/m);
    expect((await cli(`product list --merchant ${merchant.id}`)).output).toMatch(
      /^ID +SKU +NAME +PRICE +STATUS\n\S+ +S +Mug +12\.50 EUR +discontinued\n$/,
    );
  });

  it("with --json prints exactly the API's response", async () => {
    const { output } = await cli(`connection show ${partner.connectionId} --json`);
    const { body } = await test.backOffice.get(`/api/connections/${partner.connectionId}`);
    expect(output).toBe(`${JSON.stringify(body)}\n`);
  });

  it("follows a list to its end only when requested, and reports that there is more", async () => {
    for (let n = 0; n < 3; n += 1)
      await test.backOffice.post("/api/merchants", { name: `M${n}`, accountEmail: "m@x.example" });
    const count = await countRows(test, "merchants");
    const first = await cli("merchant list --limit 2");
    expect(first.output.trim().split("\n")).toHaveLength(3);
    const [, cursor] = /^There are more: --all, or --cursor (\S+)\n$/.exec(first.errors) ?? [];
    const second = (await cli(`merchant list --limit 2 --cursor ${cursor} --json`)).json();
    expect(first.output).not.toContain(second.data[0].id);
    const all = await cli("merchant list --limit 2 --all --json");
    expect(all.errors).toBe("");
    expect(all.json()).toMatchObject({ nextCursor: null });
    expect(new Set(all.json().data.map(({ id }: { id: string }) => id)).size).toBe(count);
  });

  it("keeps what partners write from steering the terminal", async () => {
    const name = "\u001b[2Jgone\u0007\nID  forged\u202e";
    const { body } = await test.backOffice.post("/api/merchants", { name, accountEmail: "m@x.example" });
    const { output } = await cli(`merchant show ${body.id}`);
    expect(output).toContain("name                   \ufffd[2Jgone\ufffd\ufffdID  forged\ufffd\n");
    expect((await cli(`merchant show ${body.id} --json`)).json().name).toBe(name);
  });

  it("leads an order through its life, and names itself on the timeline", async () => {
    const { id } = await placeOrder(partner);
    expect((await cli(`order list --search ${id}`)).output).toContain(id);
    const held = await cli(`order hold ${id} --reasons merchant_request,address_unserviceable --json`);
    expect(held.json().onHoldReasons).toEqual(["merchant_request", "address_unserviceable"]);
    const released = await cli(`order release-hold ${id} --reasons merchant_request --json`);
    expect(released.json().onHoldReasons).toEqual(["address_unserviceable"]);
    const rejected = await cli(`order ship ${id} --carrier DHL`);
    expect(rejected).toMatchObject({ code: 1, output: "" });
    const canceled = await cli(`order cancel ${id} --reason "The customer has called" --json`);
    expect(canceled.json()).toMatchObject({ status: "CANCELED" });
    expect(canceled.json().timeline.at(-1)).toMatchObject({
      actor: { kind: "operator", name: expect.stringMatching(/^command line/) },
      detail: "The customer has called",
    });
    const shown = await cli(`order show ${id}`);
    expect(shown.output).toMatch(/^timeline$/m);
    expect(shown.output).toMatch(/^actions +erase personal data$/m);
    expect(shown.output).toMatch(/The customer has called/);
  });

  it("opens a facility, sets its rates and stock, and shows them", async () => {
    const [product] = partner.productIds;
    const { id } = (await cli("facility create --name Leipzig --country de --json")).json();
    const at = `--facility ${id}`;
    const rates = [
      { countryCode: "DE", maxWeightGrams: 1_000, price: { amount: "4.90", currency: "EUR" } },
      { countryCode: "AT", maxWeightGrams: 30_000, price: { amount: "12.00", currency: "EUR" } },
    ];
    const set = await cli(`api setRates --id ${id} --json -`, JSON.stringify({ rates }));
    expect(set.json().rates).toEqual([
      { countryCode: "AT", maxWeightGrams: 30_000, price: { amount: "12.00", currency: "EUR" } },
      { countryCode: "DE", maxWeightGrams: 1_000, price: { amount: "4.90", currency: "EUR" } },
    ]);
    expect((await cli(`api getRates --id ${id}`)).json()).toEqual(set.json());
    const stock = await cli(`stock set ${at} --product ${product} --on-hand 7`);
    expect(stock.output).toMatch(/^available +7$/m);
    expect((await cli(`stock show ${at} --product ${product} --json`)).json()).toMatchObject({ onHand: 7 });
    expect((await cli(`stock list ${at} --available no`)).output.trim().split("\n")).toHaveLength(1);
    await cli(`facility change ${id} --name Halle`);
    expect((await cli("facility list --country DE")).output).toMatch(/^fac_\S+ +Halle +DE /m);
  });

  it("records once what a merchant has paid", async () => {
    const at = partner.merchantId;
    for (let n = 0; n < 2; n += 1) await cli(`account pay ${at} --amount "25.00 EUR" --reference bank-1`);
    expect((await cli(`account show ${at}`)).output).toMatch(/^balance +25\.00 EUR$/m);
    expect((await cli(`account list ${at} --kind payment --json`)).json().data).toHaveLength(1);
    const other = await cli(`account pay ${at} --amount "26.00 EUR" --reference bank-1`);
    expect(other).toMatchObject({ code: 1, output: "" });
    expect(other.errors).toMatch(/was already used for a payment of a different amount/);
  });

  it("shows deliveries and sends one once more", async () => {
    const endpoint = await createEndpoint(partner);
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    const at = `--connection ${partner.connectionId}`;
    expect((await cli(`delivery list ${at} --order ${order.externalOrderId}`)).output).toContain(id);
    expect((await cli(`delivery show ${id} ${at}`)).output).toMatch(/^event type +order\.created$/m);
    const again = await cli(`delivery redeliver ${id} ${at} --json`);
    expect(again).toMatchObject({ code: 0, errors: "" });
    expect(again.json().id).toBe(id);
  });

  it("imports from a file and from standard input, and reports invalid rows by their line", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "catalog.csv");
    await writeFile(file, '\uFEFFsku,name,price\r\nA,"With ""quotes"", and\r\na line",1.00\r\n');
    const at = `--merchant ${partner.merchantId}`;
    expect((await cli(`product import ${file} ${at}`)).output).toBe(
      "created    1\nchanged    0\nunchanged  0\n",
    );
    const piped = await cli(`product import - ${at} --json`, "sku,name,price\nB,b,2\nC,c,3\n");
    const { products, ...counts } = piped.json();
    expect(counts).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
    expect(products).toMatchObject([
      { line: 2, sku: "B" },
      { line: 3, sku: "C" },
    ]);
    const exported = (await cli(`product export ${at}`)).output;
    expect(exported).toContain(`${products[1].id},C,c,3.00,,,,active,,\r\n`);
    const again = await cli(`product import - ${at} --match sku`, "sku,name,price\nB,b,2\nC,Other,3\n");
    expect(again.output).toBe("created    0\nchanged    1\nunchanged  1\n");
    const to = `--connection ${partner.connectionId}`;
    const ids = products.map(({ id }: { id: string }) => id).join(" ");
    expect((await cli(`product expose ${ids} ${to} --dry-run`)).output).toBe("changed  2\n");
    expect((await cli(`product expose ${ids} ${to}`)).output).toBe("changed  2\n");
    expect((await cli(`product withdraw ${to} --search Oth --json`)).json()).toEqual({ changed: 1 });
    expect((await cli(`product expose --all ${to} --sku C`)).output).toBe("changed  1\n");
    expect((await cli(`product expose --all ${to}`)).output).toMatch(/^changed {2}\d+\n$/);
    for (const choice of ["", `${ids} --all`]) {
      const rejected = await cli(`product expose ${choice} ${to}`);
      expect(rejected).toMatchObject({ code: 2, errors: expect.stringContaining("Name the products, or") });
    }
    const before = await countRows(test, "products");
    const rejected = await cli(`product import - ${at}`, "sku,name,price\nD,d,4\nE,,x\n");
    expect(rejected).toMatchObject({ code: 1, output: "" });
    expect(rejected.errors).toMatch(
      /Nothing was imported: the file has 2 errors.*\n {2}- line 3, name: is required\n {2}- line 3, price "x": /,
    );
    expect(await countRows(test, "products")).toBe(before);
    const damaged = "sku;name;price;barcode\n10-Dec;d;4;\nF;f;4,50;4006381333932\n";
    expect((await cli(`product import - ${at}`, damaged)).errors).toContain(
      'line 2, sku "10-Dec": is a date',
    );
    const some = await cli(`product import - ${at} --skip-invalid`, damaged);
    expect(some.output).toBe("created    1\nchanged    0\nunchanged  0\nrejected   1\n");
    expect(some.errors).toMatch(
      /^Left out:\n {2}- line 2, sku "10-Dec": .*\nPerhaps wrong:\n {2}- line 3, barcode "4006381333932": /,
    );
    const all = await cli(`product import - ${at} --match sku --as-written`, damaged);
    expect(all).toMatchObject({ code: 0, output: "created    1\nchanged    0\nunchanged  1\n" });
  });
});
