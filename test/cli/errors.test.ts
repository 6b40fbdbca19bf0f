import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliTest, runCli, startCliTest } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { dumpTables } from "../support/tables.ts";
import { createDatabase, startTestService } from "../support/test-service.ts";

let at: CliTest;
beforeAll(async () => {
  at = await startCliTest();
});
afterAll(() => at.test.close());

const cli = (args: string, input?: string) => at.cli(args, input);

/** Ended with this code; nothing on standard output; nothing stored. */
async function expectRejected(args: string, code: number, errors: RegExp): Promise<void> {
  const before = await dumpTables(at.test);
  const result = await cli(args);
  expect(result.errors).toMatch(errors);
  expect(result).toMatchObject({ code, output: "" });
  expect(await dumpTables(at.test)).toEqual(before);
}

describe("the command line fails with exit code 2", () => {
  it.each([
    ["", /Usage: partner-orders-admin/],
    ["frobnicate", /unknown command 'frobnicate'/],
    ["order", /Usage: partner-orders-admin order/],
    ["order frob", /unknown command 'frob'/],
    ["merchant create --name X", /--account-email <text>' not specified/],
    ["api scanCode", /--code <text>' not specified/],
    ["api frobnicate", /unknown operation 'frobnicate'/],
    ["api getMerchant", /--id <text>' not specified/],
    ["api getMerchant --id ..", /cannot be an id/],
    ["api listOrders --onHold maybe", /must be yes or no/],
    ["api createMerchant --json /no/such/file", /--json cannot be read: ENOENT/],
    ["api importProducts --id x", /--file <file>' not specified/],
    [
      "order correct-address x",
      /^Nothing is to change: give one or more of --first-name, --last-name, .*--phone, --name\.$/m,
    ],
    ["order correct-address x --expected-version v", /^Nothing is to change: give .*--phone, --name\.$/m],
    ["merchant change x", /^Nothing is to change: give one or more of --name, --account-email, /m],
    [
      "facility change x",
      /^Nothing is to change: give one or more of --name, .*--address-line1, --address-line2,/m,
    ],
    ["merchant list --limit ten", /must be a whole number/],
    ["merchant list --frob", /unknown option '--frob'/],
    ["merchant show", /missing required argument 'merchant'/],
    ["product create --merchant m --sku s --name n --price 12.50", /amount with its currency/],
    ["api setRates --id f --rates GB", /must be JSON/],
    ["stock set --facility f --product p --on-hand -1", /must be a whole number/],
    ["connection list --merchant ..", /^"\.\." cannot be an id: give that of the merchant\.$/m],
    ["delivery list --connection .", /^"\." cannot be an id: give that of the connection\.$/m],
    ['connection show ""', /^"" cannot be an id: give that of the connection\.$/m],
    ["stock show --facility f --product ..", /^"\.\." cannot be an id: give that of the product\.$/m],
    ["order show ..", /^"\.\." cannot be an id: give that of the order\.$/m],
    ['order show ""', /^"" cannot be an id: give that of the order\.$/m],
    ["product import - --merchant ..", /cannot be an id: give that of the merchant\.$/m],
    ["product expose a b --connection ..", /cannot be an id: give that of the connection\.$/m],
    ["order list --on-hold maybe", /must be yes or no/],
    ["order export --format xml", /Allowed choices are spreadsheet, xlsx, csv, ndjson/],
    ["work-list list --format xml", /Allowed choices are text, csv/],
    ["work-list list --format csv --json", /cannot be used with option '--json'/],
    ["account statement m --format csv --json", /cannot be used with option '--json'/],
    ["order export --since yesterday", /--since must be a day/],
    ["order export --until 2026-01-31T12:00:00", /with its zone/],
    [
      "audit list --from yesterday",
      /'--from <time>' argument 'yesterday' is invalid\. It must be a day, or a time/,
    ],
    ["order list --since 2026-02-30", /It must be a day/],
    ["order list --since 0000-01-01T00:00:00+14:00", /It must be in the years 0000 to 9999 in UTC/],
    ["token rotate t --expires-at tomorrow", /It must be a day/],
    ["delivery list --connection c --has-failed-attempts true", /must be yes or no/],
    ["order export --status LOST", /--status must be one of NEW/],
    ["order export --merchant con_01m7y7np16fe68bxp4h91tdmdn", /begins with mer_/],
    ["product import /no/such/file.csv --merchant m", /cannot be read: ENOENT/],
    ["product import src --merchant m", /src is a folder/],
  ])("%s", (args, errors) => expectRejected(args, 2, errors));

  it("an invalid configuration, with all its errors", async () => {
    const invalid = { ...at.environment, PORT: "x", LOG_LEVEL: "loud" };
    const { code, output, errors } = await runCli(invalid, ["merchant", "list"]);
    expect([code, output]).toEqual([2, ""]);
    expect(errors).toMatch(/PORT must be/);
    expect(errors).toMatch(/LOG_LEVEL must be/);
  });
});

describe("the command line fails with exit code 1", () => {
  it.each([
    ["merchant show mer_01m7y7np16fe68bxp4h91tdmdn", /^Resource not found: No such merchant\.$/m],
    ["merchant show ../../openapi.json", /No such merchant|No route matches/],
    ["key revoke x", /No such key/],
    ["order show x", /No such order/],
    ["order ship x", /No such order/],
    ["order export --merchant mer_01m7y7np16fe68bxp4h91tdmdn", /No such merchant/],
    ["merchant list --cursor x", /cursor: is not a valid cursor of this list/],
    ["merchant list --limit 101", /limit: must be at most 100/],
    ['merchant create --name "" --account-email nobody', /- \/name: .*\n {2}- \/accountEmail: /],
    ["product import - --merchant mer_01m7y7np16fe68bxp4h91tdmdn", /No such merchant/],
  ])("%s", (args, errors) => expectRejected(args, 1, errors));

  it("with --json the problem document itself, on standard error", async () => {
    const { code, output, errors } = await cli("merchant show x --json");
    expect([code, output]).toEqual([1, ""]);
    expect(JSON.parse(errors)).toMatchObject({ status: 404, instance: "/api/merchants/x" });
  });
});

describe("with --json every error is an object with title and detail", () => {
  it.each([
    ["merchant list --limit ten --json", 2, /must be a whole number/],
    ["merchant show .. --json", 2, /cannot be an id/],
    ["merchant show mer_01m7y7np16fe68bxp4h91tdmdn --json", 1, /^No such merchant\.$/],
  ])("%s", async (args, expected, detail) => {
    const { code, output, errors } = await cli(args);
    expect([code, output]).toEqual([expected, ""]);
    expect(JSON.parse(errors)).toMatchObject({
      title: expect.any(String),
      detail: expect.stringMatching(detail),
    });
  });

  it("also if the service cannot be reached", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const variables = { PARTNER_ORDERS_URL: url, PARTNER_ORDERS_TOKEN: "t" };
    const { code, errors } = await runCli(variables, ["merchant", "list", "--json"]);
    expect(code).toBe(3);
    expect(JSON.parse(errors)).toEqual({
      title: "Service or database not available",
      detail: expect.stringMatching(/the connection was refused/),
    });
  });
});

describe("the command line fails with exit code 3", () => {
  it("a database without a server", async () => {
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
