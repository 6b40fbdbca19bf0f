import { type Static, type TSchema, Type } from "typebox";
import { described, enumeration, openEnumeration } from "./schemas.ts";

/** The forms of text that a rule can require, each as a message that follows the name of the field. */
const SHARED_FORMATS = {
  uuid: "must be a UUID",
  "date-time": "must be an ISO 8601 date-time with a time zone",
  text: "must not contain NUL characters or unpaired surrogates",
  "path-segment": "must not be . or .., and must not contain NUL characters or unpaired surrogates",
  "web-address": "must be a URL that begins with https:// or http://",
  "country-code": "must be a two-letter country code",
  "header-name": "must be the name of a header: letters, digits and !#$%&'*+-.^_`|~",
  "header-value": "must be visible ASCII characters, with spaces only between them",
} as const;
const FORMATS = {
  ...SHARED_FORMATS,
  email: "must be an email address",
  barcode: "must be ASCII characters without spaces at the ends",
  amount: "must be a decimal amount such as 12.50",
  currency: "must be an ISO 4217 currency code such as EUR",
  id: "is not an id of the service",
  "time-zone": "must be a time zone such as Europe/Berlin",
  "page-path": "must be the path of a page, such as /orders",
  "whole-number": "must be a whole number such as 380",
} as const;
export type FormatName = keyof typeof FORMATS;

export const isFormatName = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);

/** What an id does not name. A thing of another connection is reported as a missing one. */
const SHARED_MISSING = {
  order_line: "is not a line of this order",
  shipment: "is not a shipment of this order",
  product: "is not a product of this connection",
  webhook_endpoint: "is not a webhook endpoint of the connection",
  delivery: "is not a delivery of the connection",
} as const;
const MISSING = {
  ...SHARED_MISSING,
  shipment_line: "is not a line of this shipment",
  merchant_product: "is not a product of the merchant",
  merchant: "is not a merchant",
  connection: "is not a connection",
  facility: "is not a facility",
  stock_record: "has no stock record at the facility: set onHand first",
  order: "is not an order",
  order_sku: "is not the SKU of a line of the order",
  known_shipment: "is not a shipment",
} as const;
export type MissingKind = keyof typeof MISSING;

/** What a reference names already. */
const USES = {
  refund: "a different refund of the order",
  return: "a different return of the order",
  cancellation: "a different cancellation of the order",
  refund_of_return: "a refund of the order",
  stock_adjustment: "a different adjustment of this stock",
  payment: "a payment of a different amount",
  pick_list: "a different pick list of this person",
} as const;

/** What a text is that was scanned as that of a carrier (docs/design/fulfilment.md, "A code means one thing"). */
const KNOWN_CODES = {
  order: "is the id of an order",
  shipment: "is the id of a shipment",
  id: "is an id of the service",
  command: "is a command of the packing table",
  external_order_id: "is the external id of an order",
  barcode: "is the barcode of a product",
  sku: "is the SKU of a product",
  number: "is a number, not the name of a carrier",
} as const;
export type CodeMeaning = keyof typeof KNOWN_CODES;

const NOT_READ = "the following rows were not read";
/** Why a file cannot be read, or not beyond a row. */
const FILE_FAULTS = {
  open_quote: `opens a quote that is never closed; ${NOT_READ}`,
  long_row: `is longer than 256 KiB; perhaps it opens a quote that is never closed; ${NOT_READ}`,
  stray_quote: `has a quote where none is allowed: put the cell in quotes, and double the quotes within it; ${NOT_READ}`,
  encoding: "has letters in an encoding that is not known; save the file as CSV in UTF-8",
  old_workbook:
    "the file is a workbook with a password, or an old one (.xls); save it as .xlsx without a password, or as CSV",
  not_a_workbook: "the file is not a workbook that can be read; save it as .xlsx or as CSV",
  not_a_table: "the file is not a table; open it in a spreadsheet, and save it as .xlsx or as CSV",
  large_workbook: "the workbook is too large: at most 16 MiB, and 128 MiB unpacked; save it as CSV",
} as const;
export type FileFault = keyof typeof FILE_FAULTS;

/** What a spreadsheet does to identifiers. */
const DAMAGES = {
  exponent: "is a number with an exponent, as spreadsheets write long identifiers",
  date: "is a date, as spreadsheets write identifiers such as 10-12",
  zeros: "has probably lost zeros at its beginning",
  formula: "is a formula",
  error_value: "is an error value of a spreadsheet",
  invisible: "contains characters that cannot be seen",
  letters: "has wrong letters, such as \ufffd, ?? or Ã¼, because the file was saved in another encoding",
  decimals: "is a number with decimals, as programs write identifiers of digits",
  rounded: "ends in zeros after 15 digits, as spreadsheets round long numbers",
  boolean: "is true or false, as spreadsheets understand some words",
  quotes: "has a quotation mark or an apostrophe around it",
  groups: "is a barcode with its digits in groups; scanners read the digits alone",
  look_alike: "has characters that look like others, such as a dash or a letter of another alphabet",
} as const;
export type Damage = keyof typeof DAMAGES;

const keysOf = <Key extends string>(record: Readonly<Record<Key, string>>): Key[] =>
  Object.keys(record) as Key[]; // The record's own keys.

/** A value among those of a rule, to which more may be added. */
const someOf = <Key extends string>(title: string, values: Readonly<Record<Key, string>>, about: string) =>
  Type.Unsafe<Key>(
    openEnumeration(title, keysOf(values), `${about} More values may be added. ${sentencesOf(values)}`),
  );

const sentencesOf = (values: Readonly<Record<string, string>>): string =>
  described(Object.fromEntries(Object.entries(values).map(([value, text]) => [value, `${text}.`])));

const formatOf = <Key extends FormatName>(formats: Readonly<Record<Key, string>>) =>
  someOf("ValueFormat", formats, "The form that text must have.");
const kindOf = <Key extends MissingKind>(kinds: Readonly<Record<Key, string>>) =>
  someOf("MissingKind", kinds, "What does not exist, or is not the caller's.");

const names = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description }));

/** The parameters of the rules. A parameter means the same in every rule. */
export const RULE_PARAMETERS = {
  min: Type.Number({ description: "The lowest number, or the least length or count." }),
  max: Type.Number({ description: "The highest number, or the greatest length or count." }),
  count: Type.Integer({ description: "How many there are." }),
  expected: Type.Integer({ description: "How many there must be." }),
  days: Type.Integer({ description: "A number of days." }),
  decimals: Type.Integer({ description: "Number of decimals, at most." }),
  maxAmount: Type.String({ description: "The largest amount, in `currency`." }),
  currency: Type.String({ description: "The currency that an amount must have." }),
  types: names("The JSON types, one of which is required."),
  allowed: names("The values, one of which is required."),
  known: names("The known names, or only the one that is probably meant."),
  format: formatOf(FORMATS),
  pattern: Type.String({ description: "The regular expression that text must match." }),
  prefix: Type.String({ description: "How the id must begin." }),
  use: names("Country codes, one of which is probably meant."),
  insteadOf: Type.String({ description: "The code that was sent." }),
  field: Type.String({ description: "Name of another field." }),
  role: Type.String({ description: "A role." }),
  kind: kindOf(MISSING),
  usedFor: someOf("ReferenceUse", USES, "What has the reference already."),
  fault: someOf("FileFault", FILE_FAULTS, "What is wrong with the file."),
  damage: someOf("CellDamage", DAMAGES, "What a spreadsheet has probably done to the value."),
  meant: Type.String({ description: "The stored value that is probably meant." }),
  schemes: names("The schemes, one of which is required."),
  setting: Type.String({
    description: "A service for development accepts the value if it was started with this setting.",
  }),
  value: Type.String({ description: "The only value that is accepted." }),
  productId: Type.String({ description: "Id of a product." }),
  sku: Type.String({ description: "SKU of that product." }),
  name: Type.String({ description: "Name of that product." }),
  knownAs: someOf("CodeMeaning", KNOWN_CODES, "What the code is."),
  others: names("Names of fields, one of which can take the place of this one."),
  shipmentIds: names("Ids of the shipments, one of which must be named."),
  earlier: Type.Integer({ description: "Index of the earlier item, counted from 0." }),
  of: enumeration("RulePart", ["key"], "`key`: a key of the object violates the rule."),
} satisfies Record<string, TSchema>;

/** The same without the values of the back office. */
export const SHARED_PARAMETERS = {
  ...RULE_PARAMETERS,
  format: formatOf(SHARED_FORMATS),
  kind: kindOf(SHARED_MISSING),
};

type ParameterName = keyof typeof RULE_PARAMETERS;
type Values<Name extends ParameterName> = { readonly [P in Name]: Static<(typeof RULE_PARAMETERS)[P]> };

type Rule<Needs extends ParameterName, May extends ParameterName> = {
  /** What is required, in the documentation. */
  readonly meaning: string;
  readonly needs: readonly Needs[];
  /** Parameters that can be absent. */
  readonly may: readonly May[];
  /** The violation as a message that follows the name of the field. */
  readonly sentence: (values: Values<Needs> & Partial<Values<May>>) => string;
};

const rule = <Needs extends ParameterName = never, May extends ParameterName = never>(
  meaning: string,
  needs: readonly Needs[],
  sentence: Rule<Needs, May>["sentence"],
  may: readonly May[] = [],
): Rule<Needs, May> => ({ meaning, needs, may, sentence });

/** A service for development accepts what a URL must not be otherwise (docs/design/signing.md, "Public addresses only"). */
const lifted = (setting: string | undefined): string =>
  setting === undefined ? "" : `; a service for development accepts it if it was started with ${setting}`;

/** Rules of both APIs. */
export const SHARED_RULES = {
  required: rule("The field, parameter or header field is present.", [], () => "is required"),
  type: rule(
    "A value of one of the JSON types.",
    ["types"],
    ({ types }) => `must be ${types.map(withArticle).join(" or ")}`,
  ),
  json_object: rule(
    "A body that is a JSON object. `known` has the fields that it must have, or else those that it can have.",
    ["known"],
    ({ known }) => `must be a JSON object${known.length === 0 ? "" : ` with ${known.join(", ")}`}`,
  ),
  one_of: rule("One of the values.", ["allowed"], ({ allowed }) => `must be one of ${allowed.join(", ")}`),
  minimum: rule("A number that is at least `min`.", ["min"], ({ min }) => `must be at least ${min}`),
  maximum: rule("A number that is at most `max`.", ["max"], ({ max }) => `must be at most ${max}`),
  min_length: rule(
    "Text of at least `min` characters.",
    ["min"],
    ({ min }) => `must have at least ${counted(min, "character")}`,
  ),
  blank: rule(
    "Text with a character that can be seen.",
    [],
    () => "must not be blank: it has no character that can be seen",
  ),
  max_length: rule(
    "Text of at most `max` characters.",
    ["max"],
    ({ max }) => `must have at most ${counted(max, "character")}`,
  ),
  min_items: rule(
    "A list of at least `min` items.",
    ["min"],
    ({ min }) => `must have at least ${counted(min, "item")}`,
  ),
  max_items: rule(
    "A list of at most `max` items.",
    ["max"],
    ({ max }) => `must have at most ${counted(max, "item")}`,
  ),
  max_keys: rule(
    "An object with at most `max` keys.",
    ["max"],
    ({ max }) => `must have at most ${counted(max, "key")}`,
  ),
  format: rule("Text of the form.", ["format"], ({ format }) => FORMATS[format]),
  pattern: rule(
    "Text that matches the regular expression.",
    ["pattern"],
    ({ pattern }) => `must match ${pattern}`,
  ),
  id_prefix: rule(
    "An id with the prefix.",
    ["prefix"],
    ({ prefix }) => `must be an id that begins with ${prefix}`,
  ),
  country: rule(
    "An assigned ISO 3166-1 country code, or XK.",
    [],
    ({ use = [], insteadOf }) =>
      `must be an assigned ISO 3166-1 country code, or XK${use.length === 0 ? "" : `; use ${alternatives(use)} instead of ${insteadOf}`}`,
    ["use", "insteadOf"],
  ),
  year: rule(
    "A year that RFC 3339 can express in UTC.",
    ["min", "max"],
    ({ min, max }) =>
      `must be in the years ${String(min).padStart(4, "0")} to ${String(max).padStart(4, "0")} in UTC`,
  ),
  unknown_field: rule(
    "A field that the body can have.",
    ["known"],
    ({ known }) => `is not a known field; use ${known.join(", ")}`,
  ),
  unknown_parameter: rule(
    "A parameter that the route has.",
    ["known"],
    ({ known }) =>
      `is not a known parameter; ${known.length === 0 ? "there are none" : `use ${known.join(", ")}`}`,
  ),
  cursor: rule(
    "A cursor of this list, with the same filters.",
    [],
    () => "is not a valid cursor of this list",
  ),
  cursor_expired: rule(
    "A cursor that is not older than what the feed keeps. After a longer pause, read the lists again, and follow the feed from there.",
    [],
    () =>
      "is older than the feed: changes after it were dropped. Request from=now, read the lists again, and follow the feed from there",
  ),
  not_found: rule("The id of something that exists.", ["kind"], ({ kind }) => MISSING[kind]),
  discontinued: rule("A product that can be ordered.", [], () => "is discontinued"),
  duplicate_line: rule("Each line at most once.", [], () => "names the same line as an earlier item"),
  line_quantity: rule(
    "At most the quantity of the line.",
    ["max"],
    ({ max }) => `must be at most ${max}, the quantity of the line`,
  ),
  not_combinable: rule(
    "Either this field or the other one.",
    ["field"],
    ({ field }) => `cannot be combined with ${field}`,
  ),
  either: rule(
    "Exactly one of the two fields.",
    ["field"],
    ({ field }) => `either this or ${field} is required, not both`,
  ),
  test_key: rule(
    "The value that a test key allows.",
    ["value"],
    ({ value }) => `must be ${value}, because the key is a test key`,
  ),
  test_orders_only: rule(
    "Only with a test order.",
    [],
    () => "is possible with test orders only: faults never happen to a real order",
  ),
  test_endpoint: rule(
    "A test endpoint.",
    [],
    () => "needs a test endpoint, which receives events of test orders only: create one with mode test",
  ),
  receiving_endpoint: rule(
    "Only with a test endpoint that receives the event.",
    [],
    () => "needs a test endpoint that receives such events: add their type to its eventTypes",
  ),
  previous_secret: rule(
    "Only with a previous secret that still signs.",
    [],
    () => "needs a test endpoint whose previous secret still signs: rotate its secret first",
  ),
  set_at_creation: rule(
    "A field that is set at the creation, and not changed.",
    [],
    () => "is set at the creation and cannot be changed",
  ),
  push_endpoint: rule(
    "A field of push endpoints only.",
    [],
    () => "is for push endpoints: a pull endpoint has no address",
  ),
  pull_endpoint: rule(
    "The id of a pull endpoint.",
    [],
    () => "must name a pull endpoint: the service itself sends the deliveries of this one",
  ),
  after: rule("A time after that of the other field.", ["field"], ({ field }) => `must be after ${field}`),
  not_future: rule("A time that is not in the future.", [], () => "must not be in the future"),
  max_age: rule(
    "A time within this number of days.",
    ["days"],
    ({ days }) => `must be at most ${days} days ago`,
  ),
  url_scheme: rule(
    "A URL with one of the schemes, without spaces.",
    ["schemes"],
    ({ schemes, setting }) =>
      `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}${lifted(setting)}`,
    ["setting"],
  ),
  public_address: rule(
    "A host that is reachable from everywhere.",
    [],
    ({ setting }) => `must be a public address${lifted(setting)}`,
    ["setting"],
  ),
  usual_port: rule(
    "Port 443, or one from 1024 to 65535.",
    [],
    ({ setting }) => `must have port 443 or a port from 1024 to 65535${lifted(setting)}`,
    ["setting"],
  ),
  no_credentials: rule(
    "A URL without a user name and a password.",
    [],
    () => "must not contain a user name or password",
  ),
  no_fragment: rule("A URL without a fragment.", [], () => "must not contain a fragment"),
  reserved_header: rule(
    "A header that neither the service nor a proxy sets.",
    [],
    () => "is reserved: the service or a proxy on the way sets it",
  ),
  duplicate_header: rule(
    "Each header at most once, in upper or lower case.",
    [],
    () => "names the same header as an earlier one",
  ),
  headers_length: rule(
    "Headers of at most `max` characters, names and values together.",
    ["max"],
    ({ max }) => `must have at most ${max} characters, names and values together`,
  ),
  stored_header: rule(
    "The value of the header. A masked one keeps what is stored, and only that.",
    [],
    () => "has no stored value to keep: send the value",
  ),
  headers_of_origin: rule(
    "The headers with their values, or `{}`, when `url` leads to another origin: stored values are not sent there.",
    [],
    () => "must have all values again, or be {}, because stored ones are not sent to another origin",
  ),
  invalid: rule("A rule that has no name.", [], () => "is invalid"),
} as const;

/** Rules of the back office only. */
export const BACK_OFFICE_RULES = {
  only_with: rule(
    "This field only beside the other one.",
    ["field"],
    ({ field }) => `must be absent without ${field}`,
  ),
  // Roles.
  role_requires: rule(
    "The field, which the role needs.",
    ["role"],
    ({ role }) => `is required for the role ${role}`,
  ),
  belongs_to_role: rule(
    "No field that belongs to another role.",
    ["role"],
    ({ role }) => `must be absent: it belongs to the role ${role}`,
  ),
  grantable: rule(
    "A role that the caller can give.",
    ["allowed"],
    ({ allowed }) => `must be ${alternatives(allowed)}: a caller gives no more than it has`,
  ),
  scope_of_role: rule(
    "A scope that the role can have.",
    ["role", "allowed"],
    ({ role, allowed }) => `is not for the role ${role}, which can have ${allowed.join(", ")}`,
  ),
  scopes_of_caller: rule("A scope that the caller has itself.", ["allowed"], ({ allowed }) =>
    allowed.length === 0
      ? "cannot be given: your token has no scope of this role"
      : `must be of ${allowed.join(", ")}: a token gives no more than it has`,
  ),
  duplicate_grant: rule(
    "Each role at most once.",
    [],
    () => "must not be given twice: name all things in one grant",
  ),
  own_facility: rule(
    "A facility, because the caller is for named ones.",
    [],
    () => "is required: your role is for named facilities",
  ),
  operator_requests: rule(
    "A value that only the operator can request.",
    [],
    () => "can be requested only by the operator",
  ),
  operator_sets: rule(
    "A reason that only the operator can set and release.",
    [],
    () => "can be set and released only by the operator",
  ),
  role_allows: rule(
    "A value that the caller's role allows.",
    ["allowed"],
    ({ allowed }) => `must be ${alternatives(allowed)}; your role does not allow other reasons`,
  ),
  // Orders and money.
  amount: rule(
    "An amount in the currency, with no more decimals than it has.",
    ["currency", "decimals", "maxAmount"],
    ({ currency, decimals, maxAmount }) =>
      `must be an amount in ${currency} ${decimals === 0 ? "without decimals" : `with at most ${decimals} decimals`}, of at most ${maxAmount}`,
  ),
  positive: rule("More than zero.", [], () => "must be greater than zero"),
  refundable: rule(
    "At most what is left to refund.",
    ["maxAmount", "currency"],
    ({ maxAmount, currency }) =>
      `must be at most ${maxAmount} ${currency}, which is what can still be refunded`,
  ),
  reference_used: rule(
    "A reference that names nothing else.",
    ["usedFor"],
    ({ usedFor }) => `was already used for ${USES[usedFor]}`,
  ),
  shipped_quantity: rule(
    "At most what has shipped and not come back.",
    ["max"],
    ({ max }) => `must be at most ${max}, the units that have shipped and not come back`,
  ),
  refundable_quantity: rule(
    "At most the units whose price has not been refunded.",
    ["max"],
    ({ max }) => `must be at most ${max}, the units that have not been refunded`,
  ),
  one_required: rule(
    "This field, or one of the others.",
    ["others"],
    ({ others }) => `is required, or ${alternatives(others)}`,
  ),
  refund_named: rule(
    "An amount, lines or shipping: a refund names what it returns.",
    [],
    () => "is required, or `lines`, or `shipping`: a refund names what it returns",
  ),
  which_shipment: rule(
    "The shipment, because several are out.",
    ["shipmentIds"],
    ({ shipmentIds }) =>
      `is required, because ${shipmentIds.length} shipments are out: ${shipmentIds.join(", ")}`,
  ),
  max_shipments: rule(
    "Lines of at most this number of shipments.",
    ["max"],
    ({ max }) => `must be of at most ${max} shipments`,
  ),
  not_restockable: rule(
    "No restocking of damaged or defective goods.",
    [],
    () => "must be false for goods that are damaged or defective",
  ),
  future: rule("A time in the future.", [], () => "must be in the future"),
  not_after: rule(
    "A time that is neither after that of the other field nor after now.",
    ["field"],
    ({ field }) => `must not be after \`${field}\`, or after now`,
  ),
  iban: rule("An IBAN whose check digits fit.", [], () => "is not a valid IBAN: its check digits do not fit"),
  stripe_key: rule(
    "A service that has a key of Stripe.",
    [],
    () => "cannot be used: the service has no Stripe key (STRIPE_SECRET_KEY)",
  ),
  external_id_ambiguous: rule(
    "The external id of a single order.",
    ["count"],
    ({ count }) => `is the external id of ${count} orders; name its connection in connectionId`,
  ),
  unshipped_quantity: rule(
    "At most what has not shipped.",
    ["max"],
    ({ max }) => `must be at most ${max}, the units of the order that have not shipped`,
  ),
  which_parcel: rule(
    "The shipment or the goods, because the tracking number could be of several parcels.",
    ["shipmentIds"],
    ({ shipmentIds }) =>
      `is required, because the tracking number could be that of ${alternatives(shipmentIds)}, or of goods that have not shipped: for these name their sku`,
  ),
  known_code: rule(
    "A text of the carrier, which the service does not know as anything else.",
    ["knownAs"],
    ({ knownAs }) =>
      `${KNOWN_CODES[knownAs]}: ${knownAs === "number" ? "give its name, such as DHL" : "scan the label of the carrier"}, or leave it out`,
  ),
  voided_shipment: rule(
    "A number that no voided shipment of the order has.",
    [],
    () => "is the number of a shipment that was voided: ship the order again by its own request",
  ),
  // Stock and rates.
  reserved_quantity: rule(
    "At least what is reserved for orders.",
    ["min"],
    ({ min }) => `must be at least ${min}, the quantity reserved for orders`,
  ),
  stock_difference: rule(
    "A difference that leaves what is reserved for orders.",
    ["min", "max"],
    ({ min, max }) =>
      `must be between ${min} and ${max}: the units on hand cannot be fewer than those reserved for orders`,
  ),
  not_zero: rule("A number other than zero.", [], () => "must be positive or negative, not 0"),
  duplicate_rate: rule(
    "One rate for a country, currency and weight.",
    ["earlier"],
    ({ earlier }) => `has the same country, currency and weight as /rates/${earlier}`,
  ),
  view_name: rule(
    "A name that no other view of the person has on this page.",
    [],
    () => "must differ from the names of your other views of this page",
  ),
  // Products, also in files.
  barcode_taken: rule(
    "A barcode that no other product has.",
    [],
    ({ productId, sku = "", name }) =>
      productId === undefined
        ? "is the barcode of another product of the merchant"
        : `is the barcode of the product ${sku}${name === undefined ? "" : `, ${name}`} (${productId}), with or without zeros before it`,
    ["productId", "sku", "name"],
  ),
  sku_taken: rule(
    "A new SKU, unless the row names its product.",
    ["productId"],
    ({ productId, name }) =>
      `is the SKU of the product ${name === undefined ? productId : `${name} (${productId})`}; give its id, or import with match=sku to change it`,
    ["name"],
  ),
  sku_ambiguous: rule(
    "A SKU of a single product.",
    ["count"],
    ({ count }) => `is the SKU of ${count} products; give the id of the one to change`,
  ),
  sku_of_other_row: rule(
    "A product that no other row changes.",
    [],
    () => "is the SKU of a product that another row changes",
  ),
  sku_padded: rule(
    "A SKU without spaces at its ends, unless the row has an id.",
    [],
    () => "must not begin or end with a space, unless the row has the id of its product",
  ),
  earlier_row: rule(
    "A value that no earlier row has.",
    ["field"],
    ({ field }) => `is also the ${field === "sku" ? "SKU" : field} of an earlier row`,
  ),
  given_away: rule(
    "A value that was not given to another product while the file was read.",
    [],
    () => "was given to another product while the file was read; send the file again",
  ),
  given_away_in_file: rule(
    "The same, of a row that is not known.",
    [],
    () =>
      "of a row was given to another product while the file was read; send the file again to see the line",
  ),
  unknown_column: rule(
    "A column of the import.",
    ["known"],
    ({ known }) => `is not an import column; delete it, or name it as one of ${known.join(", ")}`,
  ),
  duplicate_column: rule("Each column at most once.", [], () => "is a duplicate column"),
  missing_column: rule(
    "The column, which every file needs.",
    [],
    () => "is required, but is missing in the first row",
  ),
  header_row: rule("A first row that names the columns.", [], () => "the header row is missing"),
  cell_count: rule(
    "As many cells as the first row has.",
    ["count", "expected"],
    ({ count, expected }) => `has ${counted(count, "cell")}, but the first row has ${expected}`,
  ),
  max_rows: rule("At most `max` rows.", ["max"], ({ max }) => `exceeds the limit of ${max} rows`),
  two_meanings: rule(
    "A number with one meaning.",
    [],
    () => "can mean thousands or decimals; write it without a separator of thousands",
  ),
  json_line: rule("A line that is a JSON object.", [], () => "is not a JSON object in one line"),
  unnamed_column: rule(
    "A name of the column in the first row, if a cell of it is not empty.",
    [],
    () => "has a value, but its column has no name in the first row",
  ),
  file: rule("A file that can be read.", ["fault"], ({ fault }) => FILE_FAULTS[fault]),
  damaged: rule(
    "A value that no spreadsheet has damaged, unless `asWritten` is true or it is stored already.",
    ["damage"],
    ({ damage, meant }) =>
      `${DAMAGES[damage]}${meant === undefined ? "" : `; ${meant} is stored`}; correct it, or import with asWritten=true if it is meant so`,
    ["meant"],
  ),
  check_digit: rule(
    "A GTIN whose last digit fits the others. Only a warning.",
    [],
    () => "has a wrong check digit",
  ),
  sku_case: rule(
    "A new SKU that differs from others in more than upper and lower case. Only a warning.",
    [],
    ({ meant }) =>
      `differs from ${meant === undefined ? "that of an earlier row" : meant} only in upper and lower case, so it is another product`,
    ["meant"],
  ),
} as const;

export const RULES = { ...SHARED_RULES, ...BACK_OFFICE_RULES } as const;
type RuleName = keyof typeof RULES;

type ValuesOf<Name extends RuleName> =
  (typeof RULES)[Name] extends Rule<infer Needs, infer May> ? Values<Needs> & Partial<Values<May>> : never;

/** A rule that a value violates, with its parameters. Programs and the console decide by it (design, decision 38). */
export type Violation = {
  [Name in RuleName]: { readonly rule: Name; readonly of?: "key" } & ValuesOf<Name>;
}[RuleName];

/** The violation in English, as a message that follows the name of the field. The only place that makes one. */
export function sentenceOf(violation: Violation): string {
  const { sentence } = RULES[violation.rule] as Rule<ParameterName, never>; // Its parameters are those of the same rule.
  const text = sentence(violation as never);
  return violation.of === "key" ? `has a key that ${text}` : text;
}

/** A JSON type in a sentence: "an object", "a string", "null". */
const withArticle = (type: string): string =>
  type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;

/** "A", "A or B", "A, B or C". */
const alternatives = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} or ${texts.at(-1)}`;

/** A number with its noun, as in "1 item" and "2 items". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
