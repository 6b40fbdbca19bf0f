import { hash } from "node:crypto";
import { type Static, Type } from "typebox";
import type { ShippingAddress } from "../../lifecycle/order.ts";
import type { KeyAccess } from "../../merchants/api-key.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import {
  AddressRequestSchema,
  type Metadata,
  metadataRequestField,
  noteRequestField,
} from "../order-wire.ts";

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

/** Limits: specification, part 8, and docs/design/creating-orders.md, "Limits of a request". Unknown fields are ignored. */
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

/** A test key creates test orders only (docs/design/isolation-and-limits.md, "Live and test keys"). */
export function testModeErrors({ testOnly }: KeyAccess, body: unknown): ValidationError[] {
  if (!testOnly) return NO_ERRORS;
  const { testMode } = (body ?? {}) as { testMode?: unknown }; // The body may have any form; a missing member is undefined.
  return testMode === true ? NO_ERRORS : [{ pointer: "/testMode", rule: "test_key", value: "true" }];
}

const NO_ERRORS: ValidationError[] = [];

export const idempotencyKeyHeader = {
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        "Identifies the creation, so that it can be retried. Required if `externalOrderId` is absent. Read as UTF-8.",
    }),
  ),
};
export const IdempotencyKeyHeaders = Type.Object(idempotencyKeyHeader);

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
 * SHA-256 of the normal form, not of the bytes that were sent: white space, the order of fields and unknown fields do not make
 * a different request (docs/design/creating-orders.md, "The same request"). Hashes are stored with orders, and retries are
 * compared with them.
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
