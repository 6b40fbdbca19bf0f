import { byService } from "../audit/record-audit.ts";
import { createFacility, setRates } from "../fulfilment/facilities.ts";
import type { FacilityAddress, Rate } from "../fulfilment/facilities-sql.ts";
import { routeAllOrders } from "../fulfilment/routing/waiting-orders.ts";
import { setStock } from "../fulfilment/set-stock.ts";
import { placementOf } from "../orders/creation/create-order.ts";
import { placeOrder } from "../orders/creation/place-orders.ts";
import { acceptAllDueOrders } from "../orders/deadlines/accept-orders.ts";
import { processAccountPayments } from "../payments/account/account.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { newIdsFrom } from "../platform/ids.ts";
import { MINUTE_MS } from "../platform/time.ts";

type Site = {
  readonly name: string;
  readonly countryCode: string;
  readonly address: Pick<FacilityAddress, "address1" | "city" | "zip" | "email">;
  readonly rates: readonly Rate[];
  /** Units on hand, in the order of the demo's products. */
  readonly onHand: readonly number[];
};

/** The prices of a parcel of up to 2 kg, of one of up to 30 kg, and of a pallet of up to 800 kg. */
const rates = (countryCodes: readonly string[], ...pricesMinor: bigint[]): Rate[] =>
  countryCodes.flatMap((countryCode) =>
    [2_000, 30_000, 800_000].flatMap((maxWeightGrams, index) => {
      const priceMinor = pricesMinor[index];
      return priceMinor === undefined ? [] : [{ countryCode, currency: "EUR", maxWeightGrams, priceMinor }];
    }),
  );

const EUROPE = ["AT", "BE", "CH", "CZ", "DK", "ES", "FI", "FR", "IT", "LU", "NL", "NO", "PL", "PT", "SE"];
const OVERSEAS = ["AU", "CA", "JP", "US"];

const SITES: readonly Site[] = [
  {
    name: "London",
    countryCode: "GB",
    address: { address1: "Unit 4, Wharf Road", city: "London", zip: "E16 2EZ", email: "parcels@example.com" },
    rates: [
      ...rates(["GB"], 420n, 950n, 8_900n),
      ...rates(["IE"], 690n, 1_450n),
      ...rates(OVERSEAS, 1_890n, 4_900n),
    ],
    onHand: [2_800, 40, 25, 20],
  },
  {
    name: "Berlin",
    countryCode: "DE",
    address: { address1: "Speicherstraße 12", city: "Berlin", zip: "10115", email: "pakete@example.com" },
    rates: [...rates(["DE"], 390n, 890n, 7_900n), ...rates(EUROPE, 790n, 1_690n)],
    onHand: [80, 35, 30, 4],
  },
];

type Buyer = readonly [first: string, last: string, street: string, city: string, zip: string, code: string];
type Sold = {
  readonly minutesAgo: number;
  readonly buyer: Buyer;
  /** Units of each of the demo's products. */
  readonly units: readonly number[];
  readonly note?: string;
};

/** More than two hours ago: accepted, and ready to pack. The last two are in their cancel window and in review. */
const ORDERS: readonly Sold[] = [
  {
    minutesAgo: 345,
    buyer: ["Grace", "Hopper", "7 Harbour Row", "London", "E14 9SH", "GB"],
    units: [2, 0, 0, 1],
  },
  { minutesAgo: 320, buyer: ["Emil", "Brandt", "Lindenweg 4", "Berlin", "10115", "DE"], units: [0, 1, 1, 0] },
  {
    minutesAgo: 290,
    buyer: ["Nora", "Quinn", "31 Mill Road", "Manchester", "M1 2WD", "GB"],
    units: [0, 1, 1, 0],
    note: "A present: no prices in the parcel, please.",
  },
  {
    minutesAgo: 250,
    buyer: ["Jonas", "Weber", "Am Markt 12", "Hamburg", "20095", "DE"],
    units: [0, 0, 0, 12],
  },
  { minutesAgo: 215, buyer: ["Isla", "Fraser", "5 Castle Steps", "Edinburgh", "EH1 2PW", "GB"], units: [1] },
  { minutesAgo: 190, buyer: ["Lena", "Vogel", "Isarstr. 88", "München", "80469", "DE"], units: [3, 2, 0, 1] },
  {
    minutesAgo: 160,
    buyer: ["Amir", "Haddad", "9 Dock Road", "Cardiff", "CF10 5AL", "GB"],
    units: [0, 4, 0, 2],
  },
  { minutesAgo: 135, buyer: ["Zoë", "Martin", "3 rue Basse", "Lyon", "69002", "FR"], units: [1, 0, 2, 0] },
  { minutesAgo: 20, buyer: ["Tom", "Okafor", "14 Park View", "Leeds", "LS1 4HT", "GB"], units: [2] },
  { minutesAgo: 10, buyer: ["Ruth", "Calder", "1 Quay Walk", "Bristol", "BS1 5TY", "GB"], units: [1_200] },
];

/** Two facilities with stock and rates. */
export async function makeDemoWarehouse(
  context: Context,
  merchantId: string,
  productIds: readonly string[],
): Promise<void> {
  for (const site of SITES) await makeSite(context, merchantId, productIds, site);
}

/**
 * Orders of the last hours, so that each page of the warehouse shows work. One order waits for stock, and one for a review. The
 * others are accepted, routed and charged here: they are hours old, and left to the worker they would be reported as work that
 * waits too long.
 */
export async function placeDemoOrders(
  context: Context,
  connection: ConnectionKey,
  productIds: readonly string[],
): Promise<void> {
  for (const [index, sold] of ORDERS.entries())
    await placeDemoOrder(context, connection, productIds, `demo-${1001 + index}`, sold);
  await routeAllOrders(context);
  await processAccountPayments(context);
}

async function makeSite(
  context: Context,
  merchantId: string,
  productIds: readonly string[],
  { name, countryCode, address, rates, onHand }: Site,
): Promise<void> {
  const by = byService("createDemo");
  const facility = await createFacility(
    context,
    {
      name,
      countryCode,
      address: { company: null, address2: null, stateCode: null, phone: null, ...address },
    },
    by,
  );
  await setRates(context, facility.id, { rates }, by);
  for (const [index, id] of productIds.entries())
    await setStock(context, facility.id, { merchantId, id }, { onHand: onHand[index] ?? 0 }, by);
}

/** Places an order as it would have been placed some time ago, and accepts it when its window closed. */
async function placeDemoOrder(
  context: Context,
  connection: ConnectionKey,
  productIds: readonly string[],
  externalOrderId: string,
  { minutesAgo, buyer, units, note }: Sold,
): Promise<void> {
  const nowMs = context.clock.now().getTime();
  const past = at(context, nowMs - minutesAgo * MINUTE_MS);
  const [firstName, lastName, address1, city, zip, countryCode] = buyer;
  const body = {
    externalOrderId,
    shippingAddress: { firstName, lastName, address1, city, zip, countryCode },
    lines: productIds.flatMap((productId, index) => {
      const quantity = units[index] ?? 0;
      return quantity === 0 ? [] : [{ productId, quantity }];
    }),
    ...(note !== undefined && { note }),
  };
  const placement = placementOf(connection, externalOrderId, body, undefined);
  const { outcome } = await placeOrder(past, placement);
  if (outcome !== "created") throw new Error(`The order ${externalOrderId} was not created: ${outcome}.`);
  const closesAtMs = past.clock.now().getTime() + context.config.acceptanceWindowMs;
  if (closesAtMs <= nowMs) await acceptAllDueOrders(at(context, closesAtMs));
}

/** The context as it was at a moment. */
function at(context: Context, ms: number): Context {
  const clock = { now: () => new Date(ms) };
  return { ...context, clock, newId: newIdsFrom(clock) };
}
