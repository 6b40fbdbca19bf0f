import { afterAll, beforeAll, expect, it } from "vitest";
import { anAddress, created, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

// See docs/design/console.md, "Addresses".

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const NONE = { company: null, address2: null, zip: null, stateCode: null, phone: null, email: null };
const ADDRESS = { address1: "Speicherstraße 12", city: "Berlin", zip: "10115" };

it("a facility has an address from its creation on, or none", async () => {
  const post = (body: object) => created(test.backOffice.post("/api/facilities", body));
  expect(await post({ name: "None", countryCode: "DE" })).toMatchObject({ address: null });
  expect(await post({ name: "Berlin", countryCode: "DE", address: ADDRESS })).toMatchObject({
    address: { ...NONE, ...ADDRESS },
  });
});

it("an address is replaced as a whole, kept without the field, removed by null, and is on the slips", async () => {
  const facilityId = await createFacility(test);
  for (const productId of partner.productIds) await setStock(test, facilityId, productId, 10);
  const order = await placeAcceptedOrder(test, partner);
  await routeAll(test);
  const path = `/api/facilities/${facilityId}`;
  const patch = async (body: object) => (await test.backOffice.request("PATCH", path, { body })).body.address;
  const onSlip = async () =>
    (await test.backOffice.get(`/api/orders/${order.id}/packing-slip`)).body.facility.address;
  expect(await onSlip()).toBeNull();
  const email = "pakete@xn--mnchen-3ya.example";
  await patch({ address: { ...ADDRESS, phone: "+49 30 901820", email } });
  const stored = { ...NONE, ...ADDRESS, phone: "+49 30 901820", email: "pakete@münchen.example" };
  expect(await onSlip()).toEqual(stored);
  expect(await patch({ name: "Depot" })).toEqual(stored);
  expect(await patch({ address: { ...ADDRESS, zip: "-" } })).toEqual({ ...NONE, ...ADDRESS, zip: "-" });
  expect(await patch({ address: null })).toBeNull();
  expect(await onSlip()).toBeNull();
});

it("an address names what it lacks", async () => {
  const path = `/api/facilities/${await createFacility(test)}`;
  const { status, body } = await test.backOffice.request("PATCH", path, { body: { address: { city: "B" } } });
  expect([status, body.errors]).toMatchObject([422, [{ pointer: "/address/address1", rule: "required" }]]);
});

it("the name of a recipient without a last name has no dash", async () => {
  const { id } = await placeOrder(partner, {
    shippingAddress: anAddress({ firstName: "Madonna", lastName: "-", zip: "-" }),
  });
  const { body } = await partner.client.get(`/v1/orders/${id}`);
  expect(body.shippingAddress).toMatchObject({
    firstName: "Madonna",
    lastName: "-",
    name: "Madonna",
    zip: "-",
  });
});
