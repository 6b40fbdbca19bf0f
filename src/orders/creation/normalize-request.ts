import { hash } from "node:crypto";
import type { Static } from "typebox";
import type { ShippingAddress } from "../../lifecycle/order.ts";
import type { Metadata } from "../note-schemas.ts";
import type { OrderRequestSchema } from "./order-request.ts";

/** A valid request in its normal form, which is hashed and stored. */
export type OrderRequest = {
  readonly shippingAddress: ShippingAddress;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  readonly externalOrderId: string | null;
  readonly testMode: boolean;
  readonly note: string | null;
  /** Sorted by key. Empty if none was sent. */
  readonly metadata: Metadata;
};

export function normalizeOrderRequest(body: Static<typeof OrderRequestSchema>): OrderRequest {
  const sent = body.shippingAddress;
  return {
    shippingAddress: {
      firstName: sent.firstName,
      lastName: sent.lastName,
      name: sent.name ?? null,
      company: sent.company ?? null,
      address1: sent.address1,
      address2: sent.address2 ?? null,
      city: sent.city,
      zip: sent.zip,
      stateCode: sent.stateCode ?? null,
      countryCode: sent.countryCode.toUpperCase(),
      phone: sent.phone ?? null,
    },
    lines: body.lines.map(({ productId, quantity }) => ({ productId: productId.toLowerCase(), quantity })),
    externalOrderId: body.externalOrderId ?? null,
    testMode: body.testMode ?? false,
    note: body.note ?? null,
    // Libraries choose the order of members, so it must not make a different request.
    metadata: Object.fromEntries(Object.entries(body.metadata ?? {}).sort(byName)),
  };
}

/**
 * SHA-256 of the normal form, not of the bytes that were sent: white space, the order of fields and unknown fields do
 * not make a different request (decision 0003). Hashes are stored with orders, and retries are compared with them.
 *
 * The fields of the first version have fixed positions. Every other field is hashed by its name, and only if it has a
 * value. So a new optional field needs no change here, and never changes the hash of a request without it.
 */
export function hashOrderRequest(request: OrderRequest): Buffer {
  const { shippingAddress, lines, externalOrderId, testMode, ...others } = request;
  const { firstName, lastName, name, company, address1, address2, city, ...ofAddress } = shippingAddress;
  const { zip, stateCode, countryCode, phone, ...othersOfAddress } = ofAddress;
  const content = [
    [
      firstName,
      lastName,
      name,
      company,
      address1,
      address2,
      city,
      zip,
      stateCode,
      countryCode,
      phone,
      ...present(othersOfAddress),
    ],
    lines.map(({ productId, quantity, ...othersOfLine }) => [productId, quantity, ...present(othersOfLine)]),
    externalOrderId,
    testMode,
    ...present(others),
  ];
  return hash("sha256", JSON.stringify(content), "buffer");
}

/** One object with the fields that have a value, sorted by name; nothing if there are none. */
function present(fields: Readonly<Record<string, unknown>>): object[] {
  const sent = Object.entries(fields).filter(([, value]) => !isAbsent(value));
  return sent.length === 0 ? [] : [Object.fromEntries(sent.sort(byName))];
}

/** In the normal form, an optional field that was not sent is null or an empty object. */
const isAbsent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0);

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);
