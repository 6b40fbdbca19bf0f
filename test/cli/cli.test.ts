import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OFFICE_COMMANDS } from "../../src/cli/commands.ts";
import { ORDER_COMMANDS } from "../../src/cli/order-commands.ts";
import { systemClock } from "../../src/clock.ts";
import { anOrder, countRows, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { type CliResult, runCli } from "../support/cli.ts";
import { freePort, temporaryFolder } from "../support/main-process.ts";
import { dumpTables } from "../support/tables.ts";
import { createDatabase, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let environment: Record<string, string>;
beforeAll(async () => {
  const databaseUrl = await createDatabase();
  test = await startTestService({ databaseUrl });
  Object.assign(test.clock, systemClock); // The command line goes by the machine's clock.
  partner = await createPartner(test);
  environment = {
    DATABASE_URL: databaseUrl,
    WEBHOOK_SECRET_KEYS: Buffer.alloc(32, 1).toString("base64"), // As the service of the tests has it.
  };
});
afterAll(() => test.close());

const cli = (args: string, input = ""): Promise<CliResult> => runCli(environment, words(args), input);
/** Splits at spaces; what is quoted stays together. */
const words = (args: string): string[] =>
  [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** Ended with this code; nothing on standard output; nothing stored. */
async function expectRefused(args: string, code: number, errors: RegExp): Promise<void> {
  const before = await dumpTables(test);
  const result = await cli(args);
  expect(result.errors).toMatch(errors);
  expect(result).toMatchObject({ code, output: "" });
  expect(await dumpTables(test)).toEqual(before);
}

describe("the command line refuses with exit code 2", () => {
  it.each([
    ["", /Usage: partner-orders/],
    ["frobnicate", /unknown command 'frobnicate'/],
    ["order", /Usage: partner-orders order/],
    ["order frob", /unknown command 'frob'/],
    ["merchant create --name X", /--account-email <address>' not specified/],
    ["merchant list --limit ten", /must be a whole number/],
    ["merchant list --frob", /unknown option '--frob'/],
    ["merchant show", /missing required argument 'merchant'/],
    ["product create --merchant m --sku s --name n --price 12.50", /amount with its currency/],
    ["order list --on-hold maybe", /must be yes or no/],
    ["order export --format xml", /Allowed choices are csv, ndjson/],
    ["order export --since yesterday", /--since must be a day/],
    ["order export --until 2026-01-31T12:00:00", /with its zone/],
    ["order export --status LOST", /--status must be one of NEW/],
    ["order export --merchant con_01m7y7np16fe68bxp4h91tdmdn", /begins with mer_/],
    ["product import /no/such/file.csv --merchant m", /cannot be read: ENOENT/],
    ["product import src --merchant m", /src is a folder/],
  ])("%s", (args, errors) => expectRefused(args, 2, errors));

  it("a configuration that cannot be used, with all its faults", async () => {
    const faulty = { ...environment, PORT: "x", LOG_LEVEL: "loud" };
    const { code, output, errors } = await runCli(faulty, ["merchant", "list"]);
    expect([code, output]).toEqual([2, ""]);
    expect(errors).toMatch(/PORT must be/);
    expect(errors).toMatch(/LOG_LEVEL must be/);
  });
});

describe("the command line refuses with exit code 1", () => {
  it.each([
    ["merchant show mer_01m7y7np16fe68bxp4h91tdmdn", /^Resource not found: No such merchant\.$/m],
    ["merchant show ../../openapi.json", /No such merchant|No route matches/],
    ["key revoke x", /No such key/],
    ["order show x", /No such order/],
    ["order ship x", /No such order/],
    ["order export --merchant mer_01m7y7np16fe68bxp4h91tdmdn", /No such merchant/],
    ["merchant list --cursor x", /cursor: is not a cursor of this list/],
    ["merchant list --limit 101", /limit: must be <= 100/],
    ['merchant create --name "" --account-email nobody', /- \/name: .*\n {2}- \/accountEmail: /],
    ["product import - --merchant mer_01m7y7np16fe68bxp4h91tdmdn", /No such merchant/],
  ])("%s", (args, errors) => expectRefused(args, 1, errors));

  it("with --json the problem document itself, on standard error", async () => {
    const { code, output, errors } = await cli("merchant show x --json");
    expect([code, output]).toEqual([1, ""]);
    expect(JSON.parse(errors)).toMatchObject({ status: 404, instance: "/api/merchants/x" });
  });
});

describe("the command line refuses with exit code 3", () => {
  it("a database that nobody serves", async () => {
    const url = `postgres://user:secret-word@127.0.0.1:${await freePort()}/x`;
    const { code, output, errors } = await runCli({ DATABASE_URL: url }, ["merchant", "list"]);
    expect([code, output]).toEqual([3, ""]);
    expect(errors).toMatch(/^The database cannot be used\. .*ECONNREFUSED/);
    expect(errors).not.toContain("secret-word");
  });

  it("a database whose schema is older than the program, and leaves it as it is", async () => {
    const databaseUrl = await createDatabase();
    const other = await startTestService({ databaseUrl });
    await other.db.runScript("delete from schema_migrations where name like '0004%'");
    const before = await dumpTables(other);
    const result = await runCli({ DATABASE_URL: databaseUrl }, ["merchant", "list"]);
    expect(result).toMatchObject({ code: 3, output: "" });
    expect(result.errors).toMatch(/lacks 1 of this program's migrations.*npm run cli -- migrate/);
    expect(await dumpTables(other)).toEqual(before);
    await other.close();
  });
});

describe("the command line", () => {
  it("tells its exit codes and every command in its help, with exit code 0", async () => {
    const { code, output, errors } = await cli("--help");
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/Exit codes:\n {2}0 {2}done\n {2}1 .*\n {2}2 .*\n {2}3 /);
    for (const group of new Set(
      [...OFFICE_COMMANDS, ...ORDER_COMMANDS].map(({ words: [...w] }) => w.join("").split(" ")[0]),
    ))
      expect(output).toContain(`  ${group} `);
  });

  it("does the operator's work from the merchant to the key, in words", async () => {
    const merchant = (
      await cli('merchant create --name "Mugs & Co" --account-email m@example.com --json')
    ).json();
    expect(merchant).toMatchObject({ name: "Mugs & Co", currency: "EUR", creditLimit: null });
    const changed = await cli(`merchant change ${merchant.id} --credit-limit "500 EUR"`);
    expect(changed.output).toMatch(/^credit limit +500\.00 EUR$/m);
    const limits = '--max-quantity 5 --max-order-value "99.50 EUR" --countries DE,AT';
    const made = await cli(`connection create --merchant ${merchant.id} --name Shop ${limits} --json`);
    const connection = made.json();
    expect(connection.reviewPolicy).toEqual({
      ...{ maxQuantity: 5, countries: ["DE", "AT"] },
      maxOrderValue: { amount: "99.50", currency: "EUR" },
    });
    const without = await cli(`connection change ${connection.id} --max-quantity none --json`);
    expect(without.json().reviewPolicy).toEqual({ maxQuantity: null, maxOrderValue: null, countries: null });
    const key = await cli(`key create --connection ${connection.id} --name first`);
    expect(key.output).toMatch(/^key +\S{20,}$/m);
    const [listed] = (await cli(`key list --connection ${connection.id} --json`)).json().data;
    expect((await cli(`key revoke ${listed.id}`)).output).toMatch(/^revoked at +2/m);
    const price = '--price "12.50 EUR"';
    const product = (
      await cli(`product create --merchant ${merchant.id} --sku S --name Mug ${price} --json`)
    ).json();
    const exposed = await cli(`product expose ${product.id} --connection ${connection.id}`);
    expect(exposed.output).toMatch(/^price +12\.50 EUR$/m);
    const withdrawn = await cli(`product withdraw ${product.id} --connection ${connection.id}`);
    expect(withdrawn).toMatchObject({ code: 0, output: "Done.\n", errors: "" });
    const cleared = await cli(`product change ${product.id} --description "" --status discontinued`);
    expect(cleared.output).toMatch(/^status +discontinued$/m);
    expect((await cli(`product list --merchant ${merchant.id}`)).output).toMatch(
      /^ID +SKU +NAME +PRICE +STATUS\n\S+ +S +Mug +12\.50 EUR +discontinued\n$/,
    );
  }, 60_000);

  it("with --json prints exactly what the API answers", async () => {
    const { output } = await cli(`connection show ${partner.connectionId} --json`);
    const { body } = await test.backOffice.get(`/api/connections/${partner.connectionId}`);
    expect(output).toBe(`${JSON.stringify(body)}\n`);
  });

  it("follows a list to its end only when it is told to, and says that there is more", async () => {
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
    const refused = await cli(`order ship ${id} --carrier DHL`);
    expect(refused).toMatchObject({ code: 1, output: "" });
    const canceled = await cli(`order cancel ${id} --reason "The customer has called" --json`);
    expect(canceled.json()).toMatchObject({ status: "CANCELED" });
    expect(canceled.json().timeline.at(-1)).toMatchObject({
      actor: { kind: "operator", name: expect.stringMatching(/^command line/) },
      detail: "The customer has called",
    });
    const shown = await cli(`order show ${id}`);
    expect(shown.output).toMatch(/^timeline$/m);
    expect(shown.output).toMatch(/The customer has called/);
  }, 60_000);

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

  it("imports from a file and from standard input, and tells bad rows by their line", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "catalogue.csv");
    await writeFile(file, '\uFEFFsku,name,price\r\nA,"With ""quotes"", and\r\na line",1.00\r\n');
    const at = `--merchant ${partner.merchantId}`;
    expect((await cli(`product import ${file} ${at}`)).output).toBe("created  1\nchanged  0\n");
    const piped = await cli(`product import - ${at} --json`, "sku,name,price\nB,b,2\nC,c,3\n");
    expect(piped.json()).toEqual({ created: 2, changed: 0 });
    const before = await countRows(test, "products");
    const refused = await cli(`product import - ${at}`, "sku,name,price\nD,d,4\nE,,x\n");
    expect(refused).toMatchObject({ code: 1, output: "" });
    expect(refused.errors).toMatch(
      /Nothing was imported: the file has 2 faults.*\n {2}- line 3, name: is required\n {2}- line 3, price: /,
    );
    expect(await countRows(test, "products")).toBe(before);
  });
});

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
    shop = await createPartner(test);
    for (let n = 0; n < 3; n += 1) {
      const lines = shop.productIds.map((productId) => ({ productId, quantity: n + 1 }));
      const { shippingAddress } = anOrder(shop);
      await placeOrder(shop, {
        externalOrderId: `-${n}`,
        lines,
        shippingAddress: { ...shippingAddress, ...evil },
      });
    }
    await placeOrder(shop, { testMode: true });
  });

  it("writes a row per line of real orders, which no spreadsheet takes for formulas", async () => {
    const { code, output, errors } = await cli(`order export --connection ${shop.connectionId}`);
    expect([code, errors]).toEqual([0, ""]);
    const [head, ...rows] = output.split("\r\n");
    expect(head).toMatch(/^orderId,externalOrderId,merchantId,connectionId,status,/);
    expect(rows.filter((row) => row !== "")).toHaveLength(6);
    for (const row of rows.slice(0, 6)) {
      expect(row).toMatch(/^ord_\w+,'-\d,mer_\w+,con_\w+,NEW,,2/);
      expect(row).toContain(`,'=HYPERLINK(1),"'+""quoted"", and",`);
      expect(row).toContain(",'@x,");
      expect(row).toContain(',"two\nlines",');
      expect(row).toContain(",'+44 1,line_");
      expect(row).toMatch(/,SKU-1,\d,10\.00,EUR,,,,$/);
    }
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
      ...{ ...body, merchantId: shop.merchantId, connectionId: shop.connectionId },
      lines: body.lines.map((line: object) => ({
        ...line,
        sku: "SKU-1",
        unitPrice: { amount: "10.00", currency: "EUR" },
      })),
    });
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
