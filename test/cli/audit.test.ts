import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { type CliTest, startCliTest } from "../support/cli.ts";

let at: CliTest;
let shop: Partner;
beforeAll(async () => {
  at = await startCliTest();
  shop = await createPartner(at.test);
  await placeOrder(shop);
});
afterAll(() => at.test.close());

const linesOf = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("audit export", () => {
  it("writes the whole log, newest first, as the API shows it", async () => {
    const { code, output, errors } = await at.cli("audit export");
    expect([code, errors]).toEqual([0, ""]);
    const { body } = await at.test.backOffice.get("/api/audit-entries?limit=100");
    expect(linesOf(output)).toEqual(body.data);
  });

  it("has the filters of the list, under the same names", async () => {
    const optionsOf = async (command: string) =>
      (await at.cli(`${command} --help`)).output.match(/(?<=^ {2})--\S+/gm) ?? [];
    const filters = await optionsOf("audit list");
    const ofPages = ["--limit", "--cursor", "--all", "--json"];
    expect(await optionsOf("audit export")).toEqual(filters.filter((flag) => !ofPages.includes(flag)));
  });

  it("writes the entries of one merchant and of a time", async () => {
    await createPartner(at.test);
    const { output } = await at.cli(`audit export --merchant ${shop.merchantId}`);
    const merchants = linesOf(output).map(({ merchantId }) => merchantId);
    expect(new Set(merchants)).toEqual(new Set([shop.merchantId]));
    const filtered = await at.cli(
      `audit export --connection ${shop.connectionId} --action createConnection --subject ${shop.connectionId}`,
    );
    expect(linesOf(filtered.output).map(({ action }) => action)).toEqual(["createConnection"]);
    expect((await at.cli("audit export --actor nobody")).output).toBe("");
    expect((await at.cli("audit export --subject x")).code).toBe(1);
    expect((await at.cli("audit export --to 2026-01-01")).output).toBe("");
    expect((await at.cli("audit export --from yesterday")).code).toBe(2);
  });
});

describe("what the command line does", () => {
  it("is recorded with the name of the operator", async () => {
    await at.cli(`connection change ${shop.connectionId} --name Other`);
    const { output } = await at.cli("audit list --action updateConnection --json");
    const [entry] = JSON.parse(output).data;
    expect(entry.actor.name).toMatch(/^command line/);
    expect(entry).toMatchObject({ merchantId: shop.merchantId, subjectIds: [shop.connectionId] });
  });

  it.each(["csv", "ndjson"])(
    "leaves an entry for an export of orders as %s, with its filters",
    async (format) => {
      const filters = `--merchant ${shop.merchantId} --since 2026-01-01 --format ${format}`;
      expect((await at.cli(`order export ${filters}`)).output).toContain("Lovelace");
      const { output } = await at.cli("audit list --action exportOrders --json --limit 1");
      expect(JSON.parse(output).data).toMatchObject([
        {
          actor: { kind: "operator" },
          merchantId: shop.merchantId,
          subjectIds: [shop.merchantId],
          details: { since: "2026-01-01T00:00:00.000Z" },
        },
      ]);
    },
  );
});
