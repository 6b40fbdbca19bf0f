import { Type } from "typebox";

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
          "The partner's own id, unique per connection. It is the idempotency key if the header is absent.",
      }),
    ),
    testMode: Type.Optional(Type.Boolean({ description: "True creates a test order." })),
  },
  { title: "OrderRequest" },
);

export const IdempotencyKeyHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Optional when `externalOrderId` is sent." }),
  ),
});
