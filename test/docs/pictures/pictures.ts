import type { Page } from "playwright-core";
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
  { name: "orders", person: "merchant", path: () => "/orders", heading: "Orders" },
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
  { name: "review-queue", person: "warehouse", path: () => "/review", heading: "Review queue" },
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
];

/** A picture of the system shows a real worker, so it is taken of the demo, with the clock of the machine. */
export const SYSTEM = { name: "system", path: "/system", heading: "System" };
