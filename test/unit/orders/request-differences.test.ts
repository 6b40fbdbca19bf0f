import { describe, expect, it } from "vitest";
import type { Order } from "../../../src/lifecycle/order.ts";
import { hashOrderRequest, normalizeOrderRequest } from "../../../src/orders/creation/order-request.ts";
import { differencesFrom } from "../../../src/orders/creation/request-differences.ts";
import { anOrder } from "../../support/lifecycle-orders.ts";

type Body = Parameters<typeof normalizeOrderRequest>[0];

const MUG = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e5f";
const TEE = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e60";
const ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James's Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
};
const BODY: Body = {
  externalOrderId: "PO-1001",
  testMode: true,
  shippingAddress: ADDRESS,
  lines: [
    { productId: MUG, quantity: 1 },
    { productId: TEE, quantity: 5 },
  ],
  note: "Ring twice.",
  metadata: { channel: "web", "a/b~c": "1" },
};
const FIRST = normalizeOrderRequest(BODY);
const [LINE] = anOrder().lines;

/** The order of the first request, whose second line was split since. */
const orderWith = (fields: Partial<Order> = {}): Order =>
  anOrder({
    ...FIRST,
    lines: [
      { ...LINE, id: "1", productId: MUG, quantity: 1 },
      { ...LINE, id: "2", productId: TEE, quantity: 2 },
      { ...LINE, id: "3", productId: TEE, quantity: 3, splitFrom: "2" },
    ] as Order["lines"],
    ...fields,
  });

const differences = (changed: Partial<Body>, order = orderWith()): string[] =>
  differencesFrom(order, hashOrderRequest(FIRST), normalizeOrderRequest({ ...BODY, ...changed }));

const addressWith = (fields: object) => ({ shippingAddress: { ...ADDRESS, ...fields } });
const CORRECTED = orderWith({ shippingAddress: { ...FIRST.shippingAddress, city: "Leeds" } });
const erased = Object.fromEntries(
  ["firstName", "lastName", "name", "address1", "city", "zip"].map((field) => [field, "erased"]),
);
const ERASED = orderWith({
  shippingAddress: { ...FIRST.shippingAddress, ...erased },
  note: null,
  metadata: {},
});

describe("the members in which a request differs from the first one", () => {
  it.each<[name: string, changed: Partial<Body>, pointers: string[]]>([
    ["nothing", {}, []],
    ["the same country in lower case", addressWith({ countryCode: "gb" }), []],
    ["a field of the address", addressWith({ city: "Leeds" }), ["/shippingAddress/city"]],
    [
      "a further field of the address",
      addressWith({ phone: "+44 20 7946 0000" }),
      ["/shippingAddress/phone"],
    ],
    [
      "a quantity",
      { lines: [BODY.lines[0], { productId: TEE, quantity: 6 }] as Body["lines"] },
      ["/lines/1/quantity"],
    ],
    [
      "lines in another order",
      { lines: BODY.lines.toReversed() },
      ["/lines/0/productId", "/lines/0/quantity", "/lines/1/productId", "/lines/1/quantity"],
    ],
    ["a line less", { lines: BODY.lines.slice(1) }, ["/lines"]],
    ["the external id", { externalOrderId: "PO-1002" }, ["/externalOrderId"]],
    ["a real order instead", { testMode: false }, ["/testMode"]],
    ["the note", { note: "Ring once." }, ["/note"]],
    ["metadata", { metadata: { channel: "shop", "a/b~c": "2" } }, ["/metadata/a~1b~0c", "/metadata/channel"]],
    [
      "metadata left out and added",
      { metadata: { channel: "web", toString: "x" } },
      ["/metadata/a~1b~0c", "/metadata/toString"],
    ],
    ["several", { ...addressWith({ zip: "1" }), note: null as never }, ["/shippingAddress/zip", "/note"]],
  ])("are named: %s", (_name, changed, pointers) => {
    expect(differences(changed)).toEqual(pointers);
  });

  it.each<[name: string, changed: Partial<Body>, pointers: string[]]>([
    ["the first address", { note: "Ring once." }, ["/note"]],
    ["another address", addressWith({ zip: "LS1 4AP" }), ["/shippingAddress"]],
    ["the corrected address", addressWith({ city: "Leeds" }), ["/shippingAddress"]],
    [
      "another address and another line",
      { ...addressWith({ zip: "LS1 4AP" }), lines: BODY.lines.slice(1) },
      ["/shippingAddress", "/lines"],
    ],
  ])("name no field of an address that was corrected since: %s", (_name, changed, pointers) => {
    expect(differences(changed, CORRECTED)).toEqual(pointers);
  });

  it.each<[name: string, changed: Partial<Body>, pointers: string[]]>([
    ["another note", { note: "Ring once." }, []],
    ["another address", addressWith({ city: "Leeds" }), []],
    ["a line less", { ...addressWith({ city: "Leeds" }), lines: BODY.lines.slice(1) }, ["/lines"]],
  ])("name nothing of what was erased since: %s", (_name, changed, pointers) => {
    expect(differences(changed, ERASED)).toEqual(pointers);
  });
});
