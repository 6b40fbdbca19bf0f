import { createHmac } from "node:crypto";
import type { Page } from "playwright-core";
import { created } from "../../../support/builders.ts";
import type { PersonName, Shop } from "./shop.ts";
import type { Trade } from "./trade.ts";

/** A picture of a page of the console. */
export type Picture = {
  /** Its file, without the extension. */
  readonly name: string;
  readonly person: PersonName;
  readonly path: (shop: Shop & Trade) => string;
  /** The heading of the page. */
  readonly heading: string | RegExp;
  /** What the person does before the picture is taken. */
  readonly first?: (page: Page, shop: Shop & Trade) => Promise<void>;
  /** Pixels of the page, if not the usual number. */
  readonly height?: number;
};

/** The pictures of the guides, in the order of the guides. */
export const PICTURES: readonly Picture[] = [
  {
    name: "overview",
    person: "merchant",
    path: () => "/?days=7",
    heading: "Overview",
    first: (page) =>
      page
        .getByRole("group", { name: /^Bar chart/ })
        .getByRole("link")
        .first()
        .waitFor(),
  },
  { name: "orders", person: "merchant", path: () => "/orders", heading: "Orders", height: 640 },
  {
    name: "order",
    person: "merchant",
    path: ({ orders }) => `/orders/${orders.shipped}`,
    heading: /^NG-/,
    height: 900,
  },
  {
    name: "connection",
    person: "merchant",
    path: ({ partner }) => `/connections/${partner.connectionId}`,
    heading: "Northern Gifts",
  },
  {
    name: "account",
    person: "merchant",
    path: ({ partner }) => `/merchants/${partner.merchantId}/account`,
    heading: "Account of Mugs & Co",
  },
  {
    name: "charges",
    person: "merchant",
    path: ({ partner }) => `/merchants/${partner.merchantId}/charges`,
    heading: "Charges and refunds",
  },
  {
    name: "products",
    person: "merchant",
    path: ({ partner }) => `/products/of/${partner.merchantId}`,
    heading: /^Products of/,
  },
  {
    name: "import",
    person: "merchant",
    path: ({ partner }) => `/products/of/${partner.merchantId}/import`,
    heading: "Import products",
    first: async (page) => {
      const buffer = Buffer.from(
        'sku,name,price\nMUG-01,"Mug, blue",8.40\nMUG-02,"Mug, sand",7.90\nJUG-01,Jug,19.00\n',
      );
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "autumn.csv", mimeType: "text/csv", buffer });
      await page.getByRole("row", { name: /JUG-01/ }).waitFor();
    },
  },
  { name: "people", person: "operator", path: () => "/people", heading: "People" },
  {
    name: "review-queue",
    person: "warehouse",
    path: () => "/review",
    heading: "Review queue",
    first: (page) => page.getByText("Why it waits").waitFor(),
  },
  { name: "work-overview", person: "warehouse", path: () => "/", heading: "Overview", height: 500 },
  { name: "work-list", person: "warehouse", path: () => "/work", heading: "Work list" },
  {
    name: "packing-table",
    person: "warehouse",
    path: () => "/work/pack",
    heading: "Packing table",
    first: async (page, { orders }) => {
      for (const code of [orders.ready, "4006381000017"]) {
        await page.keyboard.type(code, { delay: 0 });
        await page.keyboard.press("Enter");
      }
      await page.getByText(/: 1 of 2/).waitFor();
    },
  },
  {
    name: "slips",
    person: "warehouse",
    path: ({ orders }) => `/work/slips/${orders.ready}`,
    heading: /^Slips of/,
    height: 1_080,
  },
  {
    name: "return",
    person: "warehouse",
    path: () => "/returns",
    heading: "Returns",
    first: async (page, { orders }) => {
      await page.keyboard.type(orders.shipped, { delay: 0 });
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Record return" }).waitFor();
    },
  },
  {
    name: "deliveries",
    person: "partner",
    path: ({ partner }) => `/connections/${partner.connectionId}/deliveries`,
    heading: "Deliveries",
  },
  {
    name: "delivery",
    person: "partner",
    path: ({ partner, deliveryId }) => `/connections/${partner.connectionId}/deliveries/${deliveryId}`,
    heading: "order.created",
    height: 900,
  },
  {
    name: "sandbox",
    person: "partner",
    path: ({ partner, orders }) => `/sandbox/${partner.connectionId}/${orders.test}`,
    heading: "NG-rehearsal",
    first: (page) => page.getByRole("region", { name: "Picture of the lifecycle" }).waitFor(),
  },
  {
    name: "signature-doctor",
    person: "partner",
    path: () => "/signature-doctor",
    heading: "Signature doctor",
    first: async (page, { service }) => {
      const { secret, headers, body } = signedRequest(service.clock.now());
      await page.getByLabel("Headers").fill(headers);
      await page.getByLabel("Body").fill(JSON.stringify(JSON.parse(body), null, 2));
      await page.getByLabel("Signing secret").fill(secret);
      await page.getByText("The cause is found").waitFor();
    },
  },
  {
    // The last one: its second connection would be in the others.
    name: "exposure",
    person: "merchant",
    path: ({ partner }) => `/products/of/${partner.merchantId}`,
    heading: /^Products of/,
    first: async (page, { service, partner }) => {
      await created(
        service.backOffice.post(`/api/merchants/${partner.merchantId}/connections`, {
          name: "Southern Gifts",
        }),
      );
      await page.reload();
      await page.getByRole("checkbox", { name: "Select this page" }).check();
      await page.getByRole("button", { name: "Expose", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Expose products" });
      await dialog.getByRole("checkbox", { name: "Southern Gifts" }).check();
      await dialog.getByRole("button", { name: "Continue" }).click();
      await dialog.getByText(/exposures are added/).waitFor();
    },
  },
];

/** A request as the service signs it, with a secret that no endpoint has. */
function signedRequest(now: Date) {
  const key = Buffer.alloc(32, 7);
  const id = "evt_01kjpwd6m0f1wav3ps5hw1abes";
  const timestamp = Math.floor(now.getTime() / 1_000);
  const body = `{"id":"${id}","type":"order.created"}`;
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = `webhook-id: ${id}\nwebhook-timestamp: ${timestamp}\nwebhook-signature: v1,${signature}`;
  return { secret: `whsec_${key.toString("base64")}`, headers, body };
}

/** A picture of the system shows a real worker, so it is taken of the demo, with the clock of the machine. */
export const SYSTEM = { name: "system", path: "/system", heading: "System" };
