import type { ShippingAddress } from "../../lifecycle/order.ts";

/** The value of a required text of an erased address, so that the address keeps its form (decision 0071). */
export const ERASED = "erased";

/** An address without the buyer. The country stays: it identifies no person, and charges for shipping depend on it. */
const erasedAddress = (address: ShippingAddress): ShippingAddress => ({
  ...address,
  firstName: ERASED,
  lastName: ERASED,
  name: ERASED,
  company: null,
  address1: ERASED,
  address2: null,
  city: ERASED,
  zip: ERASED,
  stateCode: null,
  phone: null,
});

/** Members of an event's body that become null. */
const ERASED_MEMBERS = ["note", "trackingNumber", "trackingUrl"];

/** The body of an event without the buyer: all else, and the order of the members, stays as it is. */
export function erasedEventBody(body: string): string {
  const event: unknown = JSON.parse(body, (key, value) => {
    if (key === "shippingAddress") return erasedAddress(value as ShippingAddress); // The service wrote the body.
    if (key === "metadata") return {};
    return ERASED_MEMBERS.includes(key) ? null : value;
  });
  return JSON.stringify(event);
}
