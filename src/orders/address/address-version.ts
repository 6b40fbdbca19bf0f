import type { ShippingAddress } from "../../lifecycle/order.ts";
import { versionOf } from "../../platform/wire/content-version.ts";
import { ADDRESS_FIELDS } from "../address-schemas.ts";

/** Names an address, so that a correction can require that it is the one that was read (decision 0223). */
export const addressVersion = (address: ShippingAddress): string =>
  versionOf(ADDRESS_FIELDS.map((field) => address[field]));
