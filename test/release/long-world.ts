import type { Person } from "../../src/people/person.ts";
import { type Floor, pingedEndpoint } from "../console/floor.ts";
import { type PersonName, startWorld, type World } from "../console/world.ts";
import { created, placeOrder, placeTestOrder } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { createPerson } from "../support/people.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { tokensOf } from "../support/tokens.ts";
import { createEndpoint, deliveryOf } from "../support/webhooks.ts";

/** A text without a space, which the API accepts for all that people and partners name. */
const long = (word: string, length = 200): string => word.padEnd(length, word);

const ADDRESS = {
  firstName: long("Ada"),
  lastName: long("Lovelace"),
  company: long("Company"),
  address1: long("Street"),
  address2: long("Floor"),
  zip: long("Zip"),
  city: long("City"),
  stateCode: "LND",
  countryCode: "GB",
};

/** The world of the pages, in which all texts that people and partners choose are long. */
export async function startLongWorld(): Promise<World & Floor> {
  const world = await startWorld();
  const { service, partner } = world;
  await change(world, `merchants/${partner.merchantId}`, { name: long("Merchant") });
  await change(world, `connections/${partner.connectionId}`, { name: long("Partner") });
  for (const [index, id] of partner.productIds.entries()) {
    const barcode = long(`${index + 1}`, 100);
    await change(world, `products/${id}`, { sku: long("SKU"), name: long("Product"), barcode });
  }
  const endpoint = await createEndpoint(partner, { url: `https://example.com/${long("path", 500)}` });
  await tokensOf(service).create({
    name: long("Token"),
    role: "merchant",
    merchantIds: [partner.merchantId],
  });
  const people = await peopleOf(world);
  const { orders, ...floor } = await openLongFloor(world);
  const deliveryId = await deliveryOf(partner, endpoint.id, orders.fresh);
  return { ...world, ...floor, people, endpointId: endpoint.id, deliveryId, orders };
}

async function change({ service }: World, path: string, body: object): Promise<void> {
  const answer = await service.backOffice.request("PATCH", `/api/${path}`, { body });
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}

/** The people of the world by longer names. */
async function peopleOf({ service, people }: World): Promise<World["people"]> {
  const renamed = await Promise.all(
    Object.entries(people).map(async ([key, { name, grants }]): Promise<[string, Person]> => {
      const email = `${long(name, 60)}@${long("example", 60)}.${long("example", 60)}.com`.toLowerCase();
      return [key, await createPerson(service, { name: long(name), email, grants })];
    }),
  );
  return Object.fromEntries(renamed) as Record<PersonName, Person>; // The same keys.
}

/** A facility with orders of each kind, whose texts are long. */
async function openLongFloor(world: World): Promise<Floor & Pick<World, "orders">> {
  const { service, partner } = world;
  const facilityId = await createFacility(service);
  await change(world, `facilities/${facilityId}`, { name: long("Hall") });
  for (const id of partner.productIds) await setStock(service, facilityId, id, 40);
  const order = (word: string) => ({
    externalOrderId: long(word),
    shippingAddress: ADDRESS,
    note: long("note", 1_000),
    metadata: { [long("key", 40)]: long("value") },
    lines: partner.productIds.map((productId) => ({ productId, quantity: 2 })),
  });
  const place = async (word: string) =>
    (await placeAcceptedOrder(service, partner, order(word))).id as string;
  const held = await place("held");
  await operationApplied(service, held, "hold", { reasons: [long("reason", 100)] });
  const shipped = await place("shipped");
  await place("picked");
  const readyOrder = await place("ready");
  await routeAll(service);
  await operationApplied(service, shipped, "ship", {
    ...{ carrier: long("carrier"), trackingNumber: long("tracking") },
  });
  const { pickList } = await created(
    service.backOffice.post("/api/pick-lists", {
      ...{ facilityId, takenBy: long("Table", 100), orderLimit: 2, leaseMinutes: 720 },
    }),
  );
  await change(world, `connections/${partner.connectionId}`, { reviewPolicy: { maxQuantity: 5 } });
  const [productId] = partner.productIds;
  await placeOrder(partner, { ...order("review"), lines: [{ productId, quantity: 6 }] });
  const fresh = (await placeOrder(partner, order("fresh"))).id;
  const test = (await placeTestOrder(partner, order("test"))).id;
  const token = await created(
    service.backOffice.post("/api/tokens", { name: long("Program"), role: "operator", scopes: ["*"] }),
  );
  const endpoint = { url: `https://1.1.1.1/${long("hooks")}`, description: long("note", 255) };
  const ofMerchant = await pingedEndpoint(
    service.backOffice,
    `/api/merchants/${partner.merchantId}`,
    endpoint,
  );
  const ofFacility = await pingedEndpoint(service.backOffice, `/api/facilities/${facilityId}`, endpoint);
  return {
    ...{
      ofMerchant,
      ofFacility,
      facilityId,
      pickListId: pickList.id,
      readyOrder,
      freshOrder: fresh,
      testOrder: test,
      tokenId: token.id,
    },
    orders: { fresh, shipped, held, test },
  };
}
