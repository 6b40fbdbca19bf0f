import { V7Generator } from "uuidv7";
import type { Person } from "../../../../src/people/person.ts";
import type { NewId } from "../../../../src/platform/ids.ts";
import type { Clock } from "../../../../src/platform/time.ts";
import { type Console, startConsole } from "../../../support/browser.ts";
import { anAddress, created, createExposedProduct, type Partner } from "../../../support/builders.ts";
import { connectionKey } from "../../../support/orders.ts";
import { createPerson } from "../../../support/people.ts";
import type { TestService } from "../../../support/test-service.ts";
import { uuidIn } from "../../../support/webhooks.ts";

export type PersonName = "operator" | "merchant" | "warehouse" | "partner";

/** A merchant that has sold for some days, as the pictures of the guides show it. */
export type Shop = Console & {
  readonly partner: Partner;
  readonly facilityId: string;
  readonly products: readonly string[];
  readonly people: Readonly<Record<PersonName, Person>>;
};

const PRODUCTS = [
  { sku: "MUG-01", name: "Mug, blue", amount: "7.90", weightGrams: 380, barcode: "4006381000017" },
  { sku: "MUG-02", name: "Mug, sand", amount: "7.90", weightGrams: 380, barcode: "4006381000024" },
  { sku: "POT-01", name: "Teapot", amount: "34.00", weightGrams: 900, barcode: "4006381000031" },
  { sku: "BAG-01", name: "Tote bag", amount: "6.40", weightGrams: 120, barcode: "4006381000048" },
  { sku: "TEE-M", name: "T-shirt, M", amount: "12.50", weightGrams: 180, barcode: "4006381000055" },
] as const;

const RATES = [
  { countryCode: "GB", maxWeightGrams: 30_000, price: { amount: "4.20", currency: "EUR" } },
  { countryCode: "DE", maxWeightGrams: 30_000, price: { amount: "6.90", currency: "EUR" } },
  { countryCode: "FR", maxWeightGrams: 30_000, price: { amount: "6.90", currency: "EUR" } },
];

/** Opens the shop on a Monday. */
export async function openShop(): Promise<Shop> {
  const console = await startConsole({ newIds: sameIds });
  const { service } = console;
  const { backOffice } = service;
  const merchant = {
    name: "Mugs & Co",
    accountEmail: "mail@mugs.example",
    creditLimit: { amount: "900.00", currency: "EUR" },
  };
  const { id: merchantId } = await created(backOffice.post("/api/merchants", merchant));
  const connection = { name: "Northern Gifts", reviewPolicy: { maxQuantity: 50 } };
  const { id: connectionId } = await created(
    backOffice.post(`/api/merchants/${merchantId}/connections`, connection),
  );
  const keys = `/api/connections/${connectionId}/keys`;
  const { key } = await created(backOffice.post(keys, { name: "Web shop" }));
  await created(backOffice.post(keys, { name: "Rehearsal", mode: "test" }));
  const { id: facilityId } = await created(
    backOffice.post("/api/facilities", { name: "London depot", countryCode: "GB" }),
  );
  await backOffice.request("PUT", `/api/facilities/${facilityId}/rates`, { body: { rates: RATES } });
  const products: string[] = [];
  for (const { amount, ...details } of PRODUCTS) {
    const price = { amount, currency: "EUR" };
    const id = await createExposedProduct(service, merchantId, connectionId, { ...details, price });
    const stock = `/api/facilities/${facilityId}/stock/${id}`;
    await backOffice.request("PUT", stock, { body: { onHand: 240 - products.length * 37 } });
    products.push(id);
  }
  const [first = "", second = ""] = products;
  const partner: Partner = {
    client: service.partner(key),
    key,
    merchantId,
    connectionId,
    productIds: [first, second],
  };
  return { ...console, partner, facilityId, products, people: await hire(service, partner) };
}

/** Ids of the same time are the same in each run, so that a picture changes only with its page. */
function sameIds(clock: Clock): NewId {
  let state = 1;
  const nextUint32 = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  const generator = new V7Generator({ nextUint32 });
  return () => generator.generateOrResetCore(clock.now().getTime(), 10_000).toString();
}

async function hire(service: TestService, partner: Partner): Promise<Shop["people"]> {
  const person = (name: string, grants: Person["grants"]) =>
    createPerson(service, { name, email: `${name.split(" ")[0]?.toLowerCase()}@mugs.example`, grants });
  return {
    operator: await person("Olivia Operator", [{ role: "operator" }]),
    merchant: await person("Mia Merchant", [
      { role: "merchant", merchantIds: [uuidIn("mer", partner.merchantId)] },
    ]),
    warehouse: await person("Wes Warehouse", [{ role: "warehouse", facilityIds: null }]),
    partner: await person("Pat Partner", [{ role: "partner", connections: [connectionKey(partner)] }]),
  };
}

const BUYERS = [
  { firstName: "Ada", lastName: "Lovelace" },
  { firstName: "Grace", lastName: "Hopper", city: "Bristol", zip: "BS1 4DJ", address1: "3 Queen Square" },
  {
    firstName: "Emmy",
    lastName: "Noether",
    city: "Erlangen",
    zip: "91054",
    address1: "Hauptstr. 23",
    countryCode: "DE",
  },
  {
    firstName: "Sophie",
    lastName: "Germain",
    city: "Paris",
    zip: "75006",
    address1: "13 Rue de Savoie",
    countryCode: "FR",
  },
  { firstName: "Alan", lastName: "Turing", city: "Manchester", zip: "M13 9PL", address1: "7 Oxford Road" },
  {
    firstName: "Mary",
    lastName: "Somerville",
    city: "London",
    zip: "SW3 4HN",
    address1: "5 Royal Hospital Rd",
  },
];

let orderCount = 0;

/** The next buyer orders these quantities of the products, by their position in the list. Returns the order's id. */
export async function sell(
  { partner, products }: Shop,
  quantities: Readonly<Record<number, number>>,
  fields: object = {},
): Promise<string> {
  orderCount += 1;
  const lines = Object.entries(quantities).map(([position, quantity]) => ({
    productId: products[Number(position)],
    quantity,
  }));
  const body = {
    externalOrderId: `NG-${2_040 + orderCount}`,
    lines,
    shippingAddress: anAddress(BUYERS[orderCount % BUYERS.length]),
    ...fields,
  };
  return (await created(partner.client.post("/v1/orders", body))).id;
}
