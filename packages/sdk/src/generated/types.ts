// Made from openapi/partner.json by `npm run describe`. Do not change it.
/**
 * `malformed-request`: The request is not valid HTTP, or its body is not valid JSON.
 */
export type MalformedRequestProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `malformed-request`. It is the same in every deployment.
   */
  code: "malformed-request";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `idempotency-key-missing`: A creation had neither an Idempotency-Key header nor an externalOrderId.
 */
export type IdempotencyKeyMissingProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `idempotency-key-missing`. It is the same in every deployment.
   */
  code: "idempotency-key-missing";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `unauthorized`: The request has no key, or the key is unknown, revoked or expired.
 */
export type UnauthorizedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `unauthorized`. It is the same in every deployment.
   */
  code: "unauthorized";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `forbidden`: The caller is authenticated, but its role, or its test key, does not allow this operation.
 */
export type ForbiddenProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `forbidden`. It is the same in every deployment.
   */
  code: "forbidden";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `not-found`: No route matches the method and path, or the resource does not exist on the connection, or a test order has expired.
 */
export type NotFoundProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `not-found`. It is the same in every deployment.
   */
  code: "not-found";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `NEW`: created, and the API can cancel it. `PROCESSING`: in review; the API cannot cancel it. `ACCEPTED`: the cancel window has closed. `IN_PROGRESS`: a shipment exists. `COMPLETED`, `CANCELED` and `RETURNED`: settled; only a return is still possible.
 */
export type OrderStatus =
  | "NEW"
  | "PROCESSING"
  | "ACCEPTED"
  | "IN_PROGRESS"
  | "COMPLETED"
  | "CANCELED"
  | "RETURNED";

/**
 * `order-not-cancelable`: The order exists, but its cancel window has closed or never existed; orderStatus is its status.
 */
export type OrderNotCancelableProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `order-not-cancelable`. It is the same in every deployment.
   */
  code: "order-not-cancelable";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  /**
   * Status that the order had at the time of the request.
   */
  orderStatus: OrderStatus;
};

/**
 * `order-already-exists`: Another order of the connection has this externalOrderId; orderId and externalOrderId name it.
 */
export type OrderAlreadyExistsProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `order-already-exists`. It is the same in every deployment.
   */
  code: "order-already-exists";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  /**
   * Id of the existing order. Null if that is a real order and the key is a test key.
   */
  orderId: string | null;
  /**
   * The partner's id of the existing order, as sent.
   */
  externalOrderId: string;
};

/**
 * The requested transition. `process`, `accept`, `complete` and `cancel` set the status PROCESSING, ACCEPTED, COMPLETED and CANCELED. `hold` and `releaseHold` place and clear a hold. `ship` creates a shipment: `shipped` if it has a tracking number or address, else `pending`. `complete` makes pending shipments `shipped`. `returnShipment` records that a shipment has come back. `updateShipment` changes the tracking of a shipment.
 */
export type RefusedTransition =
  | "process"
  | "accept"
  | "hold"
  | "releaseHold"
  | "ship"
  | "returnShipment"
  | "complete"
  | "cancel"
  | "updateShipment";

/**
 * The rule that forbids the transition. More values may be added. `order_on_hold`: An order on hold cannot be shipped. `unshipped_lines`: An order with an unshipped line cannot be completed. `order_settled`: The order is already completed, canceled or returned. It accepts only the return of a shipment. `no_shipment_out`: The order has no such shipment, or the shipment has already been returned or voided. `nothing_to_ship`: The order has no unshipped line, or one of the lines already has a shipment. `too_many_lines`: An order has at most 200 lines. Name whole lines instead of parts.
 */
export type TransitionRule =
  | "order_on_hold"
  | "unshipped_lines"
  | "order_settled"
  | "no_shipment_out"
  | "nothing_to_ship"
  | "too_many_lines";

/**
 * `transition-refused`: The state of the order does not allow the transition; transition, orderStatus and rule give the reason.
 */
export type TransitionRefusedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `transition-refused`. It is the same in every deployment.
   */
  code: "transition-refused";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  transition: RefusedTransition;
  /**
   * Status that the order had at the time of the request.
   */
  orderStatus: OrderStatus;
  rule: TransitionRule;
  /**
   * Of a rule about a number: the highest one.
   */
  maximum?: number;
};

/**
 * `endpoint-paused`: Nothing is sent to a paused webhook endpoint, not even by request.
 */
export type EndpointPausedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `endpoint-paused`. It is the same in every deployment.
   */
  code: "endpoint-paused";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `running`: a certification of the connection is open. `no-product`: the connection has no product that can be ordered. `event-types`: the endpoint does not receive the events of a certification.
 */
export type CertificationRefusal = "running" | "no-product" | "event-types";

/**
 * `certification-not-possible`: No certification can begin now; reason says why: running (certificationId names the open run of the connection), no-product, or event-types.
 */
export type CertificationNotPossibleProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `certification-not-possible`. It is the same in every deployment.
   */
  code: "certification-not-possible";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  reason: CertificationRefusal;
  /**
   * The open certification. Null for other reasons.
   */
  certificationId: string | null;
};

/**
 * Name of the limit that is reached. More values may be added. `endpoints`: Live webhook endpoints of the connection. Deleted ones do not count. `testEndpoints`: Webhook endpoints for test orders only. Deleted ones do not count. `endpointCreationsPerHour`: Webhook endpoints that were created within the last hour. Deleted ones count too. Live and test endpoints count separately; the usage shows the higher number. `testOrders`: Test orders of the connection that have not been erased yet. `testOrderTransitions`: Transitions of one test order. Each publishes at most one event by default. `redeliveriesPerDay`: Attempts by request to send one delivery, within the last 24 hours. `deliveryAttempts`: Attempts to send one delivery that the log keeps. From this number on, no redelivery is accepted, and a recovery leaves the delivery out. Attempts of the retry schedule are always made. `apiKeys`: Valid keys of the connection. Revoked and expired ones do not count. A rotation is never rejected. `deliveryFaults`: Faults to rehearse with deliveries of one test order. `connections`: Connections of the merchant. `merchantEndpoints`: Live webhook endpoints of all connections of the merchant. Deleted ones do not count. `merchantTestEndpoints`: Webhook endpoints for test orders only, of all connections of the merchant. Deleted ones do not count.
 */
export type KnownLimitName =
  | "endpoints"
  | "testEndpoints"
  | "endpointCreationsPerHour"
  | "testOrders"
  | "testOrderTransitions"
  | "redeliveriesPerDay"
  | "deliveryAttempts"
  | "apiKeys"
  | "deliveryFaults"
  | "connections"
  | "merchantEndpoints"
  | "merchantTestEndpoints";

/**
 * Name of the limit that is reached. More values may be added. `endpoints`: Live webhook endpoints of the connection. Deleted ones do not count. `testEndpoints`: Webhook endpoints for test orders only. Deleted ones do not count. `endpointCreationsPerHour`: Webhook endpoints that were created within the last hour. Deleted ones count too. Live and test endpoints count separately; the usage shows the higher number. `testOrders`: Test orders of the connection that have not been erased yet. `testOrderTransitions`: Transitions of one test order. Each publishes at most one event by default. `redeliveriesPerDay`: Attempts by request to send one delivery, within the last 24 hours. `deliveryAttempts`: Attempts to send one delivery that the log keeps. From this number on, no redelivery is accepted, and a recovery leaves the delivery out. Attempts of the retry schedule are always made. `apiKeys`: Valid keys of the connection. Revoked and expired ones do not count. A rotation is never rejected. `deliveryFaults`: Faults to rehearse with deliveries of one test order. `connections`: Connections of the merchant. `merchantEndpoints`: Live webhook endpoints of all connections of the merchant. Deleted ones do not count. `merchantTestEndpoints`: Webhook endpoints for test orders only, of all connections of the merchant. Deleted ones do not count.
 */
export type LimitName = KnownLimitName | (string & {});

/**
 * `limit-reached`: The connection has stored as much of something as it may; limit is the name of the limit and maximum its value.
 */
export type LimitReachedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `limit-reached`. It is the same in every deployment.
   */
  code: "limit-reached";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  limit: LimitName;
  /**
   * Its value.
   */
  maximum: number;
};

/**
 * `payload-too-large`: The body exceeds the limit of the route, which is 256 KiB unless documented otherwise.
 */
export type PayloadTooLargeProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `payload-too-large`. It is the same in every deployment.
   */
  code: "payload-too-large";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  /**
   * The most bytes that the body can have.
   */
  maxBytes: number;
};

/**
 * `unsupported-media-type`: The Content-Type is not application/json, or not the one that the route requires, or the body has a Content-Encoding.
 */
export type UnsupportedMediaTypeProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `unsupported-media-type`. It is the same in every deployment.
   */
  code: "unsupported-media-type";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * The rule that the value violates, with its parameters in brackets. More rules may be added. `required`: The field, parameter or header field is present. `type` (`types`): A value of one of the JSON types. `json_object` (`known`): A body that is a JSON object. `known` has the fields that it must have, or else those that it can have. `one_of` (`allowed`): One of the values. `minimum` (`min`): A number that is at least `min`. `maximum` (`max`): A number that is at most `max`. `min_length` (`min`): Text of at least `min` characters. `blank`: Text with a character that can be seen. `max_length` (`max`): Text of at most `max` characters. `min_items` (`min`): A list of at least `min` items. `max_items` (`max`): A list of at most `max` items. `max_keys` (`max`): An object with at most `max` keys. `format` (`format`): Text of the form. `pattern` (`pattern`): Text that matches the regular expression. `id_prefix` (`prefix`): An id with the prefix. `country` (`use`, `insteadOf`): An assigned ISO 3166-1 country code, or XK. `year` (`min`, `max`): A year that RFC 3339 can express in UTC. `unknown_field` (`known`): A field that the body can have. `unknown_parameter` (`known`): A parameter that the route has. `cursor`: A cursor of this list, with the same filters. `cursor_expired`: A cursor that is not older than what the feed keeps. After a longer pause, read the lists again, and follow the feed from there. `not_found` (`kind`): The id of something that exists. `discontinued`: A product that can be ordered. `duplicate_line`: Each line at most once. `line_quantity` (`max`): At most the quantity of the line. `not_combinable` (`field`): Either this field or the other one. `either` (`field`): Exactly one of the two fields. `test_key` (`value`): The value that a test key allows. `test_orders_only`: Only with a test order. `test_endpoint`: A test endpoint. `receiving_endpoint`: Only with a test endpoint that receives the event. `previous_secret`: Only with a previous secret that still signs. `set_at_creation`: A field that is set at the creation, and not changed. `push_endpoint`: A field of push endpoints only. `pull_endpoint`: The id of a pull endpoint. `after` (`field`): A time after that of the other field. `not_future`: A time that is not in the future. `max_age` (`days`): A time within this number of days. `url_scheme` (`schemes`, `setting`): A URL with one of the schemes, without spaces. `public_address` (`setting`): A host that is reachable from everywhere. `usual_port` (`setting`): Port 443, or one from 1024 to 65535. `no_credentials`: A URL without a user name and a password. `no_fragment`: A URL without a fragment. `reserved_header`: A header that neither the service nor a proxy sets. `duplicate_header`: Each header at most once, in upper or lower case. `headers_length` (`max`): Headers of at most `max` characters, names and values together. `stored_header`: The value of the header. A masked one keeps what is stored, and only that. `headers_of_origin`: The headers with their values, or `{}`, when `url` leads to another origin: stored values are not sent there. `invalid`: A rule that has no name.
 */
export type KnownValidationRule =
  | "required"
  | "type"
  | "json_object"
  | "one_of"
  | "minimum"
  | "maximum"
  | "min_length"
  | "blank"
  | "max_length"
  | "min_items"
  | "max_items"
  | "max_keys"
  | "format"
  | "pattern"
  | "id_prefix"
  | "country"
  | "year"
  | "unknown_field"
  | "unknown_parameter"
  | "cursor"
  | "cursor_expired"
  | "not_found"
  | "discontinued"
  | "duplicate_line"
  | "line_quantity"
  | "not_combinable"
  | "either"
  | "test_key"
  | "test_orders_only"
  | "test_endpoint"
  | "receiving_endpoint"
  | "previous_secret"
  | "set_at_creation"
  | "push_endpoint"
  | "pull_endpoint"
  | "after"
  | "not_future"
  | "max_age"
  | "url_scheme"
  | "public_address"
  | "usual_port"
  | "no_credentials"
  | "no_fragment"
  | "reserved_header"
  | "duplicate_header"
  | "headers_length"
  | "stored_header"
  | "headers_of_origin"
  | "invalid";

/**
 * The rule that the value violates, with its parameters in brackets. More rules may be added. `required`: The field, parameter or header field is present. `type` (`types`): A value of one of the JSON types. `json_object` (`known`): A body that is a JSON object. `known` has the fields that it must have, or else those that it can have. `one_of` (`allowed`): One of the values. `minimum` (`min`): A number that is at least `min`. `maximum` (`max`): A number that is at most `max`. `min_length` (`min`): Text of at least `min` characters. `blank`: Text with a character that can be seen. `max_length` (`max`): Text of at most `max` characters. `min_items` (`min`): A list of at least `min` items. `max_items` (`max`): A list of at most `max` items. `max_keys` (`max`): An object with at most `max` keys. `format` (`format`): Text of the form. `pattern` (`pattern`): Text that matches the regular expression. `id_prefix` (`prefix`): An id with the prefix. `country` (`use`, `insteadOf`): An assigned ISO 3166-1 country code, or XK. `year` (`min`, `max`): A year that RFC 3339 can express in UTC. `unknown_field` (`known`): A field that the body can have. `unknown_parameter` (`known`): A parameter that the route has. `cursor`: A cursor of this list, with the same filters. `cursor_expired`: A cursor that is not older than what the feed keeps. After a longer pause, read the lists again, and follow the feed from there. `not_found` (`kind`): The id of something that exists. `discontinued`: A product that can be ordered. `duplicate_line`: Each line at most once. `line_quantity` (`max`): At most the quantity of the line. `not_combinable` (`field`): Either this field or the other one. `either` (`field`): Exactly one of the two fields. `test_key` (`value`): The value that a test key allows. `test_orders_only`: Only with a test order. `test_endpoint`: A test endpoint. `receiving_endpoint`: Only with a test endpoint that receives the event. `previous_secret`: Only with a previous secret that still signs. `set_at_creation`: A field that is set at the creation, and not changed. `push_endpoint`: A field of push endpoints only. `pull_endpoint`: The id of a pull endpoint. `after` (`field`): A time after that of the other field. `not_future`: A time that is not in the future. `max_age` (`days`): A time within this number of days. `url_scheme` (`schemes`, `setting`): A URL with one of the schemes, without spaces. `public_address` (`setting`): A host that is reachable from everywhere. `usual_port` (`setting`): Port 443, or one from 1024 to 65535. `no_credentials`: A URL without a user name and a password. `no_fragment`: A URL without a fragment. `reserved_header`: A header that neither the service nor a proxy sets. `duplicate_header`: Each header at most once, in upper or lower case. `headers_length` (`max`): Headers of at most `max` characters, names and values together. `stored_header`: The value of the header. A masked one keeps what is stored, and only that. `headers_of_origin`: The headers with their values, or `{}`, when `url` leads to another origin: stored values are not sent there. `invalid`: A rule that has no name.
 */
export type ValidationRule = KnownValidationRule | (string & {});

/**
 * The form that text must have. More values may be added. `uuid`: must be a UUID. `date-time`: must be an ISO 8601 date-time with a time zone. `text`: must not contain NUL characters or unpaired surrogates. `path-segment`: must not be . or .., and must not contain NUL characters or unpaired surrogates. `web-address`: must be a URL that begins with https:// or http://. `country-code`: must be a two-letter country code. `header-name`: must be the name of a header: letters, digits and !#$%&'*+-.^_`|~. `header-value`: must be visible ASCII characters, with spaces only between them.
 */
export type KnownValueFormat =
  | "uuid"
  | "date-time"
  | "text"
  | "path-segment"
  | "web-address"
  | "country-code"
  | "header-name"
  | "header-value";

/**
 * The form that text must have. More values may be added. `uuid`: must be a UUID. `date-time`: must be an ISO 8601 date-time with a time zone. `text`: must not contain NUL characters or unpaired surrogates. `path-segment`: must not be . or .., and must not contain NUL characters or unpaired surrogates. `web-address`: must be a URL that begins with https:// or http://. `country-code`: must be a two-letter country code. `header-name`: must be the name of a header: letters, digits and !#$%&'*+-.^_`|~. `header-value`: must be visible ASCII characters, with spaces only between them.
 */
export type ValueFormat = KnownValueFormat | (string & {});

/**
 * What does not exist, or is not the caller's. More values may be added. `order_line`: is not a line of this order. `shipment`: is not a shipment of this order. `product`: is not a product of this connection. `webhook_endpoint`: is not a webhook endpoint of the connection. `delivery`: is not a delivery of the connection.
 */
export type KnownMissingKind = "order_line" | "shipment" | "product" | "webhook_endpoint" | "delivery";

/**
 * What does not exist, or is not the caller's. More values may be added. `order_line`: is not a line of this order. `shipment`: is not a shipment of this order. `product`: is not a product of this connection. `webhook_endpoint`: is not a webhook endpoint of the connection. `delivery`: is not a delivery of the connection.
 */
export type MissingKind = KnownMissingKind | (string & {});

/**
 * `key`: a key of the object violates the rule.
 */
export type RulePart = "key";

/**
 * An error in a request, with its position.
 */
export type ValidationError = {
  /**
   * Location in the body, as a JSON Pointer (RFC 6901).
   */
  pointer?: string;
  /**
   * Name of the parameter of the path or the query.
   */
  parameter?: string;
  /**
   * Name of the header field, in lower case.
   */
  header?: string;
  rule: ValidationRule;
  /**
   * The lowest number, or the least length or count.
   */
  min?: number;
  /**
   * The highest number, or the greatest length or count.
   */
  max?: number;
  /**
   * A number of days.
   */
  days?: number;
  /**
   * The JSON types, one of which is required.
   */
  types?: Array<string>;
  /**
   * The values, one of which is required.
   */
  allowed?: Array<string>;
  /**
   * The known names, or only the one that is probably meant.
   */
  known?: Array<string>;
  format?: ValueFormat;
  /**
   * The regular expression that text must match.
   */
  pattern?: string;
  /**
   * How the id must begin.
   */
  prefix?: string;
  /**
   * Country codes, one of which is probably meant.
   */
  use?: Array<string>;
  /**
   * The code that was sent.
   */
  insteadOf?: string;
  /**
   * Name of another field.
   */
  field?: string;
  kind?: MissingKind;
  /**
   * The schemes, one of which is required.
   */
  schemes?: Array<string>;
  /**
   * A service for development accepts the value if it was started with this setting.
   */
  setting?: string;
  /**
   * The only value that is accepted.
   */
  value?: string;
  of?: RulePart;
  /**
   * The rule in a sentence, for people. The text may change; do not parse it.
   */
  detail: string;
};

/**
 * `validation-failed`: The request can be read, but some of its values are invalid; errors lists each of them.
 */
export type ValidationFailedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `validation-failed`. It is the same in every deployment.
   */
  code: "validation-failed";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  /**
   * Every error with its position, at most 500.
   */
  errors: Array<ValidationError>;
};

/**
 * `idempotency-key-reused`: The idempotency key was already used for a different request; orderId names its order, and differences the members that differ.
 */
export type IdempotencyKeyReusedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `idempotency-key-reused`. It is the same in every deployment.
   */
  code: "idempotency-key-reused";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  /**
   * Id of the order that the first request has created. Null if that is a real order and the key is a test key.
   */
  orderId: string | null;
  /**
   * JSON Pointers (RFC 6901) to the members in which this request differs from the first one. `/shippingAddress` alone if the address was corrected since; of an order whose personal data was erased, only what is left of it is compared. So the list can be empty.
   */
  differences: Array<string>;
};

/**
 * `waiting-requests`: too many requests of the connection or of its merchant wait. `merchant-requests`: the merchant's connections, or its people and tokens, have together exceeded their rate limit. `poll-requests`, `merchant-poll-requests`: the same for polls of pull endpoints and acknowledgements. `endpoint-polls`, `connection-polls`, `merchant-polls`, `process-polls`: as many polls wait as may at the same time. More values may be added. Absent if the caller has exceeded its own rate limit.
 */
export type RequestLimitName =
  | "waiting-requests"
  | "merchant-requests"
  | "poll-requests"
  | "merchant-poll-requests"
  | "endpoint-polls"
  | "connection-polls"
  | "merchant-polls"
  | "process-polls";

/**
 * `rate-limited`: The caller or its merchant has exceeded a rate limit, too many of its requests wait, or there were too many attempts to sign in.
 */
export type RateLimitedProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `rate-limited`. It is the same in every deployment.
   */
  code: "rate-limited";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
  limit?: RequestLimitName;
};

/**
 * `internal-error`: The service failed unexpectedly; the operator can find the request by its x-request-id.
 */
export type InternalErrorProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `internal-error`. It is the same in every deployment.
   */
  code: "internal-error";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * `unavailable`: The service cannot reach its database, or is stopping.
 */
export type UnavailableProblem = {
  /**
   * Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.
   */
  type: string;
  /**
   * Always `unavailable`. It is the same in every deployment.
   */
  code: "unavailable";
  /**
   * The same text for every problem with this code.
   */
  title: string;
  /**
   * The HTTP status of the response.
   */
  status: number;
  /**
   * What is wrong in this case, for people. The text may change; do not parse it.
   */
  detail: string;
  /**
   * Path of the request, without its query.
   */
  instance: string;
};

/**
 * A problem document (RFC 9457). Programs decide by `code`. More codes may be added: handle an unknown one by its `status`.
 */
export type Problem =
  | MalformedRequestProblem
  | IdempotencyKeyMissingProblem
  | UnauthorizedProblem
  | ForbiddenProblem
  | NotFoundProblem
  | OrderNotCancelableProblem
  | OrderAlreadyExistsProblem
  | TransitionRefusedProblem
  | EndpointPausedProblem
  | CertificationNotPossibleProblem
  | LimitReachedProblem
  | PayloadTooLargeProblem
  | UnsupportedMediaTypeProblem
  | ValidationFailedProblem
  | IdempotencyKeyReusedProblem
  | RateLimitedProblem
  | InternalErrorProblem
  | UnavailableProblem;

/**
 * The address that the order is shipped to.
 */
export type ShippingAddressRequest = {
  /**
   * First name of the recipient.
   */
  firstName: string;
  /**
   * Last name of the recipient. `-` if there is none, as for a company: it is never printed.
   */
  lastName: string;
  /**
   * Street and number, or the first line of the address.
   */
  address1: string;
  /**
   * City or town.
   */
  city: string;
  /**
   * Postal code, in the form of the country. `-` if the country has none: it is never printed.
   */
  zip: string;
  /**
   * ISO 3166-1 country code of two letters. An assigned one, or `XK`. In upper or lower case.
   */
  countryCode: string;
  /**
   * State or province, such as `CA` in the United States.
   */
  stateCode?: string;
  /**
   * Second line of the address, such as an apartment.
   */
  address2?: string;
  /**
   * Company of the recipient.
   */
  company?: string;
  /**
   * Phone number for the carrier.
   */
  phone?: string;
  /**
   * Full name of the recipient, to be printed instead of the first and the last name.
   */
  name?: string;
};

/**
 * A product to order and its quantity.
 */
export type OrderLineRequest = {
  /**
   * Id of the product, from `GET /v1/products`.
   */
  productId: string;
  /**
   * Number of units.
   */
  quantity: number;
};

/**
 * A new order.
 */
export type OrderRequest = {
  shippingAddress: ShippingAddressRequest;
  /**
   * The ordered products. Several lines may name the same product.
   */
  lines: Array<OrderLineRequest>;
  /**
   * The partner's own id of the order, unique within the connection. It is also the idempotency key if the header is absent.
   */
  externalOrderId?: string;
  /**
   * True creates a test order, which is never charged or shipped. Must be true with a test key. Default: false.
   */
  testMode?: boolean;
  /**
   * A message to the people who handle the order. It is part of the request: a retry must contain the same.
   */
  note?: string;
  /**
   * The partner's own data about the order. The service does not use it. Up to 20 keys of 1 to 40 characters, with values of up to 500 characters. It is part of the request: a retry must contain the same. An empty object counts as absent.
   */
  metadata?: {
    [key: string]: string;
  };
};

/**
 * An ordered product and its quantity.
 */
export type CreatedOrderLine = {
  /**
   * Id of the product.
   */
  productId: string;
  /**
   * Number of units.
   */
  quantity: number;
};

/**
 * The fields of an order that its creation returns.
 */
export type CreatedOrder = {
  /**
   * Id of the order, set by the service. Ids of test orders have the prefix `test_`.
   */
  id: string;
  /**
   * True for a test order, which is never charged or shipped, and is erased after two hours.
   */
  testMode: boolean;
  status: OrderStatus;
  /**
   * When the order was created. The acceptance window starts at this time.
   */
  createdAt: string;
  /**
   * The partner's own id of the order. Null if it was not sent.
   */
  externalOrderId: string | null;
  /**
   * The ordered products, in the order of the request.
   */
  lines: Array<CreatedOrderLine>;
};

/**
 * Which orders of the connection to find. Unknown fields are rejected.
 */
export type OrderSearch = {
  /**
   * Only orders with one of these statuses, as the response shows them.
   */
  status?: Array<OrderStatus>;
  /**
   * True: only orders on hold. False: only others. Default: both.
   */
  onHold?: boolean;
  /**
   * True: only test orders. False: only real ones. Default: both, and with a test key only test orders.
   */
  testMode?: boolean;
  /**
   * Only orders that were created at or after this time.
   */
  createdSince?: string;
  /**
   * Only orders that were created before this time.
   */
  createdUntil?: string;
  /**
   * Only orders that last changed at or after this time.
   */
  updatedSince?: string;
  /**
   * Only orders with one of these ids of the partner.
   */
  externalOrderIds?: Array<string>;
  /**
   * Maximum number of orders on the page.
   */
  limit?: number;
  /**
   * `nextCursor` of the previous page. The other fields must be the same, except `limit`. Opaque: it is not to be parsed.
   */
  cursor?: string;
};

/**
 * A reason for a hold. More values may be added. `payment_failed`: a charge to the merchant was declined. `out_of_stock`: no facility has all of the goods. `address_unserviceable`: no facility ships to the address. `merchant_request`: the merchant asked for the hold.
 */
export type KnownHoldReason =
  | "payment_failed"
  | "out_of_stock"
  | "address_unserviceable"
  | "merchant_request";

/**
 * A reason for a hold. More values may be added. `payment_failed`: a charge to the merchant was declined. `out_of_stock`: no facility has all of the goods. `address_unserviceable`: no facility ships to the address. `merchant_request`: the merchant asked for the hold.
 */
export type HoldReason = KnownHoldReason | (string & {});

/**
 * The address that the order is shipped to. The merchant and the operator can correct it until something has shipped.
 */
export type ShippingAddress = {
  /**
   * First name of the recipient.
   */
  firstName: string;
  /**
   * Last name of the recipient. `-` if there is none, as for a company: it is never printed.
   */
  lastName: string;
  /**
   * Full name of the recipient, as it was sent. By default, the first and the last name.
   */
  name: string;
  /**
   * Company of the recipient. Null if it was not sent.
   */
  company: string | null;
  /**
   * Street and number, or the first line of the address.
   */
  address1: string;
  /**
   * Second line of the address, such as an apartment. Null if it was not sent.
   */
  address2: string | null;
  /**
   * City or town.
   */
  city: string;
  /**
   * Postal code, in the form of the country. `-` if the country has none: it is never printed.
   */
  zip: string;
  /**
   * State or province, such as `CA` in the United States. Null if it was not sent.
   */
  stateCode: string | null;
  /**
   * ISO 3166-1 country code of two letters. Always in upper case.
   */
  countryCode: string;
  /**
   * Phone number for the carrier. Null if it was not sent.
   */
  phone: string | null;
};

/**
 * An ordered product and its quantity.
 */
export type OrderLine = {
  /**
   * Id of the line, set by the service.
   */
  id: string;
  /**
   * Id of the product.
   */
  productId: string;
  /**
   * Number of units.
   */
  quantity: number;
  /**
   * Id of the shipment that contains the line. Null until the warehouse ships it, and again if the shipment is voided.
   */
  shipmentId: string | null;
  /**
   * Number of units that came back, at most `quantity`. The warehouse records it.
   */
  returnedQuantity: number;
  /**
   * Number of units that were canceled because they cannot be delivered: 0, or all of the line, which never ships then. If only a part of a line is canceled, that part is a line of its own behind it.
   */
  canceledQuantity: number;
};

/**
 * `pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient. `returned`: came back. `voided`: never left; its lines are unshipped again. Tracking, or the completion of the order, makes a pending shipment `shipped`. The warehouse sets the others.
 */
export type ShipmentStatus = "pending" | "shipped" | "delivered" | "returned" | "voided";

/**
 * A shipment with lines of an order.
 */
export type Shipment = {
  /**
   * Id of the shipment, set by the service.
   */
  id: string;
  status: ShipmentStatus;
  /**
   * Name of the carrier, as the warehouse writes it. Null if it was not set.
   */
  carrier: string | null;
  /**
   * Tracking number. Null until the carrier has issued it.
   */
  trackingNumber: string | null;
  /**
   * Address where the shipment can be tracked, for the buyer. Null until the carrier has issued tracking.
   */
  trackingUrl: string | null;
  /**
   * When the shipment was created.
   */
  createdAt: string;
  /**
   * When the service learned that the carrier has the shipment. Null while it is `pending`, if it came back before that was known, and if it was voided.
   */
  shippedAt: string | null;
  /**
   * When the warehouse reported that the recipient has the shipment. Null until then.
   */
  deliveredAt: string | null;
  /**
   * Ids of the lines that the shipment contains. Empty if it was voided.
   */
  lineIds: Array<string>;
};

/**
 * An order in its present state.
 */
export type Order = {
  /**
   * Id of the order, set by the service. Ids of test orders have the prefix `test_`.
   */
  id: string;
  /**
   * True for a test order, which is never charged or shipped, and is erased after two hours.
   */
  testMode: boolean;
  /**
   * The partner's own id of the order. Null if it was not sent.
   */
  externalOrderId: string | null;
  status: OrderStatus;
  /**
   * Whether the order is on hold. An order on hold is not shipped. A hold does not change `status`.
   */
  onHold: boolean;
  /**
   * What must change before the order can proceed. Empty if the order is not on hold.
   */
  onHoldReasons: Array<HoldReason>;
  /**
   * When the order was created. The acceptance window starts at this time.
   */
  createdAt: string;
  /**
   * When the order last changed. It never goes back.
   */
  updatedAt: string;
  /**
   * Number of the last event of the order. Of several copies of an order, the one with the highest `sequence` is the latest, and among those the one with the latest `updatedAt`: a change without an event that counts moves that alone.
   */
  sequence: number;
  /**
   * Until when the API can cancel the order in its present state. Null if the API cannot cancel it.
   */
  cancelableUntil: string | null;
  shippingAddress: ShippingAddress;
  /**
   * A message to the people who handle the order. Null if none was sent. It never changes, except that it is erased with the buyer's personal data.
   */
  note: string | null;
  /**
   * The partner's own data about the order. The service does not use it. Empty if none was sent. It never changes, except that it is erased with the buyer's personal data.
   */
  metadata: {
    [key: string]: string;
  };
  /**
   * The ordered products, in the order of the request. If only a part of a line has shipped or was canceled, the rest is a line of its own behind it.
   */
  lines: Array<OrderLine>;
  /**
   * The shipments of the order, oldest first.
   */
  shipments: Array<Shipment>;
};

/**
 * A page of a list.
 */
export type OrderPage = {
  /**
   * The items of the page.
   */
  data: Array<Order>;
  /**
   * `cursor` of the next page; null on the last page.
   */
  nextCursor: string | null;
};

/**
 * `process`, `accept`, `complete` and `cancel` set the status PROCESSING, ACCEPTED, COMPLETED and CANCELED. `hold` and `releaseHold` place and clear a hold. `ship` creates a shipment: `shipped` if it has a tracking number or address, else `pending`. `complete` makes pending shipments `shipped`. `returnShipment` records that a shipment has come back.
 */
export type TestOrderTransition =
  | "process"
  | "accept"
  | "hold"
  | "releaseHold"
  | "ship"
  | "returnShipment"
  | "complete"
  | "cancel";

/**
 * Some or all units of a line.
 */
export type LineQuantity = {
  /**
   * Id of a line of the order.
   */
  lineId: string;
  /**
   * Number of units.
   */
  quantity: number;
};

/**
 * A transition of a test order.
 */
export type TransitionRequest = {
  transition: TestOrderTransition;
  /**
   * For `hold`: what must change before the order can proceed. Default: `out_of_stock`.
   */
  reasons?: Array<string>;
  /**
   * For `ship`: Ids of the lines that the shipment contains. Default: all unshipped lines.
   */
  lineIds?: Array<string>;
  /**
   * For `ship`: Lines with the number of units that ship, instead of `lineIds`. The other units of a line become a line of their own, with a new id. An order has at most 200 lines.
   */
  lines?: Array<LineQuantity>;
  /**
   * For `ship`: Name of the carrier. Spaces around it are removed.
   */
  carrier?: string;
  /**
   * For `ship`: Tracking number of the carrier. Spaces around it are removed. If it is what a scanner reads on a label, such as `420` and a postal code before the number of USPS, or the long form of FedEx, the number that is printed is taken out of it, by its check digit; spaces between groups of digits are removed.
   */
  trackingNumber?: string;
  /**
   * For `ship`: Address where the shipment can be tracked. If it is absent, the service makes it from the carrier and the number, for large carriers.
   */
  trackingUrl?: string;
  /**
   * For `returnShipment`: the shipment that came back. Default: the most recent one that has not come back.
   */
  shipmentId?: string;
};

/**
 * `pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient.
 */
export type ShipmentProgress = "pending" | "shipped" | "delivered";

/**
 * What a carrier reports of a shipment of a test order. Absent fields keep their values.
 */
export type TestTrackingRequest = {
  /**
   * Name of the carrier, without the spaces around it. Null removes it.
   */
  carrier?: string | null;
  /**
   * Tracking number of the carrier, without the spaces around it. Null removes it.
   */
  trackingNumber?: string | null;
  /**
   * Address where the shipment can be tracked. Null removes it. If it is absent, a new number or carrier replaces it.
   */
  trackingUrl?: string | null;
  status?: ShipmentProgress;
};

/**
 * What a delivery rehearses. More values may be added. `wrong-signature`: The first attempt is signed with a key that no endpoint has. The second one is right. `previous-secret`: The first attempt is signed with the previous secret alone, as during a rotation. `stale-timestamp`: The first attempt is rightly signed an hour ago. The second one is right. `cut-body`: The connection of the first attempt is closed in the middle of the body. The second one is right. `unknown-type`: The first attempt sends another event, of a type that does not exist. The second one sends the event. `unknown-field`: The first attempt sends the event with fields that are not described. `largest-body`: The first attempt sends the event in a body of 1 MiB. No body is larger. `duplicate`: The event is sent again as soon as it has been accepted. `two-at-once`: The first attempt sends the event twice at the same time. `dropped`: The first `attempts` attempts are not sent. `delayed`: The event, and those that follow it, wait for `seconds`. `reordered`: The event waits until the next one of the order has been delivered, or for `seconds` if there is none. `outage`: The events of the order wait until `seconds` after the request, and are then sent in a burst.
 */
export type DeliveryFaultName =
  | "wrong-signature"
  | "previous-secret"
  | "stale-timestamp"
  | "cut-body"
  | "unknown-type"
  | "unknown-field"
  | "largest-body"
  | "duplicate"
  | "two-at-once"
  | "dropped"
  | "delayed"
  | "reordered"
  | "outage";

/**
 * A type of event. More values may be added. `order.created`: An order was created. `order.canceled`: The order was canceled. `order.onHold`: A hold was placed on the order. `order.onHoldReleased`: The hold of the order was released. `order.shipmentCreated`: A shipment of the order was created. `order.shipmentReturned`: A shipment of the order came back. `order.completed`: The order was completed. `product.published`: The merchant exposed a product to the connection. `order.accepted`: The cancel window has closed, or a review has approved the order. `order.inProgress`: The first shipment of the order was created. `order.shipmentUpdated`: The status or tracking of a shipment has changed. `order.paymentFailed`: A charge for the order was declined. `order.linesCanceled`: Units of the order were canceled because they cannot be delivered. The others ship. Endpoints receive these only if they name them: `order.accepted`, `order.inProgress`, `order.shipmentUpdated`, `order.paymentFailed`, `order.linesCanceled`.
 */
export type EventType =
  | "order.created"
  | "order.canceled"
  | "order.onHold"
  | "order.onHoldReleased"
  | "order.shipmentCreated"
  | "order.shipmentReturned"
  | "order.completed"
  | "product.published"
  | "order.accepted"
  | "order.inProgress"
  | "order.shipmentUpdated"
  | "order.paymentFailed"
  | "order.linesCanceled";

/**
 * A fault to rehearse with the next event of a test order. Fields that other faults have are ignored.
 */
export type DeliveryFaultRequest = {
  fault: DeliveryFaultName;
  /**
   * The test endpoint to rehearse with. Default: each test endpoint that receives the event. Endpoints that receive the events of real orders never get a fault.
   */
  endpointId?: string;
  eventType?: EventType;
  /**
   * For `dropped`: how many attempts are not sent. Default: 1.
   */
  attempts?: number;
  /**
   * For `delayed`, `reordered` and `outage`: how long deliveries wait, at most. Default: 10, 60 and 30. No delivery waits beyond the erasure of its order.
   */
  seconds?: number;
};

/**
 * A fault to rehearse with deliveries of a test order.
 */
export type DeliveryFault = {
  /**
   * Id of the fault, set by the service.
   */
  id: string;
  fault: DeliveryFaultName;
  /**
   * The endpoint that it is for. Null: each test endpoint.
   */
  endpointId: string | null;
  /**
   * The type of the events that it is for. Null: any.
   */
  eventType: string | null;
  /**
   * How many attempts are not sent. Null for other faults.
   */
  attempts: number | null;
  /**
   * How long deliveries wait, at most. Null for other faults.
   */
  seconds: number | null;
  /**
   * When it was requested.
   */
  armedAt: string;
  /**
   * Until when an `outage` lasts. Null for other faults.
   */
  endsAt: string | null;
  /**
   * The event whose deliveries have it; of an `outage`, the first one. Null: it is armed, and waits for an event.
   */
  eventId: string | null;
};

/**
 * The faults of a test order.
 */
export type DeliveryFaults = {
  /**
   * Oldest first.
   */
  data: Array<DeliveryFault>;
};

/**
 * `active`: can be ordered. `discontinued`: cannot be ordered any more, but can still be read. The merchant sets it.
 */
export type ProductStatus = "active" | "discontinued";

/**
 * A product of a merchant. The merchant changes it.
 */
export type Product = {
  /**
   * Id of the product, set by the service.
   */
  id: string;
  /**
   * The merchant's article number. Not unique: two products may have the same SKU.
   */
  sku: string;
  status: ProductStatus;
  /**
   * Name of the product.
   */
  name: string;
  /**
   * Description of the product. Null if there is none.
   */
  description: string | null;
  /**
   * Address of a picture of the product. Null if there is none.
   */
  imageUrl: string | null;
  /**
   * Weight of one unit in grams. Null if it is not known.
   */
  weightGrams: number | null;
  /**
   * When the product was created.
   */
  createdAt: string;
  /**
   * When the merchant last changed the product.
   */
  updatedAt: string;
};

/**
 * A page of a list.
 */
export type ProductPage = {
  /**
   * The items of the page.
   */
  data: Array<Product>;
  /**
   * `cursor` of the next page; null on the last page.
   */
  nextCursor: string | null;
};

/**
 * `live`: for real orders and test orders. `test`: for test orders only.
 */
export type Mode = "live" | "test";

/**
 * The connection that a key belongs to.
 */
export type Me = {
  /**
   * Id of the connection.
   */
  id: string;
  /**
   * Name of the connection, given by the merchant.
   */
  name: string;
  /**
   * The merchant that the connection belongs to.
   */
  merchant: {
    /**
     * Id of the merchant.
     */
    id: string;
    /**
     * Name of the merchant.
     */
    name: string;
  };
  /**
   * The key that the request was sent with.
   */
  key: {
    /**
     * Id of the key.
     */
    id: string;
    /**
     * `live`: the key can do everything. `test`: it creates and changes test orders and test endpoints only, and finds no real order.
     */
    mode: Mode;
    /**
     * First characters of the key. They show its mode.
     */
    prefix: string;
    /**
     * When the key was issued.
     */
    createdAt: string;
    /**
     * When the key expires. Null if it does not expire.
     */
    expiresAt: string | null;
  };
  /**
   * Whether agents may use live keys of the connection over `POST /v1/mcp`. The merchant decides; otherwise they may use test keys alone.
   */
  liveAgents: boolean;
  /**
   * When the connection was created.
   */
  createdAt: string;
};

/**
 * Where webhooks come from.
 */
export type WebhookSources = {
  /**
   * Networks that webhooks come from, IPv4 and IPv6, each with its number of bits. Null if the operator has not named any: then verify signatures alone.
   */
  addresses: Array<string> | null;
  /**
   * When they change. Null if no change is planned.
   */
  nextChangeAt: string | null;
  /**
   * The networks from then on. Null if no change is planned.
   */
  nextAddresses: Array<string> | null;
};

/**
 * `push`: the service sends events to `url`. `pull`: it has no `url`, and a program leases deliveries and acknowledges them. It is set at the creation and cannot be changed.
 */
export type WebhookEndpointKind = "push" | "pull";

/**
 * A new endpoint. Unknown fields are rejected.
 */
export type WebhookEndpointRequest = {
  /**
   * Default: `push`. It cannot be changed.
   */
  kind?: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address. Required of a push endpoint; a pull endpoint has none.
   */
  url?: string;
  /**
   * A note for people. Null if there is none.
   */
  description?: string | null;
  /**
   * Event types to deliver. Duplicates are ignored. Default: every type except `order.accepted`, `order.inProgress`, `order.shipmentUpdated`, `order.paymentFailed` and `order.linesCanceled`, which must be named.
   */
  eventTypes?: Array<EventType>;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time. Default at creation: 8.
   */
  maxInFlight?: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Up to 10, with together 4096 characters. Names are compared without their case, and these are reserved: `host`, `date`, `user-agent`, `expect`, `accept-encoding`, those of the content (`content-type`, `content-length` …), of one connection (`connection`, `transfer-encoding`, `upgrade` …), of proxies (`via`, `forwarded`, `x-forwarded-*`, `proxy-*`) and of tracing, and `webhook-*`. The values are stored encrypted and never returned. A change replaces all of them, and `{}` removes them. The value `••••` keeps the stored one. Together with a `url` of another origin they are required, with all values, if the endpoint has headers: what is stored is not sent to another receiver.
   */
  headers?: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail?: string | null;
  /**
   * Default: `live`. A test key creates test endpoints only.
   */
  mode?: Mode;
};

/**
 * `active`: events are sent. `paused`: nothing is sent until the endpoint is resumed. The service pauses an endpoint, or the merchant or the operator; the partner can resume it.
 */
export type WebhookEndpointStatus = "active" | "paused";

/**
 * `gone`: the endpoint returned 410. `failing`: no delivery has succeeded for days. `requested`: the merchant or the operator paused it. `access-ended`: the address or the secret was set with access of the merchant that has ended. More values may be added.
 */
export type WebhookEndpointPauseReason = "gone" | "failing" | "requested" | "access-ended";

/**
 * How far an endpoint is behind the orders.
 */
export type WebhookEndpointBehind = {
  /**
   * Orders that have a pending delivery.
   */
  orders: number;
  /**
   * Pending deliveries of these orders.
   */
  events: number;
  /**
   * When the oldest of these events happened. Null if there is none.
   */
  oldestSince: string | null;
};

/**
 * An endpoint with its new signing secret.
 */
export type WebhookEndpointWithSecret = {
  /**
   * Id of the endpoint, set by the service.
   */
  id: string;
  kind: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address. Null of a pull endpoint.
   */
  url: string | null;
  /**
   * A note for people. Null if there is none.
   */
  description: string | null;
  /**
   * Event types to deliver.
   */
  eventTypes: Array<EventType>;
  /**
   * `live`: the endpoint receives the events of real orders and test orders, and those about no order. `test`: only events of test orders. It is set at the creation and cannot be changed.
   */
  mode: Mode;
  status: WebhookEndpointStatus;
  /**
   * Why the endpoint was paused. Null while it is active.
   */
  pauseReason: WebhookEndpointPauseReason | null;
  /**
   * When the endpoint was paused. Null while it is active.
   */
  pausedAt: string | null;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time.
   */
  maxInFlight: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Every value is shown as `••••`. Empty if there are none.
   */
  headers: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail: string | null;
  /**
   * When the endpoint last accepted an event, to the hour. The first success, and the first after a failure, are stored at once. Null before the first one. The service sets it.
   */
  lastSuccessAt: string | null;
  /**
   * Failed attempts since the last success. From 10 on, the service backs off. Attempts that were in flight when a backoff began do not count.
   */
  consecutiveFailures: number;
  /**
   * Nothing is sent to the endpoint until this time, because it keeps failing. Null if it is not backing off. A ping or a redelivery ends the backoff.
   */
  backingOffUntil: string | null;
  /**
   * Deliveries that the service sends or retries, counted up to 1,000. Of each order, the first pending one counts. Null while the endpoint is paused: its deliveries wait in the log.
   */
  pendingDeliveries: number | null;
  /**
   * Orders whose newest `sequence` the endpoint has not accepted yet, both numbers counted up to 1,000. Deliveries that failed finally do not count. Null while the endpoint is paused.
   */
  behind: WebhookEndpointBehind | null;
  /**
   * When the endpoint was created.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed, paused or resumed.
   */
  updatedAt: string;
  /**
   * Secret that signs the requests to the endpoint. It is shown only in this response.
   */
  secret: string;
};

/**
 * Where a connection's events are sent to. The partner changes it.
 */
export type WebhookEndpoint = {
  /**
   * Id of the endpoint, set by the service.
   */
  id: string;
  kind: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address. Null of a pull endpoint.
   */
  url: string | null;
  /**
   * A note for people. Null if there is none.
   */
  description: string | null;
  /**
   * Event types to deliver.
   */
  eventTypes: Array<EventType>;
  /**
   * `live`: the endpoint receives the events of real orders and test orders, and those about no order. `test`: only events of test orders. It is set at the creation and cannot be changed.
   */
  mode: Mode;
  status: WebhookEndpointStatus;
  /**
   * Why the endpoint was paused. Null while it is active.
   */
  pauseReason: WebhookEndpointPauseReason | null;
  /**
   * When the endpoint was paused. Null while it is active.
   */
  pausedAt: string | null;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time.
   */
  maxInFlight: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Every value is shown as `••••`. Empty if there are none.
   */
  headers: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail: string | null;
  /**
   * When the endpoint last accepted an event, to the hour. The first success, and the first after a failure, are stored at once. Null before the first one. The service sets it.
   */
  lastSuccessAt: string | null;
  /**
   * Failed attempts since the last success. From 10 on, the service backs off. Attempts that were in flight when a backoff began do not count.
   */
  consecutiveFailures: number;
  /**
   * Nothing is sent to the endpoint until this time, because it keeps failing. Null if it is not backing off. A ping or a redelivery ends the backoff.
   */
  backingOffUntil: string | null;
  /**
   * Deliveries that the service sends or retries, counted up to 1,000. Of each order, the first pending one counts. Null while the endpoint is paused: its deliveries wait in the log.
   */
  pendingDeliveries: number | null;
  /**
   * Orders whose newest `sequence` the endpoint has not accepted yet, both numbers counted up to 1,000. Deliveries that failed finally do not count. Null while the endpoint is paused.
   */
  behind: WebhookEndpointBehind | null;
  /**
   * When the endpoint was created.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed, paused or resumed.
   */
  updatedAt: string;
};

/**
 * A page of a list.
 */
export type WebhookEndpointPage = {
  /**
   * The items of the page.
   */
  data: Array<WebhookEndpoint>;
  /**
   * `cursor` of the next page; null on the last page.
   */
  nextCursor: string | null;
};

/**
 * Changes of an endpoint. Absent fields keep their values, unknown ones are rejected.
 */
export type WebhookEndpointUpdate = {
  /**
   * It is set at the creation: a request to change it is rejected.
   */
  kind?: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address.
   */
  url?: string;
  /**
   * A note for people. Null if there is none.
   */
  description?: string | null;
  /**
   * Event types to deliver. Duplicates are ignored.
   */
  eventTypes?: Array<EventType>;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time. Default at creation: 8.
   */
  maxInFlight?: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Up to 10, with together 4096 characters. Names are compared without their case, and these are reserved: `host`, `date`, `user-agent`, `expect`, `accept-encoding`, those of the content (`content-type`, `content-length` …), of one connection (`connection`, `transfer-encoding`, `upgrade` …), of proxies (`via`, `forwarded`, `x-forwarded-*`, `proxy-*`) and of tracing, and `webhook-*`. The values are stored encrypted and never returned. A change replaces all of them, and `{}` removes them. The value `••••` keeps the stored one. Together with a `url` of another origin they are required, with all values, if the endpoint has headers: what is stored is not sent to another receiver.
   */
  headers?: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail?: string | null;
};

/**
 * How to replace a signing secret. Unknown fields are rejected.
 */
export type SecretRotation = {
  /**
   * Hours during which older secrets sign beside the new one, at most. 0 ends them at once, for example after a leak.
   */
  overlapHours?: number;
};

/**
 * An endpoint with its new signing secret.
 */
export type RotatedWebhookEndpoint = {
  /**
   * Id of the endpoint, set by the service.
   */
  id: string;
  kind: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address. Null of a pull endpoint.
   */
  url: string | null;
  /**
   * A note for people. Null if there is none.
   */
  description: string | null;
  /**
   * Event types to deliver.
   */
  eventTypes: Array<EventType>;
  /**
   * `live`: the endpoint receives the events of real orders and test orders, and those about no order. `test`: only events of test orders. It is set at the creation and cannot be changed.
   */
  mode: Mode;
  status: WebhookEndpointStatus;
  /**
   * Why the endpoint was paused. Null while it is active.
   */
  pauseReason: WebhookEndpointPauseReason | null;
  /**
   * When the endpoint was paused. Null while it is active.
   */
  pausedAt: string | null;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time.
   */
  maxInFlight: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Every value is shown as `••••`. Empty if there are none.
   */
  headers: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail: string | null;
  /**
   * When the endpoint last accepted an event, to the hour. The first success, and the first after a failure, are stored at once. Null before the first one. The service sets it.
   */
  lastSuccessAt: string | null;
  /**
   * Failed attempts since the last success. From 10 on, the service backs off. Attempts that were in flight when a backoff began do not count.
   */
  consecutiveFailures: number;
  /**
   * Nothing is sent to the endpoint until this time, because it keeps failing. Null if it is not backing off. A ping or a redelivery ends the backoff.
   */
  backingOffUntil: string | null;
  /**
   * Deliveries that the service sends or retries, counted up to 1,000. Of each order, the first pending one counts. Null while the endpoint is paused: its deliveries wait in the log.
   */
  pendingDeliveries: number | null;
  /**
   * Orders whose newest `sequence` the endpoint has not accepted yet, both numbers counted up to 1,000. Deliveries that failed finally do not count. Null while the endpoint is paused.
   */
  behind: WebhookEndpointBehind | null;
  /**
   * When the endpoint was created.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed, paused or resumed.
   */
  updatedAt: string;
  /**
   * Secret that signs the requests to the endpoint. It is shown only in this response.
   */
  secret: string;
  /**
   * Until when the secret before the new one also signs. Null if it ended at once.
   */
  previousSecretExpiresAt: string | null;
};

/**
 * Which test event to send.
 */
export type PingRequest = {
  /**
   * The type to send a sample of, whatever types the endpoint receives. Without it, the event is a `webhook.ping`.
   */
  type?: EventType;
};

/**
 * `pending`: an attempt is planned or running. `succeeded`: the endpoint has accepted the event. `failed`: all attempts have failed, and no other is planned unless one is requested.
 */
export type DeliveryStatus = "pending" | "succeeded" | "failed";

/**
 * What caused the attempt. `schedule`: the event, the retry schedule, or the end of the delivery before it in its order. `manual`: a redelivery. `recovery`: a recovery or a resume of the endpoint, and the retries after it; of several deliveries of an order, the first has it, and the others follow by `schedule`.
 */
export type DeliveryTrigger = "schedule" | "manual" | "recovery";

/**
 * Why an attempt failed, for programs. More values may be added. `http_status`: the response is not 2xx. `timeout`: there was no complete response in time. `dns_failed`: the DNS lookup failed. `address_not_public`: the address, or an address of the name, is not public, or the name has none. `connection_refused`: nothing listens at the address. `connection_closed`: the connection ended before the response did. `host_unreachable`: there is no way to the address. `tls_failed`: the certificate is not valid, or TLS failed otherwise. `invalid_response`: the response is not HTTP. `response_too_large`: the response exceeds a limit. `url_not_https`: the URL does not begin with https. `canceled`: the service stopped during the attempt, and sends again. `outcome_unknown`: the worker ended during the attempt. `rehearsed`: a rehearsed fault has dropped the attempt, or cut it off. `not_sent`: the request could not be sent for another reason.
 */
export type DeliveryErrorCode =
  | "http_status"
  | "timeout"
  | "dns_failed"
  | "address_not_public"
  | "connection_refused"
  | "connection_closed"
  | "host_unreachable"
  | "tls_failed"
  | "invalid_response"
  | "response_too_large"
  | "url_not_https"
  | "canceled"
  | "outcome_unknown"
  | "rehearsed"
  | "not_sent";

/**
 * An attempt to deliver an event to an endpoint.
 */
export type DeliveryAttempt = {
  /**
   * Counts the attempts of the delivery by time, from 1.
   */
  number: number;
  trigger: DeliveryTrigger;
  /**
   * When the attempt started.
   */
  startedAt: string;
  /**
   * How long the attempt took, in milliseconds. Null if its end is not known.
   */
  durationMs: number | null;
  /**
   * HTTP status of the response. Null if there was no response.
   */
  responseStatus: number | null;
  /**
   * The first 1024 bytes of the response. Null if there was no response.
   */
  responseBody: string | null;
  /**
   * Why the attempt failed, as a fixed phrase for people, such as `HTTP 500` or `timeout`. Null if it succeeded.
   */
  error: string | null;
  /**
   * `error` for programs. Null if it succeeded.
   */
  errorCode: DeliveryErrorCode | null;
  /**
   * The fault that the attempt has rehearsed. Its response says what the receiver makes of it, and does not count for the health of the endpoint. Null for an attempt as usual.
   */
  fault: DeliveryFaultName | null;
};

/**
 * An event for one endpoint, and the attempts to deliver it.
 */
export type Delivery = {
  /**
   * Id of the delivery, set by the service.
   */
  id: string;
  /**
   * Id of the endpoint.
   */
  endpointId: string;
  /**
   * Id of the event. It is also the `webhook-id` of every attempt.
   */
  eventId: string;
  /**
   * Type of the event.
   */
  eventType: string;
  /**
   * Id of the order. Null if the event is not about an order.
   */
  orderId: string | null;
  status: DeliveryStatus;
  /**
   * The fault that the delivery rehearses. Null without one: always, if its order is a real one.
   */
  fault: DeliveryFaultName | null;
  /**
   * When the next attempt is planned. Null if none is planned, and during an attempt.
   */
  nextAttemptAt: string | null;
  /**
   * When the event happened.
   */
  createdAt: string;
  /**
   * Number of attempts so far, at most 10 000.
   */
  attemptCount: number;
  /**
   * The newest attempts, oldest first: at most 100 of a delivery that is read on its own, at most 20 in a list.
   */
  attempts: Array<DeliveryAttempt>;
};

/**
 * An active endpoint, and how much will be sent to it.
 */
export type ResumedWebhookEndpoint = {
  /**
   * Id of the endpoint, set by the service.
   */
  id: string;
  kind: WebhookEndpointKind;
  /**
   * Address that events are sent to. It begins with https:// and must lead to a public address. Null of a pull endpoint.
   */
  url: string | null;
  /**
   * A note for people. Null if there is none.
   */
  description: string | null;
  /**
   * Event types to deliver.
   */
  eventTypes: Array<EventType>;
  /**
   * `live`: the endpoint receives the events of real orders and test orders, and those about no order. `test`: only events of test orders. It is set at the creation and cannot be changed.
   */
  mode: Mode;
  status: WebhookEndpointStatus;
  /**
   * Why the endpoint was paused. Null while it is active.
   */
  pauseReason: WebhookEndpointPauseReason | null;
  /**
   * When the endpoint was paused. Null while it is active.
   */
  pausedAt: string | null;
  /**
   * Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time.
   */
  maxInFlight: number;
  /**
   * Headers that every request to the endpoint has, such as a key of your API gateway. Every value is shown as `••••`. Empty if there are none.
   */
  headers: {
    [key: string]: string;
  };
  /**
   * Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.
   */
  alertEmail: string | null;
  /**
   * When the endpoint last accepted an event, to the hour. The first success, and the first after a failure, are stored at once. Null before the first one. The service sets it.
   */
  lastSuccessAt: string | null;
  /**
   * Failed attempts since the last success. From 10 on, the service backs off. Attempts that were in flight when a backoff began do not count.
   */
  consecutiveFailures: number;
  /**
   * Nothing is sent to the endpoint until this time, because it keeps failing. Null if it is not backing off. A ping or a redelivery ends the backoff.
   */
  backingOffUntil: string | null;
  /**
   * Deliveries that the service sends or retries, counted up to 1,000. Of each order, the first pending one counts. Null while the endpoint is paused: its deliveries wait in the log.
   */
  pendingDeliveries: number | null;
  /**
   * Orders whose newest `sequence` the endpoint has not accepted yet, both numbers counted up to 1,000. Deliveries that failed finally do not count. Null while the endpoint is paused.
   */
  behind: WebhookEndpointBehind | null;
  /**
   * When the endpoint was created.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed, paused or resumed.
   */
  updatedAt: string;
  /**
   * The time of the request. What became pending later is not counted.
   */
  requestedAt: string;
  /**
   * How many deliveries the request makes due: of a paused endpoint all that are pending, of an active one the first of each order that waited for a retry, which the later ones follow. What an earlier request has counted is not counted again. Null if there are more than 5,000 to count.
   */
  deliveryCount: number | null;
};

/**
 * Which failed deliveries to send again.
 */
export type RecoveryRequest = {
  /**
   * Failed deliveries of events from this time on are sent again. At most 30 days ago.
   */
  since: string;
};

/**
 * Which deliveries the service sends again.
 */
export type Recovery = {
  /**
   * Id of the endpoint.
   */
  endpointId: string;
  /**
   * Failed deliveries of events from this time on are sent again: the time of the request or, if an earlier recovery is not finished, the earlier of both.
   */
  since: string;
  /**
   * The time of the request.
   */
  until: string;
  /**
   * How many deliveries the request makes due: those that failed in this period, and those that waited for a retry; of a paused endpoint, all that are pending. What an earlier request has counted is not counted again, so 0 means that nothing is left to request. Null if there are more than 5,000 deliveries to count.
   */
  deliveryCount: number | null;
};

/**
 * A delivery that the client has leased.
 */
export type LeasedDelivery = {
  /**
   * Id of the delivery.
   */
  deliveryId: string;
  /**
   * The attempt, as the log of the delivery counts it. It stands for this lease.
   */
  attempt: number;
  /**
   * Until when no other client gets the delivery. Without an acknowledgement the attempt counts as failed then.
   */
  leaseExpiresAt: string;
  /**
   * Id of the event. It is also the header field `webhook-id`.
   */
  eventId: string;
  /**
   * The fault that the attempt rehearses, of a test order. What it does to the request is done. The client performs two itself: `cut-body` by closing the connection to your receiver in the middle of the body, and `two-at-once` by sending the request twice at the same time. Null without one.
   */
  fault: DeliveryFaultName | null;
  /**
   * Type of the event.
   */
  eventType: string;
  /**
   * Id of the order. Null if the event is not about an order.
   */
  orderId: string | null;
  /**
   * The header fields of the request that a push endpoint would get, with the signature. `webhook-timestamp` is the time of the lease.
   */
  headers: {
    [key: string]: unknown | string;
  };
  /**
   * The exact body of that request. The signature is over these characters in UTF-8.
   */
  body: string;
};

/**
 * Deliveries that the client has leased.
 */
export type LeasedDeliveries = {
  /**
   * Those first that were due first.
   */
  data: Array<LeasedDelivery>;
};

/**
 * What became of a leased delivery.
 */
export type DeliveryAcknowledgement = {
  /**
   * Id of the delivery.
   */
  deliveryId: string;
  /**
   * The attempt, as the log of the delivery counts it. It stands for this lease.
   */
  attempt: number;
  /**
   * HTTP status with which your receiver has responded. 200 to 299: the delivery has succeeded. Any other fails the attempt, and 410 pauses the endpoint. Null if the receiver was not reached.
   */
  status: number | null;
  /**
   * The body of that response, for the log, which keeps 1 024 bytes of it. Null: it had none.
   */
  responseBody?: string | null;
  /**
   * How long your receiver took, in milliseconds. Default, and null: the time since the lease.
   */
  durationMs?: number | null;
  /**
   * Why your receiver was not reached, or its response broke off, for the log. With it the attempt fails, whatever the status is. Null: the status decides.
   */
  error?: string | null;
  /**
   * `Retry-After` of a response with status 429 or 503. Null: it had none.
   */
  retryAfterSeconds?: number | null;
};

/**
 * What became of leased deliveries.
 */
export type DeliveryAcknowledgements = {
  /**
   * One for each leased delivery that is done with.
   */
  acknowledgements: Array<DeliveryAcknowledgement>;
};

/**
 * `recorded`: the log has the attempt, now or from an earlier request. `lease-ended`: the lease had ended before, so the delivery is leased again. `not-found`: the endpoint has no such delivery.
 */
export type AcknowledgementResult = "recorded" | "lease-ended" | "not-found";

/**
 * Whether an acknowledgement was recorded.
 */
export type AcknowledgementOutcome = {
  /**
   * Id of the delivery, as it was sent.
   */
  deliveryId: string;
  /**
   * The attempt, as the log of the delivery counts it. It stands for this lease.
   */
  attempt: number;
  result: AcknowledgementResult;
};

/**
 * Whether each acknowledgement was recorded.
 */
export type AcknowledgementOutcomes = {
  /**
   * In the order of the request.
   */
  data: Array<AcknowledgementOutcome>;
};

/**
 * A page of a list.
 */
export type DeliveryPage = {
  /**
   * The items of the page.
   */
  data: Array<Delivery>;
  /**
   * `cursor` of the next page; null on the last page.
   */
  nextCursor: string | null;
};

/**
 * Header fields of the request, beside those that every HTTP request has. The service sets them.
 */
export type DeliveryRequestHeaders = {
  /**
   * Always `application/json`.
   */
  "content-type": string;
  /**
   * The program. Its version is the present one.
   */
  "user-agent": string;
  /**
   * Id of the event.
   */
  "webhook-id": string;
  /**
   * When the attempt started, in seconds since 1970.
   */
  "webhook-timestamp": string;
  /**
   * The signatures, separated by spaces. Null if they are not known any more: the body is not, or a secret that signed has ended or was replaced about that time.
   */
  "webhook-signature": string | null;
};

/**
 * The request of an attempt, as it was sent, or would have been if the attempt failed earlier.
 */
export type DeliveryRequest = {
  headers: DeliveryRequestHeaders;
  /**
   * The whole body. Personal data that was erased since is erased here too. Null if the event is not kept any more: events are kept for 30 days.
   */
  body: string | null;
};

/**
 * An attempt with its request and its response.
 */
export type DeliveryAttemptDetails = {
  /**
   * Counts the attempts of the delivery by time, from 1.
   */
  number: number;
  trigger: DeliveryTrigger;
  /**
   * When the attempt started.
   */
  startedAt: string;
  /**
   * How long the attempt took, in milliseconds. Null if its end is not known.
   */
  durationMs: number | null;
  /**
   * HTTP status of the response. Null if there was no response.
   */
  responseStatus: number | null;
  /**
   * The first 1024 bytes of the response. Null if there was no response.
   */
  responseBody: string | null;
  /**
   * Why the attempt failed, as a fixed phrase for people, such as `HTTP 500` or `timeout`. Null if it succeeded.
   */
  error: string | null;
  /**
   * `error` for programs. Null if it succeeded.
   */
  errorCode: DeliveryErrorCode | null;
  /**
   * The fault that the attempt has rehearsed. Its response says what the receiver makes of it, and does not count for the health of the endpoint. Null for an attempt as usual.
   */
  fault: DeliveryFaultName | null;
  /**
   * Null if none was sent or that is not known, and in earlier attempts if the bodies would be more than 1 MiB together.
   */
  request: DeliveryRequest | null;
};

/**
 * A delivery with the requests of its attempts.
 */
export type DeliveryDetails = {
  /**
   * Id of the delivery, set by the service.
   */
  id: string;
  /**
   * Id of the endpoint.
   */
  endpointId: string;
  /**
   * Id of the event. It is also the `webhook-id` of every attempt.
   */
  eventId: string;
  /**
   * Type of the event.
   */
  eventType: string;
  /**
   * Id of the order. Null if the event is not about an order.
   */
  orderId: string | null;
  status: DeliveryStatus;
  /**
   * The fault that the delivery rehearses. Null without one: always, if its order is a real one.
   */
  fault: DeliveryFaultName | null;
  /**
   * When the next attempt is planned. Null if none is planned, and during an attempt.
   */
  nextAttemptAt: string | null;
  /**
   * When the event happened.
   */
  createdAt: string;
  /**
   * Number of attempts so far, at most 10 000.
   */
  attemptCount: number;
  /**
   * The newest attempts, oldest first, at most 100.
   */
  attempts: Array<DeliveryAttemptDetails>;
};

/**
 * What to examine.
 */
export type CertificationRequest = {
  /**
   * Id of a test endpoint.
   */
  endpointId: string;
};

/**
 * `running`: not all checks are decided. `passed`: no check has failed. `failed`: at least one has, or the run ended before the last one. `canceled`: ended by request.
 */
export type CertificationStatus = "running" | "passed" | "failed" | "canceled";

/**
 * What the run does. `challenge`: it waits for the proof. `deliveries`: it sends test events with faults. `state`: it asks what the receiver has stored. `throughput`: it sends 20 events a second. `lost-creation`: it waits for the test order whose creation is lost.
 */
export type CertificationPhase = "challenge" | "deliveries" | "state" | "throughput" | "lost-creation";

/**
 * The test order that your program creates for the run.
 */
export type LostCreation = {
  /**
   * Create a test order with this `externalOrderId` and the header `Test-Fault: lost-response`, at any time while the run is open.
   */
  externalOrderId: string;
  /**
   * Until when the creation and its repetition must have arrived.
   */
  until: string;
};

/**
 * What is examined. More values may be added. `challenge`: a proof that the receiver has the signing secret. `valid`: valid events. `wrong-signature` and `stale-timestamp`: requests that it must reject. `duplicate`, `two-at-once`, `reordered`, `unknown-type`, `unknown-field`, `largest-body`, `cut-body` and `outage`: what it must get along with. `state`: what it has stored afterwards. `throughput`: 20 events a second, which is advice alone. `lost-creation`: a creation whose response is lost.
 */
export type CertificationCheckName =
  | "challenge"
  | "valid"
  | "wrong-signature"
  | "stale-timestamp"
  | "duplicate"
  | "two-at-once"
  | "reordered"
  | "unknown-type"
  | "unknown-field"
  | "largest-body"
  | "cut-body"
  | "outage"
  | "state"
  | "throughput"
  | "lost-creation";

/**
 * `pending`: not decided yet. `passed` and `failed`: it did, or did not, what is examined. `advice`: it could do better, which fails no run. `skipped`: not examined; `seen` says why.
 */
export type CertificationResult = "pending" | "passed" | "failed" | "advice" | "skipped";

/**
 * One check of a certification.
 */
export type CertificationCheck = {
  check: CertificationCheckName;
  result: CertificationResult;
  /**
   * What is examined, in words.
   */
  examines: string;
  /**
   * What was seen, in sentences. Null while it is pending.
   */
  seen: string | null;
  /**
   * Why it matters.
   */
  why: string;
  /**
   * How to pass.
   */
  remedy: string;
};

/**
 * A run that examines the receiver of a test endpoint with test orders and faults, and its report.
 */
export type Certification = {
  /**
   * Id of the certification, set by the service.
   */
  id: string;
  /**
   * Id of the test endpoint.
   */
  endpointId: string;
  status: CertificationStatus;
  /**
   * What the run does. Null when it has ended.
   */
  phase: CertificationPhase | null;
  /**
   * Why the run ended before its last check. Null if it did not.
   */
  reason: string | null;
  lostCreation: LostCreation;
  /**
   * The report: every check, in its order.
   */
  checks: Array<CertificationCheck>;
  /**
   * When the run began.
   */
  createdAt: string;
  /**
   * When the run ended. Null while it is open.
   */
  finishedAt: string | null;
};

/**
 * A page of a list.
 */
export type CertificationPage = {
  /**
   * The items of the page.
   */
  data: Array<Certification>;
  /**
   * `cursor` of the next page; null on the last page.
   */
  nextCursor: string | null;
};

/**
 * An order was created.
 */
export type OrderCreatedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.created`.
   */
  type: "order.created";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * The order was canceled.
 */
export type OrderCanceledEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.canceled`.
   */
  type: "order.canceled";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * A hold was placed on the order.
 */
export type OrderOnHoldEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.onHold`.
   */
  type: "order.onHold";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * The hold of the order was released.
 */
export type OrderOnHoldReleasedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.onHoldReleased`.
   */
  type: "order.onHoldReleased";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * A shipment of the order was created.
 */
export type OrderShipmentCreatedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.shipmentCreated`.
   */
  type: "order.shipmentCreated";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
    /**
     * The shipment after the event.
     */
    shipment: Shipment;
  };
};

/**
 * A shipment of the order came back.
 */
export type OrderShipmentReturnedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.shipmentReturned`.
   */
  type: "order.shipmentReturned";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
    /**
     * The shipment after the event.
     */
    shipment: Shipment;
  };
};

/**
 * The order was completed.
 */
export type OrderCompletedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.completed`.
   */
  type: "order.completed";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * The merchant exposed a product to the connection.
 */
export type ProductPublishedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `product.published`.
   */
  type: "product.published";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The product at the time of the event.
     */
    product: Product;
  };
};

/**
 * The cancel window has closed, or a review has approved the order.
 */
export type OrderAcceptedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.accepted`.
   */
  type: "order.accepted";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * The first shipment of the order was created.
 */
export type OrderInProgressEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.inProgress`.
   */
  type: "order.inProgress";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * The status or tracking of a shipment has changed.
 */
export type OrderShipmentUpdatedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.shipmentUpdated`.
   */
  type: "order.shipmentUpdated";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
    /**
     * The shipment after the event.
     */
    shipment: Shipment;
  };
};

/**
 * A charge for the order was declined.
 */
export type OrderPaymentFailedEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.paymentFailed`.
   */
  type: "order.paymentFailed";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
  };
};

/**
 * Why units are canceled. More values may be added. `out_of_stock`: there are not enough. `damaged`: they cannot be sold. `discontinued`: there will be no more. `buyer_request`: the buyer does not want them any more. `other`: none of these.
 */
export type CancelReason = "out_of_stock" | "damaged" | "discontinued" | "buyer_request" | "other";

/**
 * Units of the order were canceled because they cannot be delivered. The others ship.
 */
export type OrderLinesCanceledEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `order.linesCanceled`.
   */
  type: "order.linesCanceled";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    /**
     * The order after the event.
     */
    order: Order;
    /**
     * Ids of the lines that were canceled.
     */
    canceledLineIds: Array<string>;
    /**
     * Why they were canceled.
     */
    reason: CancelReason;
  };
};

/**
 * The endpoint that the event is sent to.
 */
export type PingedEndpoint = {
  /**
   * Id of the endpoint.
   */
  id: string;
  /**
   * Address of the endpoint.
   */
  url: string;
};

/**
 * What a certification asks the receiver. The response is its answer, as JSON.
 */
export type CertificationQuestion = {
  /**
   * Id of the certification.
   */
  id: string;
  /**
   * What the answer proves: its member `challenge` is the HMAC-SHA256 of `certification.` and this text, with the signing secret of the endpoint, in lower-case hex.
   */
  challenge: string;
  /**
   * Orders of which the answer says what the receiver has stored, in its member `orders`: by id, `status`, `sequence` and `handled`, the number of events that it has acted on.
   */
  orderIds: Array<string>;
};

/**
 * A test event for one endpoint, sent by request.
 */
export type WebhookPingEvent = {
  /**
   * Id of the event. It is also the `webhook-id` of its deliveries.
   */
  id: string;
  /**
   * Always `webhook.ping`.
   */
  type: "webhook.ping";
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * True if the event is about a test order.
   */
  testMode: boolean;
  /**
   * Id of the connection.
   */
  connectionId: string;
  /**
   * Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.
   */
  sequence: number | null;
  /**
   * The objects of the event, as they were when it happened.
   */
  data: {
    endpoint: PingedEndpoint;
    certification?: CertificationQuestion;
  };
};

/**
 * A fact that is published to partners. An event never changes. More types may be added: ignore those that you do not know.
 */
export type Event =
  | OrderCreatedEvent
  | OrderCanceledEvent
  | OrderOnHoldEvent
  | OrderOnHoldReleasedEvent
  | OrderShipmentCreatedEvent
  | OrderShipmentReturnedEvent
  | OrderCompletedEvent
  | ProductPublishedEvent
  | OrderAcceptedEvent
  | OrderInProgressEvent
  | OrderShipmentUpdatedEvent
  | OrderPaymentFailedEvent
  | OrderLinesCanceledEvent
  | WebhookPingEvent;

/**
 * A page of the feed.
 */
export type EventPage = {
  /**
   * The events of the page, oldest first.
   */
  data: Array<Event>;
  /**
   * `cursor` of the next page, now or later. Null at the end of the feed: keep the cursor of this request, and send it again later.
   */
  nextCursor: string | null;
};

/**
 * A message of the Model Context Protocol. It has further members.
 */
export type McpMessage = {
  /**
   * Version of JSON-RPC.
   */
  jsonrpc: "2.0";
  /**
   * What is requested.
   */
  method?: string;
  [key: string]: unknown;
};

/**
 * A status of orders.
 */
export type LifecycleStatus = {
  /**
   * The status.
   */
  status: OrderStatus;
  /**
   * Whether orders are created in it.
   */
  isInitial: boolean;
  /**
   * Whether it is final, except that a shipment can still come back.
   */
  isSettled: boolean;
};

/**
 * `cancelByPartner`: You cancel the order. `process`: A test order is put in review. A real one is created in review. `accept`: The order is accepted; a real one at the end of its acceptance window. `approve`: A review accepts the order. `reject`: A review cancels the order. `hold`: Reasons for a hold are placed. `releaseHold`: Reasons for a hold are released. `updateShippingAddress`: The address is corrected. `ship`: A shipment is created. `updateShipment`: A shipment gets tracking, or another status. `voidShipment`: A shipment never left. Its lines are unshipped again. `cancelLines`: Units that cannot be delivered are canceled. `complete`: The order is completed. `cancel`: The order is canceled. `returnShipment`: A shipment, or some units of it, come back.
 */
export type LifecycleTransitionName =
  | "cancelByPartner"
  | "process"
  | "accept"
  | "approve"
  | "reject"
  | "hold"
  | "releaseHold"
  | "updateShippingAddress"
  | "ship"
  | "updateShipment"
  | "voidShipment"
  | "cancelLines"
  | "complete"
  | "cancel"
  | "returnShipment";

/**
 * `partner`: You. `merchant`: The people and programs of the merchant. `warehouse`: The people and programs of the warehouse. `operator`: The company that runs the service. `service`: The service itself: the acceptance window has ended, a payment failed or succeeded, stock is missing or arrived.
 */
export type LifecycleActor = "partner" | "merchant" | "warehouse" | "operator" | "service";

/**
 * An operation of this API. `cancelOrder`: cancels an order. `transitionTestOrder`: requests the transition by its name. `trackTestShipment`: reports tracking of a shipment.
 */
export type LifecycleOperation = "cancelOrder" | "transitionTestOrder" | "trackTestShipment";

/**
 * What a transition does.
 */
export type LifecycleEffect = {
  /**
   * The statuses in which an order can have this effect.
   */
  from: Array<OrderStatus>;
  /**
   * The reason for a hold without which it has another effect, or is rejected. Null if it does not depend on one.
   */
  onlyOnHoldFor: string | null;
  /**
   * The status afterwards. Null if it stays as it is.
   */
  to: OrderStatus | null;
  /**
   * The types of the events that are published. Empty if nothing changes, or only what no standard event reports.
   */
  eventTypes: Array<EventType>;
  /**
   * Types that can be published in addition, to endpoints that name them.
   */
  optInEventTypes: Array<EventType>;
};

/**
 * The `code` of the problem. `transition-refused`: the state of the order does not allow it; see `rule`. `order-not-cancelable`: the partner can cancel the order no longer, or never could.
 */
export type LifecycleRejectionCode = "transition-refused" | "order-not-cancelable";

/**
 * Why a transition is rejected.
 */
export type LifecycleRejection = {
  /**
   * The statuses in which a request can be rejected so.
   */
  from: Array<OrderStatus>;
  code: LifecycleRejectionCode;
  /**
   * Its `rule`. Null if the problem has none.
   */
  rule: TransitionRule | null;
};

/**
 * A transition of orders.
 */
export type LifecycleTransition = {
  transition: LifecycleTransitionName;
  /**
   * Who can cause it.
   */
  by: Array<LifecycleActor>;
  /**
   * The operation by which you request it. Null if you cannot.
   */
  operationId: LifecycleOperation | null;
  /**
   * Its effects. Which one of them, depends on the status, the holds, the lines and the shipments.
   */
  effects: Array<LifecycleEffect>;
  /**
   * Why your request can be rejected. Empty if you cannot request it.
   */
  rejections: Array<LifecycleRejection>;
};

/**
 * The lifecycle of orders as data. It is the same for all deployments of a version.
 */
export type Lifecycle = {
  /**
   * All statuses.
   */
  statuses: Array<LifecycleStatus>;
  /**
   * The transitions of real orders.
   */
  realOrders: Array<LifecycleTransition>;
  /**
   * The transitions of test orders. Only you cause them.
   */
  testOrders: Array<LifecycleTransition>;
};

/**
 * Name and version. It has further members.
 */
export type OpenApiInfo = {
  /**
   * Name of the API.
   */
  title: string;
  /**
   * Version of the service.
   */
  version: string;
};

/**
 * An OpenAPI document. It has further members.
 */
export type OpenApiDocument = {
  /**
   * Version of the OpenAPI specification.
   */
  openapi: string;
  info: OpenApiInfo;
};

/**
 * A test key that was made without a person.
 */
export type RequestedTestKey = {
  /**
   * The key itself. It is shown only in this response.
   */
  key: string;
  /**
   * Id of the key.
   */
  id: string;
  /**
   * It places and changes test orders only.
   */
  mode: "test";
  /**
   * Id of the connection that was made for the key, and that no other key has.
   */
  connectionId: string;
  /**
   * When the key was made.
   */
  createdAt: string;
  /**
   * When the key ends. Its test orders and its endpoint are erased then. `GET /v1/me` shows it, too.
   */
  expiresAt: string;
};

export type ListProductsData = {
  body?: never;
  path?: never;
  query?: {
    /**
     * Maximum number of items on the page.
     */
    limit?: number;
    /**
     * `nextCursor` of the previous page. Opaque: do not parse it.
     */
    cursor?: string;
    /**
     * Only products with this SKU. There may be several.
     */
    sku?: string;
  };
  url: "/v1/products";
};

export type ListWebhookEndpointsData = {
  body?: never;
  path?: never;
  query?: {
    /**
     * Maximum number of items on the page.
     */
    limit?: number;
    /**
     * `nextCursor` of the previous page. Opaque: do not parse it.
     */
    cursor?: string;
  };
  url: "/v1/webhook-endpoints";
};

export type LeaseDeliveriesData = {
  body?: never;
  path: {
    /**
     * Id of the endpoint.
     */
    endpointId: string;
  };
  query?: {
    /**
     * Seconds to wait until something is due.
     */
    wait?: number;
    /**
     * Deliveries to lease, at most.
     */
    limit?: number;
  };
  url: "/v1/webhook-endpoints/{endpointId}/deliveries";
};

export type ListDeliveriesData = {
  body?: never;
  path?: never;
  query?: {
    /**
     * Maximum number of items on the page.
     */
    limit?: number;
    /**
     * `nextCursor` of the previous page. Opaque: do not parse it.
     */
    cursor?: string;
    /**
     * Only deliveries to this endpoint.
     */
    endpointId?: string;
    /**
     * Only items about this order: its id, or the partner's own `externalOrderId`.
     */
    orderId?: string;
    /**
     * Only deliveries of this event.
     */
    eventId?: string;
    /**
     * Only deliveries with this status.
     */
    status?: DeliveryStatus;
    /**
     * Only deliveries of events of this type, with samples of it.
     */
    eventType?:
      | "order.created"
      | "order.canceled"
      | "order.onHold"
      | "order.onHoldReleased"
      | "order.shipmentCreated"
      | "order.shipmentReturned"
      | "order.completed"
      | "product.published"
      | "order.accepted"
      | "order.inProgress"
      | "order.shipmentUpdated"
      | "order.paymentFailed"
      | "order.linesCanceled"
      | "webhook.ping";
    /**
     * Only deliveries with `createdAt` at or after this time.
     */
    since?: string;
    /**
     * Only deliveries with `createdAt` before this time.
     */
    until?: string;
    /**
     * True: only deliveries with a failed attempt, whatever their status. False: only others.
     */
    hasFailedAttempts?: boolean;
  };
  url: "/v1/deliveries";
};

export type ListCertificationsData = {
  body?: never;
  path?: never;
  query?: {
    /**
     * Maximum number of items on the page.
     */
    limit?: number;
    /**
     * `nextCursor` of the previous page. Opaque: do not parse it.
     */
    cursor?: string;
  };
  url: "/v1/test/certifications";
};

export type ListEventsData = {
  body?: never;
  path?: never;
  query?: {
    /**
     * Maximum number of items on the page.
     */
    limit?: number;
    /**
     * `nextCursor` of the previous page. Opaque: do not parse it.
     */
    cursor?: string;
    /**
     * Only items about this order: its id, or the partner's own `externalOrderId`.
     */
    orderId?: string;
    /**
     * Only events of this type.
     */
    type?: EventType;
  };
  url: "/v1/events";
};
// sha256 7ba23ecb8f98bd9438b93ce4badac4f2c5eaabb0555663e10c3256226906b883
