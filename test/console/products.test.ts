import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { createProduct, readEvents } from "../support/builders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const listPath = () => `/products/of/${world.partner.merchantId}`;
const createConnection = async (name: string): Promise<string> => {
  const { merchantId } = world.partner;
  return (await world.service.backOffice.post(`/api/merchants/${merchantId}/connections`, { name })).body.id;
};
const createProducts = (prefix: string, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, at) =>
      createProduct(world.service, world.partner.merchantId, {
        sku: `${prefix}-${at}`,
        name: `${prefix} ${at}`,
      }),
    ),
  );
const exposedSkus = async (connectionId: string): Promise<string[]> =>
  (await world.service.backOffice.get(`/api/connections/${connectionId}/products?limit=100`)).body.data
    .map(({ sku }: { sku: string }) => sku)
    .sort();
const publishedTo = async (connectionId: string): Promise<number> =>
  (await readEvents(world.service, connectionId)).filter(({ type }) => type === "product.published").length;

const open = async (page: Page, search = ""): Promise<void> =>
  visit(page, `${listPath()}${search}`, /^Products of/);

describe("a merchant's product", () => {
  it("is created, edited and discontinued, and what another person changes at the same time stays", async () => {
    const page = await world.open(world.people.merchant);
    await page.goto("/products"); // The person has one merchant, and is led to its products.
    await page.getByRole("heading", { level: 1, name: /^Products of/ }).waitFor();
    await page.getByRole("button", { name: "Create product" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("SKU").fill("LAMP-1");
    await dialog.getByLabel("Name").fill("Lamp");
    await dialog.getByLabel("Price").fill("12,345");
    await dialog.getByRole("button", { name: "Create product" }).click();
    await dialog.locator("[aria-invalid=true]").first().waitFor();
    expect(await dialog.getByLabel("Price").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByLabel("Price").fill("12,30");
    await dialog.getByRole("button", { name: "Create product" }).click();
    await page.getByRole("heading", { level: 1, name: "Lamp" }).waitFor();
    await page.getByText("€12.30").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const id = page.url().split("/").at(-1) ?? "";
    const body = { name: "Desk lamp" };
    await world.service.backOffice.request("PATCH", `/api/products/${id}`, { body });
    await dialog.getByLabel("Barcode").fill("4006381333931");
    await dialog.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("heading", { level: 1, name: "Desk lamp" }).waitFor();
    await page.getByText("4006381333931").waitFor();
    await page.getByRole("button", { name: "Discontinue" }).click();
    await dialog.getByRole("button", { name: "Discontinue" }).click();
    await page.getByRole("button", { name: "Sell again" }).waitFor();
  });
});

describe("exposure in bulk", () => {
  it("shows what would change, changes many products for many connections, and repeats nothing", async () => {
    const [north, south] = [await createConnection("North"), await createConnection("South")];
    const [first = ""] = await createProducts("BULK", 3);
    await world.service.backOffice.request("PUT", `/api/connections/${north}/products/${first}`);
    const page = await world.open(world.people.merchant);
    await open(page, "?q=bulk");
    await page.getByRole("checkbox", { name: "Select BULK-0, BULK 0" }).check();
    await page.getByText("1 product is selected.").waitFor();
    await page.getByRole("checkbox", { name: "Select this page" }).check();
    await page.getByText("3 products are selected.").waitFor();
    await page.getByRole("button", { name: "Expose", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Expose products" });
    expect(await dialog.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
    await dialog.getByRole("checkbox", { name: "North" }).check();
    await dialog.getByLabel("Name of the connection").fill("sou");
    await dialog.getByRole("checkbox", { name: "North" }).waitFor({ state: "hidden" });
    await dialog.getByRole("checkbox", { name: "South" }).check();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("5 exposures are added.").waitFor();
    await dialog.getByRole("row", { name: "North 2" }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await exposedSkus(south), "nothing changes before the person says so").toEqual([]);
    await dialog.getByRole("button", { name: "Expose", exact: true }).click();
    await dialog.getByText("Done: 5 changed.").waitFor();
    expect(await exposedSkus(south)).toEqual(["BULK-0", "BULK-1", "BULK-2"]);
    expect([await publishedTo(north), await publishedTo(south)]).toEqual([3, 3]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("button", { name: "Expose", exact: true }).click();
    await dialog.getByRole("checkbox", { name: "South" }).check();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("Nothing changes: all of these are exposed already.").waitFor();
    expect(await dialog.getByRole("button", { name: "Expose", exact: true }).count()).toBe(0);
  });

  it("keeps what is chosen elsewhere when all rows of a list are chosen, or none", async () => {
    await createProducts("KEEP", 1);
    await createProducts("MORE", 2);
    const page = await world.open(world.people.merchant);
    await open(page, "?q=keep");
    await page.getByRole("checkbox", { name: "Select KEEP-0, KEEP 0" }).check();
    await page.getByRole("searchbox", { name: "SKU or name" }).fill("more");
    await page.getByRole("row", { name: /MORE-1/ }).waitFor();
    const all = page.getByRole("checkbox", { name: "Select this page" });
    await all.check();
    await page.getByText("3 products are selected.").waitFor();
    await all.uncheck();
    await page.getByText("1 product is selected.").waitFor();
  });

  it("can be stopped, and continues where it was when it is started again", async () => {
    const targets = [await createConnection("Stop one"), await createConnection("Stop two")];
    await createProducts("STOP", 2);
    const page = await world.open(world.people.merchant);
    await open(page, "?q=stop-");
    await page.getByRole("checkbox", { name: "Select this page" }).check();
    await page.getByRole("button", { name: "Expose", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Expose products" });
    for (const name of ["Stop one", "Stop two"]) await dialog.getByRole("checkbox", { name }).check();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("4 exposures are added.").waitFor();
    // The first request is held back until the person has pressed the button.
    const { promise: pressed, resolve: press } = Promise.withResolvers<void>();
    await page.route("**/products/expose", async (route) => {
      await pressed;
      await route.continue();
    });
    await dialog.getByRole("button", { name: "Expose", exact: true }).click();
    await dialog.getByRole("button", { name: "Stop" }).click();
    press();
    await dialog.getByText("Stopped. The changes so far stay.").waitFor();
    expect(await Promise.all(targets.map(exposedSkus))).toEqual([["STOP-0", "STOP-1"], []]);
    await dialog.getByRole("button", { name: "Start again" }).click();
    await dialog.getByText("2 exposures are added.").waitFor();
    await dialog.getByRole("button", { name: "Expose", exact: true }).click();
    await dialog.getByText("Done: 2 changed.").waitFor();
    expect(await exposedSkus(targets[1] ?? "")).toEqual(["STOP-0", "STOP-1"]);
  });

  it("takes one product from the connections that are chosen on its page", async () => {
    const [product = ""] = await createProducts("ONE", 1);
    const { connectionId } = world.partner;
    await world.service.backOffice.request("PUT", `/api/connections/${connectionId}/products/${product}`);
    const page = await world.open(world.people.operator);
    await visit(page, `/products/${product}?exposed=true`, "ONE 0");
    await page.getByRole("checkbox", { name: "Select Partner" }).check();
    await page.getByRole("button", { name: "Withdraw" }).click();
    const dialog = page.getByRole("dialog", { name: "Withdraw products" });
    await dialog.getByText("1 exposure ends.").waitFor();
    await dialog.getByRole("button", { name: "Withdraw" }).click();
    await dialog.getByText("Done: 1 changed.").waitFor();
    expect(await exposedSkus(connectionId)).not.toContain("ONE-0");
  });
});

const found = async (sku: string) =>
  (await world.service.backOffice.get(`/api/merchants/${world.partner.merchantId}/products?sku=${sku}`)).body
    .data;

const csv = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

describe("the import of a file", () => {
  it("lists errors by line, shows what would change, and imports it when the person says so", async () => {
    await createProducts("FILE", 2);
    const page = await world.open(world.people.merchant);
    await visit(page, `${listPath()}/import`, "Import products");
    const file = page.locator("input[type=file]");
    await file.setInputFiles(csv("bad.csv", "sku,name,price\nFILE-0,,1\nFILE-1,Same,abc\n"));
    await page.getByText("2 errors. Nothing is imported until the file has none.").waitFor();
    await page.getByRole("row", { name: "3 price abc must be an amount" }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    const many = Array.from({ length: 1_200 }, (_, number) => `MANY-${number},Many,1`);
    await file.setInputFiles(csv("many.csv", `sku,name,price\n${many.join("\n")}\n`));
    await page.getByRole("button", { name: "Import 1,200 products" }).waitFor();
    await file.setInputFiles(csv("good.csv", "sku,name,price\nFILE-0,Other,1\nFILE-9,New one,2.50\n"));
    await page.getByRole("row", { name: "2 FILE-0 Changed" }).waitFor();
    await page.getByRole("row", { name: "3 FILE-9 New" }).waitFor();
    expect(await found("FILE-9"), "a preview stores nothing").toEqual([]);
    await page.getByLabel("Create a product; a SKU that exists is an error").check();
    await page.getByRole("row", { name: /2 sku FILE-0 is the SKU of the product/ }).waitFor();
    await page.getByLabel("Change the product that has the SKU, or create it").check();
    await page.getByRole("button", { name: "Import 2 products" }).click();
    await page.getByRole("heading", { name: "What has changed" }).waitFor();
    expect(await found("FILE-9")).toMatchObject([{ name: "New one" }]);
  });

  it("says that the outcome is unknown when the connection is lost, and finds the rows unchanged afterwards", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, `${listPath()}/import`, "Import products");
    await page.locator("input[type=file]").setInputFiles(csv("lost.csv", "sku,name,price\nLOST-1,Lost,1\n"));
    await page.getByRole("button", { name: "Import 1 product" }).waitFor();
    await page.route(/products\/import\?match=sku&progress=true$/, async (route) => {
      const body = "sku,name,price\nLOST-1,Lost,1\n"; // The browser does not show the file to the test.
      await route.fetch({ postData: body });
      await route.abort();
    });
    await page.getByRole("button", { name: "Import 1 product" }).click();
    await page.getByRole("alert").getByText("The connection was lost during the import.").waitFor();
    expect(await found("LOST-1")).toMatchObject([{ name: "Lost" }]);
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("Every row is as its product already.").waitFor();
  });

  it("asks the person to sign in again when the session has ended, and keeps the file", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, `${listPath()}/import`, "Import products");
    let isExpired = true;
    await page.route("**/products/import**", async (route) => {
      if (!isExpired) return route.continue();
      isExpired = false;
      const json = { code: "unauthorized", status: 401, title: "Not signed in", detail: "x" };
      return route.fulfill({ status: 401, contentType: "application/problem+json", json });
    });
    await page
      .locator("input[type=file]")
      .setInputFiles(csv("again.csv", "sku,name,price\nAGAIN-1,Again,1\n"));
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await page.getByRole("button", { name: "again.csv", includeHidden: true }).waitFor();
  });
});

describe("what others must not see or do", () => {
  it("partners see what is exposed to them without prices, and support sees no button that changes", async () => {
    const { connectionId, merchantId } = world.partner;
    const page = await world.open(world.people.partner);
    await visit(page, `/connections/${connectionId}/products`, "Products of Partner");
    await page.getByRole("row").nth(1).waitFor();
    expect(await page.getByRole("main").innerText()).not.toMatch(/€|EUR/);
    expect(await page.getByRole("link", { name: "Change what is exposed" }).count()).toBe(0);
    expect((await page.request.get(`/api/merchants/${merchantId}/products`)).status()).toBe(403);
    const support = await world.open(world.people.support);
    await open(support);
    await support.getByRole("row").nth(1).waitFor();
    for (const name of ["Create product", "Expose", "Export"])
      expect(await support.getByRole("button", { name }).count(), name).toBe(0);
    expect(await support.getByRole("checkbox").count()).toBe(0);
  });
});
