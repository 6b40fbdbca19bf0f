import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import type { ShippingAddress } from "../../lifecycle/order.ts";

const text = (options: { description?: string; examples?: string[] } = {}) =>
  Type.String({ minLength: 1, maxLength: 255, format: "text", ...options });

const AddressRequestSchema = Type.Object(
  {
    firstName: text(),
    lastName: text(),
    address1: text(),
    city: text(),
    zip: text(),
    countryCode: Type.String({
      format: "country-code",
      description: "Two letters, in either case.",
      examples: ["US"],
    }),
    stateCode: Type.Optional(text({ description: "For addresses in the United States, such as `CA`." })),
    address2: Type.Optional(text()),
    company: Type.Optional(text()),
    phone: Type.Optional(text()),
    name: Type.Optional(text()),
  },
  { title: "ShippingAddressRequest" },
);

const LINES_MAX = 100;

/** Limits: specification, part 8, and decision 0006. Unknown fields are ignored. */
export const OrderRequestSchema = Type.Object(
  {
    shippingAddress: AddressRequestSchema,
    lines: Type.Array(
      Type.Object(
        {
          productId: Type.String({ format: "uuid", description: "From `GET /v1/products`." }),
          quantity: Type.Integer({ minimum: 1, maximum: 100_000 }),
        },
        { title: "OrderLineRequest" },
      ),
      { minItems: 1, maxItems: LINES_MAX },
    ),
    externalOrderId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        format: "path-segment",
        description:
          "The partner's own id, unique per connection; the idempotency key when the header is absent.",
      }),
    ),
    testMode: Type.Optional(Type.Boolean({ description: "True makes a test order." })),
  },
  { title: "OrderRequest" },
);

export const IdempotencyKeyHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Optional when `externalOrderId` is sent." }),
  ),
});

/** A valid request in the one form that is hashed and stored. */
export type OrderRequest = {
  readonly shippingAddress: ShippingAddress;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  readonly externalOrderId: string | null;
  readonly testMode: boolean;
};

export function normaliseOrderRequest(body: Static<typeof OrderRequestSchema>): OrderRequest {
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

/** SHA-256 of what was asked, never of the raw bytes: spacing and unknown fields do not make another request (decision 0003). */
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
