import type { TSchema } from "typebox";
import { PROBLEMS, type ProblemCode } from "../../platform/wire/problems.ts";
import { knownValues } from "../../platform/wire/schemas.ts";
import type { Json } from "./components.ts";

/** What makes the examples of an API speak of one and the same order. Everything else follows from the schemas. */
export type ExampleTexts = {
  /** Fields of the object with this title. They replace what would follow from the schema; undefined leaves one out. */
  readonly byTitle: Readonly<Record<string, Json>>;
  /** The value of a field with this name, in whatever object. */
  readonly byName: Readonly<Record<string, unknown>>;
};

/** An example of a value. @param field the name of the field that contains it */
export type MakeExample = (schema: TSchema, field?: string) => unknown;

/** The parts of a schema from which an example is made. */
type Schema = {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-03-02T09:00:00.000Z",
  email: "orders@merchant.example",
  uri: "https://partner.example",
  uuid: "019f0f15-5426-7b88-8bdb-c48c13a36d76",
  "web-address": "https://merchant.example/mug.jpg",
  "country-code": "GB",
  amount: "12.50",
  currency: "EUR",
};

export function examplesFrom({ byTitle, byName }: ExampleTexts): MakeExample {
  /** Undefined if nothing is known of the value but its type. */
  function known(schema: Schema, field: string): unknown {
    if (schema.examples !== undefined) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (field in byName) return byName[field];
    return schema.enum?.[0] ?? knownValues(schema)?.[0] ?? schema.default;
  }

  function example(schema: Schema, field = ""): unknown {
    if (schema.properties !== undefined) return objectOf(schema);
    const value = known(schema, field);
    if (value !== undefined) return value;
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) return branches.some(isNull) ? null : example(branches[0] ?? {}, field);
    if ([schema.type].flat().includes("null")) return null;
    return byType(schema, field);
  }

  function byType(schema: Schema, field: string): unknown {
    switch (schema.type) {
      case "array":
        return schema.items === undefined ? [] : [example(schema.items, field.replace(/s$/, ""))];
      case "integer":
      case "number":
        return schema.minimum ?? 1;
      case "boolean":
        return false;
      case "object":
        return {};
      default:
        return BY_FORMAT[schema.format ?? ""] ?? field;
    }
  }

  /** Optional fields appear if something is known of them. */
  function objectOf({ title = "", properties = {}, required = [] }: Schema): Json {
    const fixed = byTitle[title] ?? {};
    const fields = Object.entries(properties).flatMap(([field, schema]): [string, unknown][] => {
      if (field in fixed) return fixed[field] === undefined ? [] : [[field, fixed[field]]];
      if (required.includes(field)) return [[field, example(schema, field)]];
      const value = field in byName || schema.properties ? example(schema, field) : known(schema, field);
      return value === undefined ? [] : [[field, value]];
    });
    return Object.fromEntries(fields);
  }

  return (schema, field) => example(schema as Schema, field); // JSON Schema that a TypeBox schema is.
}

const isNull = ({ type }: Schema): boolean => type === "null";

/** An example of each problem, by its code. */
export const problemExamples = (
  schemas: ReadonlyMap<ProblemCode, TSchema>,
  example: MakeExample,
  errorsBaseUrl: string,
): Json =>
  Object.fromEntries(
    [...schemas].map(([code, schema]) => {
      const { title, meaning } = PROBLEMS[code];
      const members = example(schema) as Json; // Of the schema of an object.
      return [
        code,
        { summary: title, value: { ...members, type: `${errorsBaseUrl}/${code}`, detail: meaning } },
      ];
    }),
  );

const PRODUCT_ID = "019f0f15-5426-7b88-8bdb-c48c13a36d76";
const LATER = "2026-03-02T11:00:00.000Z";

/** Fields that mean the same in both APIs. */
const byName: ExampleTexts["byName"] = {
  // Ids whose fields are plain text.
  orderId: "ord_01m7y7np16fe68bxp4h91tdmdn",
  endpointId: "whe_01m7y7np16fe68bxp4h91tdmdn",
  eventId: "evt_01m7y7np16fe68bxp4h91tdmdn",
  deliveryId: "dlv_01m7y7np16fe68bxp4h91tdmdn",
  connectionId: "con_01m7y7np16fe68bxp4h91tdmdn",
  merchantId: "mer_01m7y7np16fe68bxp4h91tdmdn",
  productId: PRODUCT_ID,
  externalOrderId: "web-1001",
  // Addresses.
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
  // Products and money.
  sku: "MUG-01",
  amount: "12.50",
  currency: "EUR",
  weightGrams: 380,
  quantity: 2,
  // Webhooks.
  eventType: "order.created",
  maxInFlight: 8,
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  // Pages, and positions of errors.
  cursor: "eyJhIjoxfQ",
  pointer: "/lines/0/quantity",
  instance: "/v1/orders",
  maximum: 200,
  prefix: "pok_live_7Yx2bQd",
  sequence: 1,
};

const address = { name: "Ada Lovelace" };
const newOrder = {
  status: "NEW",
  onHold: false,
  onHoldReasons: [],
  cancelableUntil: LATER,
  shipments: [],
};
const validationError = {
  ...{ rule: "minimum", min: 1, detail: "must be at least 1" },
  ...{ format: undefined, prefix: undefined, kind: undefined, of: undefined },
  ...{ currency: undefined, productId: undefined, usedFor: undefined, fault: undefined },
};
const attempt = { responseStatus: 204, responseBody: "", durationMs: 35, error: null, fault: null };
const sentHeaders = {
  "content-type": "application/json",
  "user-agent": "PartnerOrders/1.0.0",
  "webhook-id": "evt_01m7y7np16fe68bxp4h91tdmdn",
  "webhook-timestamp": "1772442000",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const sentRequest = { body: '{"id":"evt_01m7y7np16fe68bxp4h91tdmdn","type":"order.created"}' };
const delivery = { status: "succeeded", attemptCount: 1, fault: null };
const product = { name: "Mug", description: "Stoneware, 300 ml" };
const endpoint = {
  url: "https://partner.example/webhooks",
  eventTypes: ["order.created", "order.canceled"],
  description: "Web shop",
};
const me = {
  name: "Web shop",
  merchant: { id: byName["merchantId"], name: "Pots & Co" },
};
/** Of these types, no event is counted. */
const notCounted = { sequence: null };

export const PARTNER_EXAMPLES: ExampleTexts = {
  byName,
  byTitle: {
    ShippingAddress: address,
    ValidationError: validationError,
    Order: newOrder,
    OrderLine: { returnedQuantity: 0, canceledQuantity: 0 },
    CreatedOrder: { status: "NEW" },
    OrderSearch: { status: ["NEW", "ACCEPTED"], createdSince: "2026-03-01T00:00:00.000Z", cursor: undefined },
    TransitionRequest: { transition: "ship", reasons: undefined },
    Me: me,
    Product: product,
    DeliveryFaultRequest: { endpointId: undefined, eventType: undefined },
    DeliveryFault: { attempts: null, seconds: null, endpointId: null, eventType: null, endsAt: null },
    LeasedDelivery: { fault: null },
    DeliveryAttempt: attempt,
    Delivery: delivery,
    DeliveryAttemptDetails: attempt,
    DeliveryDetails: delivery,
    DeliveryRequest: sentRequest,
    DeliveryRequestHeaders: sentHeaders,
    WebhookEndpoint: endpoint,
    WebhookEndpointWithSecret: endpoint,
    WebhookEndpointRequest: endpoint,
    WebhookEndpointUpdate: { kind: undefined },
    TestTrackingRequest: { status: "shipped", trackingNumber: "00340434161094042557" },
    RotatedWebhookEndpoint: endpoint,
    ResumedWebhookEndpoint: endpoint,
    ProductPublishedEvent: notCounted,
    OrderAcceptedEvent: notCounted,
    OrderInProgressEvent: notCounted,
    OrderShipmentUpdatedEvent: notCounted,
    OrderPaymentFailedEvent: notCounted,
    OrderLinesCanceledEvent: notCounted,
    WebhookPingEvent: notCounted,
    UnauthorizedProblem: { instance: "/v1/me" },
    NotFoundProblem: { instance: "/v1/orders/web-1001" },
    OrderNotCancelableProblem: { instance: "/v1/orders/web-1001/cancel", orderStatus: "ACCEPTED" },
    TransitionRefusedProblem: {
      instance: "/v1/test/orders/web-1001/transitions",
      transition: "complete",
      orderStatus: "ACCEPTED",
      rule: "unshipped_lines",
    },
    EndpointPausedProblem: { instance: "/v1/webhook-endpoints/whe_01m7y7np16fe68bxp4h91tdmdn/ping" },
  },
};

const token = { name: "Nightly stock sync", role: "merchant", prefix: "pot_merchant_Kd83hq" };
const actor = { kind: "operator", name: "Ada" };

export const BACK_OFFICE_EXAMPLES: ExampleTexts = {
  byName: { ...byName, q: "web-1001", instance: "/api/orders/ord_01m7y7np16fe68bxp4h91tdmdn/complete" },
  byTitle: {
    ShippingAddress: address,
    ValidationError: validationError,
    Order: newOrder,
    OrderLine: { returnedQuantity: 0, canceledQuantity: 0 },
    OrderSummary: newOrder,
    Product: product,
    DeliveryAttempt: attempt,
    Delivery: delivery,
    DeliveryAttemptDetails: attempt,
    DeliveryDetails: delivery,
    DeliveryRequest: sentRequest,
    DeliveryRequestHeaders: sentHeaders,
    Actor: actor,
    Me: token,
    TokenRequest: token,
    Token: token,
    CreatedToken: { ...token, token: "pot_merchant_Kd83hqSx9VbqTt0mZcW2LrYfNn5uJeG1aPo7iIkQdCE" },
    RotatedToken: { ...token, token: "pot_merchant_Kd83hqSx9VbqTt0mZcW2LrYfNn5uJeG1aPo7iIkQdCE" },
    TransitionRefusedProblem: { transition: "complete", orderStatus: "ACCEPTED", rule: "unshipped_lines" },
  },
};
