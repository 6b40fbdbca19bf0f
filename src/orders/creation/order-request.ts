import { Type } from "typebox";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import { AddressRequestSchema } from "../address-schemas.ts";
import { metadataRequestField, noteRequestField } from "../note-schemas.ts";

const LINES_MAX = 100;

const LineRequestSchema = Type.Object(
  {
    productId: Type.String({ format: "uuid", description: "Id of the product, from `GET /v1/products`." }),
    quantity: Type.Integer({ minimum: 1, maximum: 100_000, description: "Number of units." }),
  },
  { title: "OrderLineRequest", description: "A product to order and its quantity." },
);

const whatIsOrdered = {
  shippingAddress: AddressRequestSchema,
  lines: Type.Array(LineRequestSchema, {
    minItems: 1,
    maxItems: LINES_MAX,
    description: "The ordered products. Several lines may name the same product.",
  }),
  externalOrderId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      format: "path-segment",
      description:
        "The partner's own id of the order, unique within the connection. It is also the idempotency key if the header is absent.",
    }),
  ),
};
const forPeople = { note: noteRequestField, metadata: metadataRequestField };

/** Limits: specification, part 8, and decision 0006. Unknown fields are ignored. */
export const OrderRequestSchema = Type.Object(
  {
    ...whatIsOrdered,
    testMode: Type.Optional(
      Type.Boolean({
        description:
          "True creates a test order, which is never charged or shipped. Must be true with a test key. Default: false.",
      }),
    ),
    ...forPeople,
  },
  { title: "OrderRequest", description: "A new order." },
);

/** The same without `testMode`, which is always true. */
export const TestOrderRequestSchema = Type.Object(
  { ...whatIsOrdered, ...forPeople },
  { title: "TestOrderRequest", description: "A new test order. `testMode` is true without being sent." },
);

/** A test key creates test orders only (decision 0074). */
export function testModeErrors({ testOnly }: KeyAccess, body: unknown): ValidationError[] {
  if (!testOnly) return NO_ERRORS;
  const { testMode } = (body ?? {}) as { testMode?: unknown }; // The body may have any form; a missing member is undefined.
  return testMode === true
    ? NO_ERRORS
    : [{ pointer: "/testMode", detail: "must be true, because the key is a test key" }];
}

const NO_ERRORS: ValidationError[] = [];

export const IdempotencyKeyHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        "Identifies the creation, so that it can be retried. Required if `externalOrderId` is absent. Read as UTF-8.",
    }),
  ),
});
