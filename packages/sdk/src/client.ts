import { isProblem } from "./errors.ts";
import { type FollowedEvents, type FollowOptions, follow } from "./follow.ts";
import type {
  Certification,
  CertificationRequest,
  CreatedOrder,
  Delivery,
  DeliveryDetails,
  DeliveryFault,
  DeliveryFaultRequest,
  DeliveryFaults,
  Event,
  Lifecycle,
  ListCertificationsData,
  ListDeliveriesData,
  ListEventsData,
  ListProductsData,
  ListWebhookEndpointsData,
  Me,
  OpenApiDocument,
  Order,
  OrderRequest,
  OrderSearch,
  PingRequest,
  Product,
  Recovery,
  RecoveryRequest,
  RequestedTestKey,
  ResumedWebhookEndpoint,
  RotatedWebhookEndpoint,
  SecretRotation,
  TestTrackingRequest,
  TransitionRequest,
  WebhookEndpoint,
  WebhookEndpointRequest,
  WebhookEndpointUpdate,
  WebhookEndpointWithSecret,
  WebhookSources,
} from "./generated/types.ts";
import { List, type Page } from "./list.ts";
import { Pull } from "./pull.ts";
import { type ReconcileOptions, type Reconciliation, reconcile, type StoredOrder } from "./reconcile.ts";
import { type ClientOptions, type RequestOptions, Transport } from "./transport.ts";

/** An order with the partner's own id, which makes its creation safe to repeat. */
export type IdentifiedOrder = OrderRequest & { externalOrderId: string };

/** Of a creation: `idempotencyKey` identifies it, also if the order has no `externalOrderId`. 1 to 255 characters. */
export type CreationOptions = RequestOptions & { readonly idempotencyKey?: string };

/** What {@link Orders.createOrGet} returns. */
export type CreatedOrExisting = {
  /** True if this request created the order. False if it existed, or if an attempt without a response had created it. */
  readonly created: boolean;
  /** The order, as it is now. */
  readonly order: CreatedOrder | Order;
};

type Query<Data extends { query?: unknown }> = NonNullable<Data["query"]>;

/**
 * A client of one connection. Its groups have one method for each operation of the API.
 *
 * ```ts
 * const client = new PartnerOrders({ baseUrl: "https://orders.example", key: process.env.PARTNER_ORDERS_KEY });
 * const { id } = await client.orders.create({ externalOrderId: "web-1001", lines, shippingAddress });
 * ```
 *
 * Methods repeat a request that has no response, or 429 or 503, if it cannot act twice, and throw a `PartnerOrdersError`.
 */
export class PartnerOrders {
  /** Place, read, search and cancel orders. */
  readonly orders: Orders;
  /** Rehearse the life of an order. */
  readonly testOrders: TestOrders;
  /** The products that are exposed to the connection. */
  readonly products: Products;
  /** Where events are sent to. */
  readonly webhookEndpoints: WebhookEndpoints;
  /** Events without an address: lease and acknowledge deliveries. */
  readonly pull: Pull;
  /** The log of what was sent to endpoints. */
  readonly deliveries: Deliveries;
  /** Runs that examine the receiver of a test endpoint. */
  readonly certifications: Certifications;
  /** The feed of events. */
  readonly events: Events;
  /** A first key without a person, where the service offers it. */
  readonly testKeys: TestKeys;
  readonly #api: Transport;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.orders = new Orders(transport);
    this.testOrders = new TestOrders(transport);
    this.products = new Products(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
    this.pull = new Pull(transport);
    this.deliveries = new Deliveries(transport);
    this.certifications = new Certifications(transport);
    this.events = new Events(transport);
    this.testKeys = new TestKeys(transport);
    this.#api = transport;
  }

  /** The connection that the key belongs to. */
  me(options?: RequestOptions): Promise<Me> {
    return this.#api.request("getMe", {}, options);
  }

  /**
   * Compares the orders of the service with those that you have stored: what you missed, what the service does not know, and what
   * differs. Run it regularly, and after an outage. An order that changes during the run may be in the next one only.
   */
  reconcile<Stored extends StoredOrder>(options: ReconcileOptions<Stored>): Promise<Reconciliation<Stored>> {
    return reconcile(this.orders, options);
  }

  /** The statuses and transitions of orders, as the service decides. `@partner-orders/sdk/lifecycle` has those of this version. */
  lifecycle(options?: RequestOptions): Promise<Lifecycle> {
    return this.#api.request("getLifecycle", {}, options);
  }

  /** The OpenAPI document of the service. */
  openApi(options?: RequestOptions): Promise<OpenApiDocument> {
    return this.#api.request("getOpenApi", {}, options);
  }
}

/** Orders. An order is named by its id, or by your `externalOrderId`. */
export class Orders {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /**
   * Places an order, once however often it is called with the same `externalOrderId` or `idempotencyKey`: a repetition returns the
   * order as it is now. Keep the key where it survives a crash, and repeat with it.
   * @throws {ProblemError} `validation-failed`, `idempotency-key-reused`, `order-already-exists`, `limit-reached`
   */
  create(order: IdentifiedOrder, options?: CreationOptions): Promise<CreatedOrder>;
  create(
    order: OrderRequest,
    options: CreationOptions & { readonly idempotencyKey: string },
  ): Promise<CreatedOrder>;
  async create(order: OrderRequest, options: CreationOptions = {}): Promise<CreatedOrder> {
    return (await this.#create(order, options)).body;
  }

  /**
   * Places an order, or returns the one that has its `externalOrderId`, also if another program placed it. Compare that one with
   * yours: it may have other lines.
   * @throws {ProblemError} as `create`, but `order-already-exists` only with a test key if the order is a real one
   */
  async createOrGet(order: IdentifiedOrder, options: CreationOptions = {}): Promise<CreatedOrExisting> {
    try {
      const { status, body } = await this.#create(order, options);
      return { created: status === 201, order: body };
    } catch (error) {
      if (!isProblem(error) || error.code !== "order-already-exists" || error.problem.orderId === null)
        throw error;
      return { created: false, order: await this.get(error.problem.orderId, options) };
    }
  }

  /** Orders that fit all fields, newest first. An order that changes while you page may be missing, or be on two pages. */
  search(search: OrderSearch = {}, options?: RequestOptions): List<Order> {
    return new List((cursor) =>
      this.#api.request<Page<Order>>(
        "searchOrders",
        { body: cursor === undefined ? search : { ...search, cursor } },
        options,
      ),
    );
  }

  /** @throws {ProblemError} `not-found`, also for a test order after its erasure */
  get(orderId: string, options?: RequestOptions): Promise<Order> {
    return this.#api.request("getOrder", { path: { orderId } }, options);
  }

  /**
   * Cancels an order until its `cancelableUntil`. A canceled order is returned again.
   * @throws {ProblemError} `order-not-cancelable` with `orderStatus`, `not-found`
   */
  cancel(orderId: string, options?: RequestOptions): Promise<Order> {
    return this.#api.request("cancelOrder", { path: { orderId } }, options);
  }

  #create(order: OrderRequest, { idempotencyKey, ...options }: CreationOptions) {
    if (idempotencyKey === undefined && order.externalOrderId === undefined)
      throw new TypeError(
        "An order needs an externalOrderId or an idempotencyKey, so that its creation can be repeated.",
      );
    return this.#api.send<CreatedOrder>("createOrder", { body: order, idempotencyKey }, options);
  }
}

/** Test orders: created by `orders.create` with `testMode: true`, never charged or shipped, erased after two hours. */
export class TestOrders {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /**
   * Applies a transition, and publishes its event. After an error without a response, read the order before you repeat it.
   * @throws {ProblemError} `transition-refused` with `rule`, `not-found`
   */
  transition(orderId: string, transition: TransitionRequest, options?: RequestOptions): Promise<Order> {
    return this.#api.request("transitionTestOrder", { path: { orderId }, body: transition }, options);
  }

  /**
   * Rehearses tracking that arrives later, and the delivery of a parcel. Repeating it has no further effect.
   * @throws {ProblemError} `transition-refused`, `validation-failed`, `not-found`
   */
  track(
    orderId: string,
    shipmentId: string,
    tracking: TestTrackingRequest,
    options?: RequestOptions,
  ): Promise<Order> {
    return this.#api.request("trackTestShipment", { path: { orderId, shipmentId }, body: tracking }, options);
  }

  /**
   * Rehearses a fault with the next event of the order. Repeating it arms another one.
   * @throws {ProblemError} `validation-failed`, `endpoint-paused`, `limit-reached`, `not-found`
   */
  armFault(orderId: string, fault: DeliveryFaultRequest, options?: RequestOptions): Promise<DeliveryFault> {
    return this.#api.request("armDeliveryFault", { path: { orderId }, body: fault }, options);
  }

  /** The faults of a test order, oldest first: armed, or with the event that has each. @throws {ProblemError} `not-found` */
  async faults(orderId: string, options?: RequestOptions): Promise<DeliveryFault[]> {
    const { data } = await this.#api.request<DeliveryFaults>(
      "listDeliveryFaults",
      { path: { orderId } },
      options,
    );
    return data;
  }

  /** Erases a test order before its time, with its events. Its `externalOrderId` is free at once. */
  erase(orderId: string, options?: RequestOptions): Promise<void> {
    return this.#api.request("eraseTestOrder", { path: { orderId } }, options);
  }
}

/** Products that are exposed to the connection. */
export class Products {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /** Oldest first. `sku` may find several. */
  list(query?: Query<ListProductsData>, options?: RequestOptions): List<Product> {
    return this.#api.list("listProducts", query, options);
  }

  /** Also if it is discontinued. @throws {ProblemError} `not-found` */
  get(id: string, options?: RequestOptions): Promise<Product> {
    return this.#api.request("getProduct", { path: { id } }, options);
  }
}

/** Webhook endpoints: the addresses that events are sent to. */
export class WebhookEndpoints {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /**
   * Registers an endpoint. Only this response has its `secret`. It is not repeated, because each creation adds an endpoint: after an
   * error without a response, look for it with `list`, and get a secret with `rotateSecret`.
   * @throws {ProblemError} `validation-failed`, `limit-reached`, `forbidden` with a test key for a live endpoint
   */
  create(endpoint: WebhookEndpointRequest, options?: RequestOptions): Promise<WebhookEndpointWithSecret> {
    return this.#api.request("createWebhookEndpoint", { body: endpoint }, options);
  }

  /** Oldest first. */
  list(query?: Query<ListWebhookEndpointsData>, options?: RequestOptions): List<WebhookEndpoint> {
    return this.#api.list("listWebhookEndpoints", query, options);
  }

  /** The addresses that deliveries come from, for a firewall, and the time of the next change. */
  sources(options?: RequestOptions): Promise<WebhookSources> {
    return this.#api.request("getWebhookSources", {}, options);
  }

  /** With its health. @throws {ProblemError} `not-found` */
  get(endpointId: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.#api.request("getWebhookEndpoint", { path: { endpointId } }, options);
  }

  /** Changes the given fields. @throws {ProblemError} `validation-failed`, `not-found`, `forbidden` */
  update(
    endpointId: string,
    changes: WebhookEndpointUpdate,
    options?: RequestOptions,
  ): Promise<WebhookEndpoint> {
    return this.#api.request("updateWebhookEndpoint", { path: { endpointId }, body: changes }, options);
  }

  /** Deletes an endpoint. Its deliveries are not sent any more. @throws {ProblemError} `not-found`, `forbidden` */
  delete(endpointId: string, options?: RequestOptions): Promise<void> {
    return this.#api.request("deleteWebhookEndpoint", { path: { endpointId } }, options);
  }

  /** Makes a new secret, which only this response has. The old one signs beside it for `overlapHours`, 24 by default. */
  rotateSecret(
    endpointId: string,
    rotation: SecretRotation = {},
    options?: RequestOptions,
  ): Promise<RotatedWebhookEndpoint> {
    return this.#api.request("rotateWebhookSecret", { path: { endpointId }, body: rotation }, options);
  }

  /** Sends a signed `webhook.ping`, or a sample of a type. @throws {ProblemError} `endpoint-paused`, `not-found` */
  ping(endpointId: string, ping: PingRequest = {}, options?: RequestOptions): Promise<Delivery> {
    return this.#api.request("pingWebhookEndpoint", { path: { endpointId }, body: ping }, options);
  }

  /** Ends a pause. Deliveries that waited are sent. @throws {ProblemError} `not-found`, `forbidden` */
  resume(endpointId: string, options?: RequestOptions): Promise<ResumedWebhookEndpoint> {
    return this.#api.request("resumeWebhookEndpoint", { path: { endpointId } }, options);
  }

  /** Sends what failed since a time again, and at once what waits for a retry. @throws {ProblemError} `not-found`, `forbidden` */
  recover(endpointId: string, recovery: RecoveryRequest, options?: RequestOptions): Promise<Recovery> {
    return this.#api.request("recoverDeliveries", { path: { endpointId }, body: recovery }, options);
  }
}

/** The delivery log of the endpoints. */
export class Deliveries {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /** Newest first. */
  list(query?: Query<ListDeliveriesData>, options?: RequestOptions): List<Delivery> {
    return this.#api.list("listDeliveries", query, options);
  }

  /** With the request and the response of each attempt. @throws {ProblemError} `not-found` */
  get(deliveryId: string, options?: RequestOptions): Promise<DeliveryDetails> {
    return this.#api.request("getDelivery", { path: { deliveryId } }, options);
  }

  /** Sends the event to the endpoint again. @throws {ProblemError} `endpoint-paused`, `limit-reached`, `not-found` */
  redeliver(deliveryId: string, options?: RequestOptions): Promise<DeliveryDetails> {
    return this.#api.request("redeliverDelivery", { path: { deliveryId } }, options);
  }
}

/** Runs that examine the receiver of a test endpoint with test orders and faults. */
export class Certifications {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /**
   * Begins a run, which takes some minutes. During the run your program creates the test order that `lostCreation` names.
   * @throws {ProblemError} `certification-not-possible` with `reason`, `endpoint-paused`, `not-found`, `validation-failed`
   */
  create(request: CertificationRequest, options?: RequestOptions): Promise<Certification> {
    return this.#api.request("createCertification", { body: request }, options);
  }

  /** Newest first. */
  list(query?: Query<ListCertificationsData>, options?: RequestOptions): List<Certification> {
    return this.#api.list("listCertifications", query, options);
  }

  /** With its report. @throws {ProblemError} `not-found` */
  get(certificationId: string, options?: RequestOptions): Promise<Certification> {
    return this.#api.request("getCertification", { path: { certificationId } }, options);
  }

  /** Ends a run before its time. One that has ended stays as it is. @throws {ProblemError} `not-found` */
  cancel(certificationId: string, options?: RequestOptions): Promise<Certification> {
    return this.#api.request("cancelCertification", { path: { certificationId } }, options);
  }
}

/** The events of the last 30 days, whether or not an endpoint receives them. */
export class Events {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /** Oldest first. An event of a type that is newer than this SDK has a `type` that its types do not know. */
  list(query?: Query<ListEventsData>, options?: RequestOptions): List<Event> {
    return this.#api.list("listEvents", query, options);
  }

  /** @throws {ProblemError} `not-found` */
  get(eventId: string, options?: RequestOptions): Promise<Event> {
    return this.#api.request("getEvent", { path: { eventId } }, options);
  }

  /**
   * Reads the feed from a cursor on, and waits at its end for more, until its signal ends it. Store the events and then the `cursor`
   * of each batch: from the last stored cursor on, nothing is missed, and at most one batch is read twice.
   *
   * ```ts
   * for await (const { events, cursor } of client.events.follow({ cursor: await stored() })) {
   *   for (const event of events) await process(event);
   *   await store(cursor);
   * }
   * ```
   *
   * It outlasts a service that is away, and throws only what waiting does not cure, such as a revoked key or an expired cursor.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<FollowedEvents, void> {
    return follow(this.#api, options);
  }
}

/** Test keys that one requests without a person. Only some deployments offer them. */
export class TestKeys {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /** A connection for tests, with a key. It needs no key. @throws {ProblemError} `not-found` if the service does not offer it */
  create(options?: RequestOptions): Promise<RequestedTestKey> {
    return this.#api.request("createTestKey", {}, options);
  }
}
