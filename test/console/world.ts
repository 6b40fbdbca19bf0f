import type { Person } from "../../src/people/person.ts";
import { type Console, startConsole } from "../support/browser.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { routeAll } from "../support/facilities.ts";
import { createPerson } from "../support/people.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { createEndpoint, deliveryOf, uuidIn } from "../support/webhooks.ts";

export type PersonName = "operator" | "merchant" | "warehouse" | "partner" | "support";

/** A merchant with a partner, orders in different states, and a person for each role. */
export type World = Console & {
  readonly partner: Partner;
  readonly people: Readonly<Record<PersonName, Person>>;
  /** An endpoint, and its delivery of the event of an order, which nothing sends. */
  readonly endpointId: string;
  readonly deliveryId: string;
  /** Ids of orders by what is special about them. */
  readonly orders: {
    readonly fresh: string;
    readonly shipped: string;
    readonly held: string;
    readonly test: string;
  };
};

export async function startWorld(): Promise<World> {
  const console = await startConsole();
  const { service } = console;
  const partner = await createPartner(service);
  const endpoint = await createEndpoint(partner);
  const shipped = await placeAcceptedOrder(service, partner, { externalOrderId: "shop-1001" });
  await routeAll(service);
  await operationApplied(service, shipped.id, "ship", { carrier: "DHL", trackingNumber: "JD014600003RS" });
  const held = await placeAcceptedOrder(service, partner, { externalOrderId: "shop-1002" });
  await operationApplied(service, held.id, "hold", { reasons: ["merchant_request"] });
  const fresh = await placeOrder(partner, { externalOrderId: "shop-1003" });
  const test = await placeOrder(partner, { externalOrderId: "shop-test", testMode: true });
  const deliveryId = await deliveryOf(partner, endpoint.id, fresh.id);
  const person = (name: string, grants: Person["grants"]) =>
    createPerson(service, { name, email: `${name.toLowerCase()}@example.com`, grants });
  return {
    ...console,
    partner,
    endpointId: endpoint.id,
    deliveryId,
    people: {
      operator: await person("Olivia", [{ role: "operator" }]),
      merchant: await person("Mia", [{ role: "merchant", merchantIds: [uuidIn("mer", partner.merchantId)] }]),
      warehouse: await person("Walter", [{ role: "warehouse", facilityIds: null }]),
      partner: await person("Paula", [
        {
          role: "partner",
          connections: [
            {
              merchantId: uuidIn("mer", partner.merchantId),
              connectionId: uuidIn("con", partner.connectionId),
            },
          ],
        },
      ]),
      support: await person("Sam", [{ role: "support" }]),
    },
    orders: { fresh: fresh.id, shipped: shipped.id, held: held.id, test: test.id },
  };
}
