import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADDRESS } from "../support/address.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { jsonLines, startPartnerCli } from "../support/partner-cli.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";

let listener: PartnerListener;
beforeAll(async () => {
  listener = await startPartnerListener();
});
afterAll(() => listener.close());

const environment = () => ({ PARTNER_ORDERS_API: listener.url, PARTNER_ORDERS_KEY: listener.partner.key });
const run = (args: readonly string[], input = "", variables: Record<string, string> = environment()) =>
  startPartnerCli(variables, args, { input }).ended();

describe("the command line of partners", () => {
  it("shows the connection, for people and for programs", async () => {
    const forPeople = await run(["whoami"]);
    expect(forPeople).toMatchObject({ code: 0, errors: "" });
    expect(forPeople.output).toContain(`id: ${listener.partner.connectionId}\n`);
    const { output } = await run(["whoami", "--json"]);
    expect(jsonLines(output)).toMatchObject([{ id: listener.partner.connectionId }]);
  });

  it("places an order from standard input once, finds it and cancels it", async () => {
    const order = { externalOrderId: "cli-1", shippingAddress: ADDRESS, lines: [] as object[] };
    order.lines.push({ productId: listener.partner.productIds[0], quantity: 2 });
    const create = ["orders", "create", "--file", "-", "--json"];
    const [first, again] = await Promise.all([
      run(create, JSON.stringify(order)),
      run(create, JSON.stringify(order)),
    ]);
    expect(first).toMatchObject({ code: 0, errors: "" });
    expect(jsonLines(first.output)[0].id).toBe(jsonLines(again.output)[0].id);
    const search = ["orders", "search", "--external-id", "cli-1,cli-2"];
    const [table, canceled] = await Promise.all([run(search), run(["orders", "cancel", "cli-1", "--json"])]);
    expect(table.output.split("\n")).toEqual([
      expect.stringMatching(/^ID +EXTERNAL ID +STATUS +HOLD +UPDATED$/),
      expect.stringContaining("cli-1"),
      "",
    ]);
    expect(jsonLines(canceled.output)).toMatchObject([{ status: "CANCELED" }]);
  });

  it("prints a problem as its detail and its errors with pointers, and never a stack", async () => {
    const order = JSON.stringify({
      externalOrderId: "cli-bad",
      shippingAddress: ADDRESS,
      lines: [{ quantity: 0 }],
    });
    const people = await run(["orders", "create", "--file", "-"], order);
    expect(people).toMatchObject({ code: 1, output: "" });
    expect(people.errors).toContain("  /lines/0/quantity: ");
    expect(people.errors).toMatch(/\(422 validation-failed, request \S+\)\n$/);
    expect(people.errors).not.toMatch(/ {4}at /);
    const { code, errors } = await run(["orders", "get", "missing", "--json"]);
    expect(code).toBe(1);
    expect(jsonLines(errors)).toMatchObject([{ code: "not-found", status: 404 }]);
  });

  it("tells wrong usage and an unreachable service apart by their exit codes", async () => {
    const { key } = listener.partner;
    const nowhere = { PARTNER_ORDERS_API: "http://127.0.0.1:9", PARTNER_ORDERS_KEY: key };
    const results = await Promise.all([
      run(["orders", "make"]),
      run(["orders", "create", "--file", "-"], "[]"),
      run(["orders", "create", "--file", "-"], `{"lines":[]}`),
      run(["orders", "search", "--limit", "0"]),
      run(["whoami"], "", { PARTNER_ORDERS_API: listener.url }),
      run(["whoami"], "", { PARTNER_ORDERS_API: "orders.example", PARTNER_ORDERS_KEY: key }),
      run(["whoami"], "", nowhere),
    ]);
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 3]);
    for (const { errors } of results) expect(errors).toMatch(/\S/);
    for (const { errors } of results) expect(errors).not.toMatch(/ {4}at |pok_/);
  });

  it("rehearses the life of an order, and reads its events", async () => {
    const walked = jsonLines((await run(["test-orders", "walk", "--json"])).output);
    expect(walked.map(({ status }) => status)).toEqual(["NEW", "ACCEPTED", "IN_PROGRESS", "COMPLETED"]);
    const { output } = await run(["events", "list", "--order", walked[0].id, "--json"]);
    expect(jsonLines(output).map(({ type }) => type)).toEqual([
      "order.created",
      "order.shipmentCreated",
      "order.completed",
    ]);
  });

  it("reads a profile of a file that only its owner can read, and no other file", async () => {
    const path = join(await temporaryFolder(), "config.json");
    const { key } = listener.partner;
    const profiles = {
      broken: { api: listener.url, key: "wrong" },
      shop: { api: `${listener.url}/v1/`, key },
    };
    await writeFile(path, JSON.stringify(profiles), { mode: 0o600 });
    const own = { PARTNER_ORDERS_CONFIG: path };
    const whoami = (...args: string[]) => run(["whoami", ...args], "", own);
    expect(await whoami("--profile", "shop")).toMatchObject({ code: 0 });
    expect(await whoami()).toMatchObject({ code: 1 }); // The first one.
    expect((await whoami("--profile", "other")).errors).toContain("It has: broken, shop.");
    await chmod(path, 0o640);
    const refused = await whoami("--profile", "shop");
    expect(refused).toMatchObject({ code: 2, output: "" });
    expect(refused.errors).toContain(`Run: chmod 600 ${path}`);
    await chmod(path, 0o600);
    await writeFile(path, JSON.stringify({ ...profiles, third: profiles.shop }));
    expect((await whoami()).errors).toContain("at most 2 profiles");
  });

  it("names its version, which is that of the service, and has help with examples", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect((await run(["--version"])).output).toBe(`${version}\n`);
    expect(JSON.parse(await readFile("packages/cli/package.json", "utf8")).version).toBe(version);
    const help = await run(["orders", "search", "--help"], "", {});
    expect(help).toMatchObject({ code: 0, errors: "" });
    expect(help.output).toContain("Example:\n");
  });
});
