import { type Static, Type } from "typebox";
import { cancelableUntil } from "../lifecycle/lifecycle.ts";
import {
  CANCEL_REASONS,
  type CancelReason,
  HOLD_REASONS,
  ORDER_STATUSES,
  type Order,
  type OrderLine,
  type OrderRef,
  OUT_OF_STOCK,
  SHIPMENT_STATUSES,
  type Shipment,
} from "../lifecycle/order.ts";
import { asRequested, canceledQuantity } from "../lifecycle/parts.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../platform/ids.ts";
import { expectedVersionField } from "../platform/wire/content-version.ts";
import { COUNTRY_CODE_FORM } from "../platform/wire/countries.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  idField,
  nullable,
  nullableTime,
  openEnumeration,
  shortText,
} from "../platform/wire/schemas.ts";

const TEXTS = {
  firstName: "First name of the recipient.",
  lastName: "Last name of the recipient. `-` if there is none, as for a company: it is never printed.",
  name: "Full name of the recipient, to be printed instead of the first and the last name.",
  company: "Company of the recipient.",
  address1: "Street and number, or the first line of the address.",
  address2: "Second line of the address, such as an apartment.",
  city: "City or town.",
  zip: "Postal code, in the form of the country. `-` if the country has none: it is never printed.",
  stateCode: "State or province, such as `CA` in the United States.",
  countryCode: "ISO 3166-1 country code of two letters.",
  phone: "Phone number for the carrier.",
} as const;

/** In a fixed order, which versions depend on. */
export const ADDRESS_FIELDS = Object.keys(TEXTS) as (keyof typeof TEXTS)[]; // Its own keys.

/** The columns of an address in a file, but for the two names, which a label does not need. */
export const LABEL_COLUMNS = [
  "name",
  "company",
  "address1",
  "address2",
  "city",
  "zip",
  "stateCode",
  "countryCode",
  "phone",
] as const satisfies readonly (keyof typeof TEXTS)[];

const nullableText = (description: string) =>
  nullable(Type.String(), `${description} Null if it was not sent.`);

/** The address of an order. */
const AddressSchema = Type.Object(
  {
    firstName: Type.String({ description: TEXTS.firstName }),
    lastName: Type.String({ description: TEXTS.lastName }),
    name: Type.String({
      description: "Full name of the recipient, as it was sent. By default, the first and the last name.",
    }),
    company: nullableText(TEXTS.company),
    address1: Type.String({ description: TEXTS.address1 }),
    address2: nullableText(TEXTS.address2),
    city: Type.String({ description: TEXTS.city }),
    zip: Type.String({ description: TEXTS.zip }),
    stateCode: nullableText(TEXTS.stateCode),
    countryCode: Type.String({ description: `${TEXTS.countryCode} Always in upper case.`, examples: ["GB"] }),
    phone: nullableText(TEXTS.phone),
  },
  {
    title: "ShippingAddress",
    description:
      "The address that the order is shipped to. The merchant and the operator can correct it until something has shipped.",
  },
);

export const AddressRequestSchema = Type.Object(
  {
    firstName: shortText(TEXTS.firstName),
    lastName: shortText(TEXTS.lastName),
    address1: shortText(TEXTS.address1),
    city: shortText(TEXTS.city),
    zip: shortText(TEXTS.zip),
    countryCode: Type.String({
      // Whether it is assigned is checked with the products, so that a retry of an older order is still replayed.
      pattern: COUNTRY_CODE_FORM,
      description: `${TEXTS.countryCode} An assigned one, or \`XK\`. In upper or lower case.`,
      examples: ["GB"],
    }),
    stateCode: Type.Optional(shortText(TEXTS.stateCode)),
    address2: Type.Optional(shortText(TEXTS.address2)),
    company: Type.Optional(shortText(TEXTS.company)),
    phone: Type.Optional(shortText(TEXTS.phone)),
    name: Type.Optional(shortText(TEXTS.name)),
  },
  { title: "ShippingAddressRequest", description: "The address that the order is shipped to." },
);

const optionalText = (description: string) =>
  Type.Optional(nullable(shortText(description), `${description} Null removes it.`));

/** A correction of the address of an order (docs/design/lifecycle.md, "Corrected addresses"). */
export const AddressUpdateSchema = Type.Object(
  {
    firstName: Type.Optional(shortText(TEXTS.firstName)),
    lastName: Type.Optional(shortText(TEXTS.lastName)),
    address1: Type.Optional(shortText(TEXTS.address1)),
    city: Type.Optional(shortText(TEXTS.city)),
    zip: Type.Optional(shortText(TEXTS.zip)),
    countryCode: Type.Optional(
      Type.String({
        format: "country-code",
        description: `${TEXTS.countryCode} An assigned one, or \`XK\`. In upper or lower case.`,
        examples: ["GB"],
      }),
    ),
    stateCode: optionalText(TEXTS.stateCode),
    address2: optionalText(TEXTS.address2),
    company: optionalText(TEXTS.company),
    phone: optionalText(TEXTS.phone),
    name: optionalText(TEXTS.name),
    expectedVersion: expectedVersionField("shippingAddressVersion"),
  },
  { title: "ShippingAddressUpdate", description: "Changes of an address. Absent fields keep their values." },
);
export type AddressUpdate = Static<typeof AddressUpdateSchema>;

// A partner's own texts about an order (docs/design/creating-orders.md, "Note and metadata"). The service stores it and returns
// it.

/** Text by key. Every key and every value is the partner's. */
export type Metadata = Readonly<Record<string, string>>;

const METADATA = {
  meaning: "The partner's own data about the order. The service does not use it.",
  examples: [{ channel: "web", campaign: "spring" }],
} as const;
const NOTE = {
  meaning: "A message to the people who handle the order.",
  examples: ["Please ring twice."],
} as const;

const metadataField = Type.Unsafe<Metadata>({
  type: "object",
  additionalProperties: { type: "string" },
  description: `${METADATA.meaning} Empty if none was sent. It never changes, except that it is erased with the buyer's personal data.`,
  examples: METADATA.examples,
});

const noteField = nullable(
  Type.String(),
  `${NOTE.meaning} Null if none was sent. It never changes, except that it is erased with the buyer's personal data.`,
);

const METADATA_KEYS_MAX = 20;

export const metadataRequestField = Type.Optional(
  Type.Unsafe<Metadata>({
    type: "object",
    maxProperties: METADATA_KEYS_MAX,
    propertyNames: { type: "string", minLength: 1, maxLength: 40, format: "text" },
    additionalProperties: { type: "string", maxLength: 500, format: "text" },
    description: `${METADATA.meaning} Up to 20 keys of 1 to 40 characters, with values of up to 500 characters. It is part of the request: a retry must contain the same. An empty object counts as absent.`,
    examples: METADATA.examples,
  }),
);

export const noteRequestField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    format: "text",
    description: `${NOTE.meaning} It is part of the request: a retry must contain the same.`,
    examples: [...NOTE.examples],
  }),
);

export const OrderStatusSchema = enumeration(
  "OrderStatus",
  ORDER_STATUSES,
  "`NEW`: created, and the API can cancel it. `PROCESSING`: in review; the API cannot cancel it. `ACCEPTED`: the cancel window has closed. `IN_PROGRESS`: a shipment exists. `COMPLETED`, `CANCELED` and `RETURNED`: settled; only a return is still possible.",
);

const ShipmentStatusSchema = enumeration(
  "ShipmentStatus",
  SHIPMENT_STATUSES,
  "`pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient. `returned`: came back. `voided`: never left; its lines are unshipped again. Tracking, or the completion of the order, makes a pending shipment `shipped`. The warehouse sets the others.",
);

/**
 * More values can occur: the sandbox and the back office can place a hold for any reason (docs/design/lifecycle.md, "Holds").
 */
const HoldReasonSchema = openEnumeration(
  "HoldReason",
  HOLD_REASONS,
  "A reason for a hold. More values may be added. `payment_failed`: a charge to the merchant was declined. `out_of_stock`: no facility has all of the goods. `address_unserviceable`: no facility ships to the address. `merchant_request`: the merchant asked for the hold.",
);

const testModeField = Type.Boolean({
  description: "True for a test order, which is never charged or shipped, and is erased after two hours.",
});

const lineFields = {
  productId: Type.String({ format: "uuid", description: "Id of the product." }),
  quantity: Type.Integer({ description: "Number of units." }),
};

const LineSchema = Type.Object(
  {
    id: idField("line", "Id of the line, set by the service."),
    ...lineFields,
    shipmentId: nullable(
      Type.String(),
      "Id of the shipment that contains the line. Null until the warehouse ships it, and again if the shipment is voided.",
    ),
    returnedQuantity: Type.Integer({
      description: "Number of units that came back, at most `quantity`. The warehouse records it.",
    }),
    canceledQuantity: Type.Integer({
      description:
        "Number of units that were canceled because they cannot be delivered: 0, or all of the line, which never ships then. If only a part of a line is canceled, that part is a line of its own behind it.",
    }),
  },
  { title: "OrderLine", description: "An ordered product and its quantity." },
);

export const ShipmentSchema = Type.Object(
  {
    id: idField("shp", "Id of the shipment, set by the service."),
    status: ShipmentStatusSchema,
    carrier: nullable(
      Type.String(),
      "Name of the carrier, as the warehouse writes it. Null if it was not set.",
    ),
    trackingNumber: nullable(Type.String(), "Tracking number. Null until the carrier has issued it."),
    trackingUrl: nullable(
      Type.String(),
      "Address where the shipment can be tracked, for the buyer. Null until the carrier has issued tracking.",
    ),
    createdAt: dateTime("When the shipment was created."),
    shippedAt: nullableTime(
      "When the service learned that the carrier has the shipment. Null while it is `pending`, if it came back before that was known, and if it was voided.",
    ),
    deliveredAt: nullableTime(
      "When the warehouse reported that the recipient has the shipment. Null until then.",
    ),
    lineIds: Type.Array(Type.String(), {
      description: "Ids of the lines that the shipment contains. Empty if it was voided.",
    }),
  },
  { title: "Shipment", description: "A shipment with lines of an order." },
);

export const CancelReasonSchema = enumeration(
  "CancelReason",
  CANCEL_REASONS,
  "Why units are canceled. More values may be added. `out_of_stock`: there are not enough. `damaged`: they cannot be sold. `discontinued`: there will be no more. `buyer_request`: the buyer does not want them any more. `other`: none of these.",
);

/** What an event shows of the lines that were canceled. */
export const canceledFields = {
  canceledLineIds: Type.Array(Type.String(), { description: "Ids of the lines that were canceled." }),
  reason: describedAs(CancelReasonSchema, "Why they were canceled."),
};

/** Lines that were canceled at once. */
export type CanceledUnits = { readonly lines: readonly OrderLine[]; readonly reason: CancelReason };

export const toWireCanceled = ({ lines, reason }: CanceledUnits) => ({
  canceledLineIds: lines.map(({ id }) => toTypeId("line", id)),
  reason,
});

const orderIdField = Type.String({
  description: "Id of the order, set by the service. Ids of test orders have the prefix `test_`.",
  examples: ["ord_01m7y7np16fe68bxp4h91tdmdn"],
});
const externalIdField = nullable(
  Type.String(),
  "The partner's own id of the order. Null if it was not sent.",
);
const createdAtField = dateTime("When the order was created. The acceptance window starts at this time.");

/**
 * The order object of the specification, part 2, with additions
 * (docs/design/lifecycle.md, "Fields of an order", and docs/design/creating-orders.md, "Note and metadata").
 */
export const OrderSchema = Type.Object(
  {
    id: orderIdField,
    testMode: testModeField,
    externalOrderId: externalIdField,
    status: OrderStatusSchema,
    onHold: Type.Boolean({
      description:
        "Whether the order is on hold. An order on hold is not shipped. A hold does not change `status`.",
    }),
    onHoldReasons: Type.Array(HoldReasonSchema, {
      description: "What must change before the order can proceed. Empty if the order is not on hold.",
      examples: [[OUT_OF_STOCK]],
    }),
    createdAt: createdAtField,
    updatedAt: dateTime("When the order last changed. It never goes back."),
    sequence: Type.Integer({
      minimum: 1,
      description:
        "Number of the last event of the order. Of several copies of an order, the one with the highest `sequence` is the latest, and among those the one with the latest `updatedAt`: a change without an event that counts moves that alone.",
    }),
    cancelableUntil: nullableTime(
      "Until when the API can cancel the order in its present state. Null if the API cannot cancel it.",
    ),
    shippingAddress: AddressSchema,
    note: noteField,
    metadata: metadataField,
    lines: Type.Array(LineSchema, {
      description:
        "The ordered products, in the order of the request. If only a part of a line has shipped or was canceled, the rest is a line of its own behind it.",
    }),
    shipments: Type.Array(ShipmentSchema, { description: "The shipments of the order, oldest first." }),
  },
  { title: "Order", description: "An order in its present state." },
);
type WireOrder = Static<typeof OrderSchema>;
type WireShipment = Static<typeof ShipmentSchema>;

/** The response of a creation (specification, part 2). */
export const CreatedOrderSchema = Type.Object(
  {
    id: orderIdField,
    testMode: testModeField,
    status: OrderStatusSchema,
    createdAt: createdAtField,
    externalOrderId: externalIdField,
    lines: Type.Array(
      Type.Object(lineFields, {
        title: "CreatedOrderLine",
        description: "An ordered product and its quantity.",
      }),
      { description: "The ordered products, in the order of the request." },
    ),
  },
  { title: "CreatedOrder", description: "The fields of an order that its creation returns." },
);
type WireCreatedOrder = Static<typeof CreatedOrderSchema>;

/** Without what stands for a name that the recipient does not have. */
function nameOf({ firstName, lastName }: Order["shippingAddress"]): string {
  const names = [firstName, lastName].filter((name) => name.trim() !== "-");
  return names.length === 0 ? firstName : names.join(" ");
}

/** The order object of reads, cancels, transitions and events. The order must be `asOf` now. */
export function toWireOrder(order: Order): WireOrder {
  const address = order.shippingAddress;
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    externalOrderId: order.externalOrderId,
    status: order.status,
    onHold: order.holdReasons.length > 0,
    onHoldReasons: [...order.holdReasons],
    createdAt: order.createdAt.toISOString(),
    updatedAt: order.updatedAt.toISOString(),
    sequence: order.lastSequence,
    cancelableUntil: cancelableUntil(order)?.toISOString() ?? null,
    shippingAddress: { ...address, name: address.name ?? nameOf(address) },
    note: order.note,
    metadata: { ...order.metadata },
    lines: order.lines.map((line) => ({
      id: toTypeId("line", line.id),
      productId: line.productId,
      quantity: line.quantity,
      shipmentId: line.shipmentId === null ? null : toTypeId("shp", line.shipmentId),
      returnedQuantity: line.returnedQuantity,
      canceledQuantity: canceledQuantity(line),
    })),
    shipments: order.shipments.map((shipment) => toWireShipment(order, shipment)),
  };
}

/** Texts that were made. An order is never changed, so its text is not either. */
const texts = new WeakMap<Order, string>();

/** The order object as JSON text. The order must be `asOf` now. */
export function orderText(order: Order): string {
  const made = texts.get(order) ?? JSON.stringify(toWireOrder(order));
  texts.set(order, made);
  return made;
}

export function toWireShipment(order: Order, shipment: Shipment): WireShipment {
  const covered = order.lines.filter((line) => line.shipmentId === shipment.id);
  return {
    id: toTypeId("shp", shipment.id),
    status: shipment.status,
    carrier: shipment.carrier,
    trackingNumber: shipment.trackingNumber,
    trackingUrl: shipment.trackingUrl,
    createdAt: shipment.createdAt.toISOString(),
    shippedAt: shipment.shippedAt?.toISOString() ?? null,
    deliveredAt: shipment.deliveredAt?.toISOString() ?? null,
    lineIds: covered.map((line) => toTypeId("line", line.id)),
  };
}

export function toWireCreatedOrder(order: Order): WireCreatedOrder {
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    status: order.status,
    createdAt: order.createdAt.toISOString(),
    externalOrderId: order.externalOrderId,
    lines: asRequested(order.lines),
  };
}

/** `orderId` of a path: the service's id, or else the partner's own. 1 to 200 characters (specification, part 8). */
export const OrderIdParams = Type.Object({
  orderId: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Id of the order, or the partner's own `externalOrderId`, percent-encoded.",
  }),
});

export function parseOrderRef(orderId: string): OrderRef {
  const real = fromTypeId("ord", orderId);
  if (real !== null) return { id: real, testMode: false, externalOrderId: orderId };
  const test = fromTypeId("test", orderId);
  return { id: test, testMode: test === null ? null : true, externalOrderId: orderId };
}
