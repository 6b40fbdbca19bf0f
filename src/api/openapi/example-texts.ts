import type { ExampleTexts } from "./examples.ts";

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
  detail: "must be at least 1",
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
const attempt = { responseStatus: 204, responseBody: "", durationMs: 35, error: null };
const sentHeaders = {
  "content-type": "application/json",
  "user-agent": "PartnerOrders/1.0.0",
  "webhook-id": "evt_01m7y7np16fe68bxp4h91tdmdn",
  "webhook-timestamp": "1772442000",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const sentRequest = { body: '{"id":"evt_01m7y7np16fe68bxp4h91tdmdn","type":"order.created"}' };
const delivery = { status: "succeeded", attemptCount: 1 };
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
    Order: newOrder,
    OrderLine: { returnedQuantity: 0 },
    CreatedOrder: { status: "NEW" },
    OrderSearch: { status: ["NEW", "ACCEPTED"], createdSince: "2026-03-01T00:00:00.000Z", cursor: undefined },
    TransitionRequest: { transition: "ship", reasons: undefined },
    Me: me,
    Product: product,
    DeliveryAttempt: attempt,
    Delivery: delivery,
    DeliveryAttemptDetails: attempt,
    DeliveryDetails: delivery,
    DeliveryRequest: sentRequest,
    DeliveryRequestHeaders: sentHeaders,
    WebhookEndpoint: endpoint,
    WebhookEndpointWithSecret: endpoint,
    WebhookEndpointRequest: endpoint,
    RotatedWebhookEndpoint: endpoint,
    ResumedWebhookEndpoint: endpoint,
    ProductPublishedEvent: notCounted,
    OrderAcceptedEvent: notCounted,
    OrderInProgressEvent: notCounted,
    OrderShipmentUpdatedEvent: notCounted,
    OrderPaymentFailedEvent: notCounted,
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
    Order: newOrder,
    OrderLine: { returnedQuantity: 0 },
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
