import type {
  CertificationRefusal,
  KnownCellDamage,
  KnownCodeMeaning,
  KnownFileFault,
  KnownLimitName,
  KnownMissingKind,
  KnownPersonRefusal,
  KnownReferenceUse,
  KnownValueFormat,
  OrderStatus,
  SignInFailure,
  TransitionRule,
} from "../api/schema.d.ts";
import type { ErrorTexts } from "./explanations.ts";
import { formatAlternatives, formatLimitBytes, formatMoney, formatNumber } from "./format.ts";
import { shell } from "./shell.en.ts";

const counted = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

const FORMATS: Readonly<Record<KnownValueFormat, string>> = {
  uuid: "must be a UUID",
  "date-time": "must be an ISO 8601 time with a time zone",
  text: "has characters that cannot be stored",
  "path-segment": "must not be . or .., or have characters that cannot be stored",
  "web-address": "must be a URL that begins with https:// or http://",
  "country-code": "must be a two-letter country code",
  "header-name": "must be the name of a header: letters, digits and !#$%&'*+-.^_`|~",
  "header-value": "must be visible ASCII characters, with spaces only between them",
  email: "must be a mail address",
  barcode: "must be ASCII characters, without spaces at the ends",
  amount: "must be an amount such as 12.50",
  currency: "must be an ISO 4217 currency code such as EUR",
  id: "is not an id of the service",
  "time-zone": "must be a time zone such as Europe/Berlin",
  "page-path": "must be the path of a page, such as /orders",
  "whole-number": "must be a whole number such as 380",
};

const MISSING: Readonly<Record<KnownMissingKind, string>> = {
  order_line: "is not a line of this order",
  shipment_line: "is not a line of this shipment",
  shipment: "is not a shipment of this order",
  product: "is not a product of this connection",
  merchant_product: "is not a product of the merchant",
  webhook_endpoint: "is not an endpoint of the connection",
  delivery: "is not a delivery of the connection",
  merchant: "is not a merchant",
  connection: "is not a connection",
  facility: "is not a facility",
  stock_record: "has no stock record at the facility: set onHand first",
  order: "is not an order",
  order_sku: "is not the SKU of a line of the order",
  known_shipment: "is not a shipment",
};

const USES: Readonly<Record<KnownReferenceUse, string>> = {
  refund: "another refund of the order",
  return: "another return of the order",
  cancellation: "a different cancellation of the order",
  refund_of_return: "a refund of the order",
  stock_adjustment: "another change of this stock",
  payment: "a payment of another amount",
  pick_list: "another pick list of this person",
};

const CODE_MEANINGS: Readonly<Record<KnownCodeMeaning, string>> = {
  order: "is the id of an order",
  shipment: "is the id of a shipment",
  id: "is an id of this service",
  command: "is a command of the packing table",
  external_order_id: "is the partner's own id of an order",
  barcode: "is the barcode of a product",
  sku: "is the SKU of a product",
  number: "is a number, not the name of a carrier",
};

const NOT_READ = "the following rows were not read";
const CERTIFICATION_REFUSALS: Readonly<Record<CertificationRefusal, string>> = {
  running: "Another certification of this connection is running. Wait for its end, or cancel it.",
  "no-product": "The connection has no product that can be ordered. The merchant exposes products to it.",
  "event-types":
    "The endpoint must receive order.created, order.shipmentCreated and order.completed. Add those that it lacks.",
};

const FILE_FAULTS: Readonly<Record<KnownFileFault, string>> = {
  open_quote: `opens a quote that is never closed; ${NOT_READ}`,
  long_row: `is longer than 256 KiB; perhaps it opens a quote that is never closed; ${NOT_READ}`,
  stray_quote: `has a quote where none is allowed: put the cell in quotes, and double the quotes within it; ${NOT_READ}`,
  encoding: "has letters in an unknown encoding; save the file as CSV in UTF-8",
  old_workbook:
    "the file is an old workbook (.xls), or one with a password; save it as .xlsx without a password, or as CSV",
  not_a_workbook: "the file is not a workbook that can be read; save it as .xlsx or as CSV",
  not_a_table: "the file is not a table; open it in a spreadsheet program, and save it as .xlsx or as CSV",
  large_workbook: "the workbook is too large: at most 16 MiB, and 128 MiB unpacked; save it as CSV",
};

const DAMAGES: Readonly<Record<KnownCellDamage, string>> = {
  exponent: "is a number with an exponent, as spreadsheets write long numbers",
  date: "is a date, as spreadsheets make one of 10-12",
  zeros: "has probably lost zeros at its beginning",
  formula: "is a formula",
  error_value: "is an error value of a spreadsheet",
  invisible: "contains invisible characters",
  letters: "has wrong letters, because the file was saved in another encoding; save it as CSV in UTF-8",
  decimals: "is a number with decimals",
  rounded: "ends in zeros after 15 digits, as spreadsheets round long numbers",
  boolean: "is true or false, as spreadsheets understand some words",
  quotes: "has a quotation mark or an apostrophe around it",
  groups: "has its digits in groups; write the digits alone, as a scanner reads them",
  look_alike: "has characters that look like others, such as a dash or a letter of another alphabet",
};

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

const EARLIER: Readonly<Record<string, string>> = { sku: "SKU" };

const SETTLED: readonly OrderStatus[] = ["COMPLETED", "CANCELED", "RETURNED"];

const lifted = (setting: string | undefined): string =>
  setting === undefined ? "" : `; a service for development accepts it if it was started with ${setting}`;

const PERSON_STATES: Readonly<Record<KnownPersonRefusal, string>> = {
  disabled: "The person is disabled. Enable the person first.",
  active: "The person has accepted the invitation, and can reset the password by mail.",
  "last-operator": "This is the last operator who can sign in. Give the role to another person first.",
};

const SIGN_INS: Readonly<Record<SignInFailure, string>> = {
  "wrong-credentials": "The mail address or the password is not right. Check both and try again.",
  "wrong-password": "The password is not right. Try again.",
  "wrong-code": "The code is not right, or it has expired. Try the next one.",
  "unknown-passkey": "This passkey is not known here, or it took too long. Try again, or use another way.",
  "invalid-passkey": "The passkey does not fit the request, or it took too long. Try again.",
  "invalid-link": shell.signIn.linkUsedUp,
  "codes-set-up": "One-time codes are set up already. Turn them off first.",
};

/** The limit with its maximum, and how to continue. */
const LIMITS: Readonly<Record<KnownLimitName, (maximum: string) => string>> = {
  endpoints: (maximum) => `The connection has its maximum of ${maximum} endpoints. Delete one first.`,
  testEndpoints: (maximum) =>
    `The connection has its maximum of ${maximum} test endpoints. Delete one first.`,
  endpointCreationsPerHour: (maximum) =>
    `The maximum of ${maximum} new endpoints an hour is reached. Change one, or try again in an hour.`,
  testOrders: (maximum) =>
    `The connection has its maximum of ${maximum} test orders. Wait until the service erases old ones.`,
  testOrderTransitions: (maximum) =>
    `The test order has its maximum of ${maximum} transitions. Use another test order.`,
  redeliveriesPerDay: (maximum) =>
    `The delivery was sent again ${maximum} times in 24 hours, which is the maximum. Try again tomorrow.`,
  deliveryAttempts: (maximum) =>
    `The delivery has its maximum of ${maximum} attempts. Read the event from the event feed.`,
  apiKeys: (maximum) => `The connection has its maximum of ${maximum} valid keys. Revoke one first.`,
  connections: (maximum) =>
    `The merchant has its maximum of ${maximum} connections. The operator can raise the limit.`,
  products: (maximum) =>
    `The merchant can have ${maximum} products at most. The operator can raise the limit.`,
  merchantApiKeys: (maximum) => `The merchant has its maximum of ${maximum} valid keys. Revoke one first.`,
  merchantEndpoints: (maximum) =>
    `The connections of the merchant have their maximum of ${maximum} endpoints. Delete one first.`,
  merchantTestEndpoints: (maximum) =>
    `The connections of the merchant have their maximum of ${maximum} test endpoints. Delete one first.`,
  deliveryFaults: (maximum) =>
    `The test order has its maximum of ${maximum} rehearsed faults. Use another test order.`,
  orderNotes: (maximum) => `The order has its maximum of ${maximum} notes.`,
  openResends: (maximum) =>
    `The maximum of ${maximum} resends at a time is reached. Wait until one has ended, or cancel one.`,
  views: (maximum) => `You have the maximum of ${maximum} saved views. Delete one first.`,
  people: (maximum) => `The maximum of ${maximum} people without access to a merchant is reached.`,
  merchantPeople: (maximum) => `The merchant has its maximum of ${maximum} people. Ask the operator.`,
  invitationsPerDay: (maximum) =>
    `The merchant has sent its maximum of ${maximum} invitations in 24 hours. Try again tomorrow, or ask the operator.`,
  invitations: (maximum) =>
    `Operators have sent their maximum of ${maximum} invitations in 24 hours. Try again tomorrow.`,
  invitationResends: (maximum) =>
    `The invitation was sent again ${maximum} times, which is the maximum. Check the mail address. An operator can make a sign-in link.`,
  tokens: (maximum) => `The maximum of ${maximum} valid tokens for no merchant is reached. Revoke one first.`,
  merchantTokens: (maximum) => `The merchant has its maximum of ${maximum} valid tokens. Revoke one first.`,
  passkeys: (maximum) => `You have the maximum of ${maximum} passkeys. Remove one first.`,
  streams: (maximum) => `You have the maximum of ${maximum} live pages open. Close one first.`,
  merchantStreams: (maximum) =>
    `The merchant has its maximum of ${maximum} live pages open. Close one first.`,
  runningImports: (maximum) =>
    `The merchant has its maximum of ${maximum} import under way. Wait until it has ended, then try again.`,
  runningExports: (maximum) =>
    `You have the maximum of ${maximum} exports under way. Wait until one has ended.`,
  runningExposures: (maximum) =>
    `The maximum of ${maximum} changes of exposure at a time is reached. Wait until one has ended, then try again.`,
  runningResends: (maximum) =>
    `The maximum of ${maximum} requests for a resend at a time is reached. Try again in some seconds.`,
  runningStatements: (maximum) =>
    `The maximum of ${maximum} statements at a time is reached. Try again in some seconds.`,
};

/** Why a transition of an order is not possible. `maximum` is that of the rules that have one. */
const TRANSITIONS: Readonly<Record<TransitionRule, string | ((maximum: string) => string)>> = {
  order_on_hold: "An order on hold cannot be shipped.",
  unshipped_lines: "An order with an unshipped line cannot be completed.",
  order_settled: "The order is already completed, canceled or returned. Only a return is possible.",
  no_shipment_out: "The order has no such shipment, or it is already returned or void.",
  shipment_left:
    "The shipment has left: it was reported as shipped or delivered, or some of it came back. Record its return instead. If the carrier does not have it, set its status to pending first.",
  nothing_to_ship: "The order has nothing left to ship, or one of the lines already has a shipment.",
  nothing_to_cancel: "One of the lines has shipped, or was canceled already.",
  whole_order: "Nothing of the order would be left. Cancel the order instead.",
  tracking_number_repeated: "The tracking number is already on another parcel that is on its way.",
  goods_unpaid:
    "The goods are not paid yet. Retry when they are; if the payment was declined, release that hold first, or cancel the order.",
  too_many_lines: (maximum) => `An order has at most ${maximum} lines. Ship whole lines instead of parts.`,
  not_cancelable: "The order cannot be canceled.",
  not_new: "The order is no longer new.",
  not_in_review: "The order is not in review.",
  not_accepted: "The order is not accepted yet: it can still be canceled, or it is in review.",
  not_routed: "The order has no facility yet. Try again in a few seconds.",
  nothing_to_pay: "The order has no unpaid charge or refund.",
  nothing_to_refund: "Nothing of the order was charged, or all of it is refunded.",
  too_many_returns: (maximum) => `The order has ${maximum} returns. Return whole shipments, without lines.`,
  too_many_refunds: (maximum) => `The order has ${maximum} refunds. Refund all that is left at once.`,
  order_not_settled: "The order is not completed, canceled or returned yet.",
  already_shipped:
    "Part of the order has shipped. Only the operator can cancel it, and its address cannot be changed.",
  other_country:
    "The order is in progress: its address can be corrected within the country only. Cancel it and order again.",
  shipping_charge_pending: "The charge for shipping is being processed. Try again after that.",
  too_many_corrections: (maximum) => `The address of the order was corrected ${maximum} times already.`,
  hold_not_releasable:
    "The order is on hold for reasons that your role cannot release, or that you must choose. Each hold shows whose it is.",
  too_many_hold_reasons: (maximum) => `An order can be on hold for at most ${maximum} reasons.`,
  too_many_changes: (maximum) =>
    `The timeline of the order has ${maximum} entries. Only what brings the order to its end is possible.`,
};

/** What the service says about fields, about lines of an imported file, and about changes that are not possible. */
export const errors: ErrorTexts = {
  rules: {
    required: () => "is required",
    type: ({ types }) => `must be ${formatAlternatives(types.map((type) => TYPES[type] ?? type))}`,
    json_object: ({ known }) => `must be a JSON object with ${known.join(", ")}`,
    one_of: ({ allowed }) => `must be one of ${allowed.join(", ")}`,
    minimum: ({ min }) => `must be at least ${formatNumber(min)}`,
    maximum: ({ max }) => `must be at most ${formatNumber(max)}`,
    min_length: ({ min }) => `must have at least ${counted(min, "character")}`,
    blank: () => "must not be blank",
    max_length: ({ max }) => `must have at most ${counted(max, "character")}`,
    min_items: ({ min }) => `must have at least ${counted(min, "item")}`,
    max_items: ({ max }) => `must have at most ${counted(max, "item")}`,
    max_keys: ({ max }) => `must have at most ${counted(max, "name")}`,
    format: ({ format }) => FORMATS[format as KnownValueFormat],
    pattern: ({ pattern }) => `must have the form ${pattern}`,
    id_prefix: ({ prefix }) => `must be an id that begins with ${prefix}`,
    country: ({ use, insteadOf }) =>
      use === undefined
        ? "must be an ISO 3166-1 country code, or XK"
        : `is not an ISO 3166-1 country code; use ${formatAlternatives(use)} instead of ${insteadOf}`,
    year: ({ min, max }) =>
      `must be in the years ${String(min).padStart(4, "0")} to ${String(max).padStart(4, "0")} in UTC`,
    unknown_field: ({ known }) => `is not a known field; use ${known.join(", ")}`,
    unknown_parameter: ({ known }) =>
      `is not a known parameter; ${known.length === 0 ? "there are none" : `use ${known.join(", ")}`}`,
    cursor: () => "is not a valid page of this list",
    cursor_expired: () => "is older than what the feed keeps: read the lists again",
    not_found: ({ kind }) => MISSING[kind as KnownMissingKind],
    discontinued: () => "is discontinued",
    duplicate_line: () => "names the same line as an earlier item",
    line_quantity: ({ max }) => `must be at most ${formatNumber(max)}, the quantity of the line`,
    not_combinable: ({ field }) => `cannot be combined with ${field}`,
    either: ({ field }) => `either this or ${field} is required, not both`,
    test_orders_only: () => "is possible with test orders only",
    test_key: ({ value }) => `must be ${value}, because the key is a test key`,
    test_endpoint: () => "needs a test endpoint: create one with the mode test",
    receiving_endpoint: () => "needs a test endpoint that receives such events",
    previous_secret: () => "needs a test endpoint whose previous secret still signs: rotate its secret first",
    set_at_creation: () => "is set at the creation and cannot be changed",
    push_endpoint: () => "is for push endpoints: a pull endpoint has no address",
    pull_endpoint: () => "must be a pull endpoint",
    after: ({ field }) => `must be after ${field === "since" ? "the start" : field}`,
    not_future: () => "must not be in the future",
    max_age: ({ days }) => `must be at most ${counted(days, "day")} ago`,
    url_scheme: ({ schemes, setting }) =>
      `must be a URL that begins with ${formatAlternatives(schemes.map((scheme) => `${scheme}://`))}${lifted(setting)}`,
    public_address: ({ setting }) => `must be a public address${lifted(setting)}`,
    usual_port: ({ setting }) => `must have port 443, or one from 1024 to 65535${lifted(setting)}`,
    no_credentials: () => "must not contain a user name or password",
    no_fragment: () => "must not contain #",
    reserved_header: () => "is reserved: the service or a proxy sets it",
    duplicate_header: () => "names the same header as an earlier one",
    headers_length: ({ max }) => `must have at most ${formatNumber(max)} characters in all`,
    stored_header: () => "has no stored value to keep: enter the value",
    headers_of_origin: () =>
      "must be entered again, or left empty: stored values are not sent to another server",
    invalid: () => "is not valid",
    only_with: ({ field }) => `is possible only with ${field}`,
    role_requires: ({ role }) => `is required for the role ${role}`,
    belongs_to_role: ({ role }) => `belongs to the role ${role}, and is not possible here`,
    scope_of_role: ({ role }) => `is not for the role ${role}`,
    scopes_of_caller: () => "must be a scope that you have yourself",
    grantable: ({ allowed }) => `must be ${formatAlternatives(allowed)}: you give no more than you have`,
    duplicate_grant: () => "must be given once only: name everything in one entry",
    own_facility: () => "is required: your role is for named facilities",
    operator_requests: () => "can be requested only by the operator",
    operator_sets: () => "can be set and released only by the operator",
    role_allows: ({ allowed }) =>
      `must be ${formatAlternatives(allowed)}; your role does not allow other reasons`,
    amount: ({ currency, decimals, maxAmount }) =>
      `must be an amount in ${currency} ${decimals === 0 ? "without decimals" : `with at most ${counted(decimals, "decimal")}`}, of at most ${formatMoney({ amount: maxAmount, currency })}`,
    positive: () => "must be greater than zero",
    refundable: ({ maxAmount, currency }) =>
      `must be at most ${formatMoney({ amount: maxAmount, currency })}: no more can be refunded`,
    reference_used: ({ usedFor }) => {
      const use = USES[usedFor as KnownReferenceUse];
      return use === undefined ? undefined : `already belongs to ${use}`;
    },
    shipped_quantity: ({ max }) =>
      `must be at most ${formatNumber(max)}: so many have shipped and not come back`,
    refundable_quantity: ({ max }) => `must be at most ${formatNumber(max)}: so many have not been refunded`,
    one_required: ({ others }) => `is required, or ${others.join(" or ")}`,
    refund_named: () => "is needed, or lines, or the shipping",
    external_id_ambiguous: ({ count }) =>
      `is the external id of ${counted(count, "order")}; name its connection in connectionId`,
    unshipped_quantity: ({ max }) =>
      `must be at most ${formatNumber(max)}, the units of the order that have not shipped`,
    which_parcel: ({ shipmentIds }) =>
      `is required, because the tracking number could be that of ${formatAlternatives([...shipmentIds])}, or of goods that have not shipped: for these name their sku`,
    known_code: ({ knownAs }) => {
      const text = CODE_MEANINGS[knownAs as KnownCodeMeaning];
      if (text === undefined || knownAs === "number") return text;
      return `${text}: scan the label of the carrier`;
    },
    voided_shipment: () => "is the number of a shipment that was voided: ship the order again on its page",
    which_shipment: ({ shipmentIds }) =>
      `is required, because ${counted(shipmentIds.length, "shipment")} are out: ${shipmentIds.join(", ")}`,
    max_shipments: ({ max }) => `must be of at most ${counted(max, "shipment")}`,
    not_restockable: () => "is not possible for damaged or defective goods",
    future: () => "must be in the future",
    not_after: ({ field }) => `must not be after ${field === "to" ? "the end" : field}, or in the future`,
    iban: () => "is not a valid IBAN: one of its characters is wrong",
    stripe_key: () => "is not possible: the service has no Stripe key (STRIPE_SECRET_KEY)",
    reserved_quantity: ({ min }) => `must be at least ${formatNumber(min)}: so many are reserved for orders`,
    stock_difference: ({ min, max }) =>
      `must be between ${formatNumber(min)} and ${formatNumber(max)}: stock cannot be less than what is reserved for orders`,
    not_zero: () => "must be more or less than 0",
    duplicate_rate: ({ earlier }) =>
      `has the same country, currency and weight as rate ${formatNumber(earlier + 1)}`,
    view_name: () => "must differ from the names of your other views of this page",
    barcode_taken: ({ productId, sku, name }) =>
      productId === undefined
        ? "is the barcode of another product of the merchant"
        : `is the barcode of ${[sku ?? productId, name].filter(Boolean).join(", ")}, with or without zeros before it`,
    sku_taken: ({ productId, name = productId }) =>
      `is the SKU of the product ${name}; give its id, or import by SKU, to change it`,
    sku_ambiguous: ({ count }) =>
      `is the SKU of ${counted(count, "product")}; give the id of the one to change`,
    sku_of_other_row: () => "is the SKU of a product that another row changes",
    sku_padded: () => "must not begin or end with a space, unless the row has the id of its product",
    earlier_row: ({ field }) => `is also the ${EARLIER[field] ?? field} of an earlier row`,
    given_away: () => "was given to another product while the file was read; send the file again",
    given_away_in_file: () =>
      "of a row was given to another product while the file was read; send the file again to see the row",
    unknown_column: ({ known }) =>
      `is not a column of the import; delete it, or name it as one of ${known.join(", ")}`,
    duplicate_column: () => "is a duplicate column",
    missing_column: () => "is required, but missing in the first row",
    two_meanings: () => "can mean thousands or decimals; write it without a separator of thousands",
    json_line: () => "is not a JSON object in one line",
    header_row: () => "the header row is missing",
    cell_count: ({ count, expected }) =>
      `has ${counted(count, "cell")}, but the first row has ${formatNumber(expected)}`,
    max_rows: ({ max }) => `is beyond the limit of ${counted(max, "row")}`,
    unnamed_column: () => "has a value, but its column has no name in the first row",
    file: ({ fault }) => FILE_FAULTS[fault as KnownFileFault],
    damaged: ({ damage, meant }) => {
      const text = DAMAGES[damage as KnownCellDamage];
      return text === undefined || meant === undefined ? text : `${text}; ${meant} is stored`;
    },
    check_digit: () => "has a wrong check digit",
    sku_case: ({ meant }) =>
      `differs from ${meant ?? "that of an earlier row"} only in upper and lower case, so it is another product`,
  },
  checks: {},
  ofKey: (text) => `has a name that ${text}`,
  problems: {
    "malformed-request": () => "The service could not read the request.",
    "sign-in-failed": ({ reason }) => SIGN_INS[reason],
    "token-expires": () => "The token expires, and the roles of people do not.",
    "scope-required": ({ scope }) => `The token lacks the scope ${scope}.`,
    "recent-authentication-required": () =>
      "Confirm that it is you: this needs a password, a code or a passkey within the last 15 minutes.",
    "order-not-cancelable": ({ orderStatus }) => {
      if (SETTLED.includes(orderStatus)) return "The order is already completed, canceled or returned.";
      return orderStatus === "PROCESSING"
        ? "An order in review cannot be canceled this way. It continues."
        : "The time to cancel is over. The order continues.";
    },
    "order-already-exists": () => "Another order of this connection has this external order id.",
    "transition-refused": ({ rule, maximum }) => {
      const text = TRANSITIONS[rule];
      return typeof text === "function" ? text(maximum === undefined ? "" : formatNumber(maximum)) : text;
    },
    "endpoint-paused": () => "The endpoint is paused. Resume it first.",
    "certification-not-possible": ({ reason }) => CERTIFICATION_REFUSALS[reason],
    "certification-required": ({ certificationMaxAgeDays }) =>
      `A live key needs a certification that the partner has passed within ${counted(certificationMaxAgeDays, "day")}. The page of the connection shows the runs and the setting.`,
    "stock-changed": ({ onHand }) =>
      `The stock has changed: ${counted(onHand, "unit")} on hand. Count again, or enter the difference.`,
    "limit-reached": ({ limit, maximum }) => LIMITS[limit as KnownLimitName]?.(formatNumber(maximum)),
    "person-exists": () =>
      "A person with this mail address exists already. Change the person's roles, or ask an operator to do it.",
    "person-state": ({ state }) => PERSON_STATES[state as KnownPersonRefusal],
    "token-not-rotatable": ({ reason }) =>
      ({
        revoked: "The token is revoked. Create a new one.",
        expired: "The token has expired. Create a new one.",
        replaced:
          "The token was already replaced. Replace the newer one, or revoke both and create a new one.",
      })[reason],
    "key-not-rotatable": ({ reason }) =>
      ({
        revoked: "The key is revoked. Issue a new one.",
        expired: "The key has expired. Issue a new one.",
        replaced: "The key was already replaced. Replace the newer one, or revoke both and issue a new one.",
      })[reason],
    "payload-too-large": ({ maxBytes }) =>
      `The file or the input is larger than ${formatLimitBytes(maxBytes)}.`,
    "unsupported-media-type": () => "The service does not accept this kind of content.",
    "idempotency-key-reused": ({ orderId }) =>
      orderId === null
        ? "This key already belongs to another request. It is the Idempotency-Key or, without it, the external order id."
        : `This key already belongs to the order ${orderId}, whose request was another one. It is the Idempotency-Key or, without it, the external order id.`,
  },
};
