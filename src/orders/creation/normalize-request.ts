import { createHash } from "node:crypto";
import type { Static } from "typebox";
import type { ShippingAddress } from "../../lifecycle/order.ts";
import type { OrderRequestSchema } from "./order-request.ts";

/** A valid request in its normal form, which is hashed and stored. */
export type OrderRequest = {
  readonly shippingAddress: ShippingAddress;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  readonly externalOrderId: string | null;
  readonly testMode: boolean;
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
  };
}

/**
 * SHA-256 of the normal form, not of the bytes that were sent: white space and unknown fields do not make a different
 * request (decision 0003). Hashes are stored. So a new field must not change the hash of requests without it.
 */
export function hashOrderRequest(request: OrderRequest): Buffer {
  const { shippingAddress: a, lines, externalOrderId, testMode } = request;
  const content = [
    [
      a.firstName,
      a.lastName,
      a.name,
      a.company,
      a.address1,
      a.address2,
      a.city,
      a.zip,
      a.stateCode,
      a.countryCode,
      a.phone,
    ],
    lines.map(({ productId, quantity }) => [productId, quantity]),
    externalOrderId,
    testMode,
  ];
  return createHash("sha256").update(JSON.stringify(content)).digest();
}
