import type { Order } from "../../lifecycle/order.ts";

/** A shipping address as columns of `orders`. */
export const addressColumns = (address: Order["shippingAddress"]) => ({
  first_name: address.firstName,
  last_name: address.lastName,
  name: address.name,
  company: address.company,
  address1: address.address1,
  address2: address.address2,
  city: address.city,
  zip: address.zip,
  state_code: address.stateCode,
  country_code: address.countryCode,
  phone: address.phone,
});
