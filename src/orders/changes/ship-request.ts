import { type Static, Type } from "typebox";
import type {
  Order,
  OrderLine,
  Shipment,
  ShipmentChange,
  Tracking,
  Transition,
} from "../../lifecycle/order.ts";
import { LINES_MAX } from "../../lifecycle/parts.ts";
import { fromTypeId, type NewId } from "../../platform/ids.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import { enumeration, nullable, shortText } from "../../platform/wire/schemas.ts";
import { trackingNumberOf } from "./tracking-number.ts";

/**
 * The fields of a request that creates a shipment, in the sandbox and for the warehouse.
 *
 * @param use begins each description
 */
export const shipFields = (use = "") => ({
  lineIds: Type.Optional(
    lineIdsField(`${use}Ids of the lines that the shipment contains. Default: all unshipped lines.`),
  ),
  lines: Type.Optional(
    lineQuantitiesField(
      `${use}Lines with the number of units that ship, instead of \`lineIds\`. The other units of a line become a line of their own, with a new id. An order has at most ${LINES_MAX} lines.`,
    ),
  ),
  carrier: Type.Optional(carrierField(`${use}Name of the carrier.`)),
  trackingNumber: Type.Optional(trackingNumberField(`${use}Tracking number of the carrier.`)),
  trackingUrl: Type.Optional(trackingUrlField(`${use}Address where the shipment can be tracked.`)),
});
type ShipFields = ReturnType<typeof shipFields>;
export type ShipRequest = { [Field in keyof ShipFields]?: Static<ShipFields[Field]> } & {
  /** Only the warehouse weighs. */
  readonly weightGrams?: number;
  readonly repeatedTrackingNumber?: boolean;
};

/** A request to ship with its ids read, before the order is locked. */
export type ReadShipRequest = ShipRequest & { readonly named: NamedLines | null };

export const readShipRequest = (request: ShipRequest): ReadShipRequest => ({
  ...request,
  named: readLineIds(request.lineIds ?? request.lines?.map(({ lineId }) => lineId)),
});

/** The transition that a request to ship means for this order, or why it is not valid. */
export function toShip(order: Order, request: ReadShipRequest, newId: NewId): Transition | Problem {
  const { named, lines = [] } = request;
  const errors = shipErrors(order, request);
  if (errors.length > 0) return validationFailed(errors);
  return {
    name: "ship",
    lineIds: namedLines(named),
    parts: lines.map(({ lineId, quantity }) => ({
      lineId: fromTypeId("line", lineId) ?? "", // It was found among the lines of the order.
      quantity,
      restId: newId(),
    })),
    newShipmentId: newId(),
    tracking: toTracking(request),
    weightGrams: request.weightGrams ?? null,
  };
}

function shipErrors(order: Order, { named, lineIds, lines }: ReadShipRequest): ValidationError[] {
  if (lines === undefined) return lineErrors(order, named);
  if (lineIds !== undefined) return [{ pointer: "/lines", rule: "not_combinable", field: "lineIds" }];
  return lineQuantityErrors(order, lines, ({ quantity }) => quantity, "line_quantity");
}

/** The ids of lines that a request names, each read once. Null in place of a text that is no id. */
type NamedLines = readonly (string | null)[];

/** Reads `lineIds`. Null if it is absent, which means all unshipped lines. Called before the order is locked. */
export const readLineIds = (lineIds: readonly string[] | undefined): NamedLines | null =>
  lineIds?.map((text) => fromTypeId("line", text)) ?? null;

/** The lines that a request names; null for all unshipped lines. */
export const namedLines = (named: NamedLines | null): string[] | null =>
  named?.filter((id) => id !== null) ?? null;

/** An error for each id that names no line of the order. */
export function lineErrors(order: Pick<Order, "lines">, named: NamedLines | null): ValidationError[] {
  const ids = new Set(order.lines.map(({ id }) => id));
  return (named ?? []).flatMap((id, index) =>
    id !== null && ids.has(id)
      ? []
      : [{ pointer: `/lineIds/${index}`, rule: "not_found", kind: "order_line" }],
  );
}

/** Units of a line, as a request names them. */
export type LineQuantity = { readonly lineId: string; readonly quantity: number };

/**
 * An error for each item that names no line of the order, the same line as an earlier item, or more units than there
 * are. `quantityMax` is how many there are, and `rule` says so.
 */
export function lineQuantityErrors(
  order: Pick<Order, "lines">,
  requested: readonly LineQuantity[],
  quantityMax: (line: OrderLine) => number,
  rule: "line_quantity" | "shipped_quantity" | "refundable_quantity",
): ValidationError[] {
  const left = new Map(order.lines.map((line) => [line.id, line]));
  const taken = new Set<string>();
  return requested.flatMap(({ lineId, quantity }, index): ValidationError[] => {
    const id = fromTypeId("line", lineId) ?? "";
    const line = left.get(id);
    const pointer = `/lines/${index}/lineId`;
    if (line === undefined) return [{ pointer, rule: "not_found", kind: "order_line" }];
    if (taken.has(id)) return [{ pointer, rule: "duplicate_line" }];
    taken.add(id);
    const maximum = quantityMax(line);
    if (quantity <= maximum) return [];
    return [{ pointer: `/lines/${index}/quantity`, rule, max: maximum } as ValidationError]; // The rules have the parameter.
  });
}

/** The shipment that `shipmentId` names. Null if it is absent. */
export const namedShipment = (shipmentId: string | undefined): string | null =>
  shipmentId === undefined ? null : fromTypeId("shp", shipmentId);

export const shipmentErrors = (order: Order, shipmentId: string | undefined): ValidationError[] =>
  shipmentId === undefined || order.shipments.some(({ id }) => id === fromTypeId("shp", shipmentId))
    ? []
    : [{ pointer: "/shipmentId", rule: "not_found", kind: "shipment" }];

// Fields of requests that change an order. Test orders and real ones have the same limits.

export const holdReasonsField = (description: string, example: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100, format: "text" }), {
    minItems: 1,
    maxItems: 20,
    description,
    examples: [[example]],
  });

const lineIdsField = (description: string) =>
  Type.Array(Type.String({ maxLength: 255, format: "text", description: "Id of a line of the order." }), {
    maxItems: 100,
    description,
  });

export const lineQuantitiesField = (description: string) =>
  Type.Array(
    Type.Object(
      {
        lineId: Type.String({ maxLength: 255, format: "text", description: "Id of a line of the order." }),
        quantity: Type.Integer({ minimum: 1, maximum: 100_000, description: "Number of units." }),
      },
      { title: "LineQuantity", description: "Some or all units of a line." },
    ),
    { maxItems: LINES_MAX, description },
  );

export const shipmentIdField = (description: string) =>
  Type.String({ maxLength: 255, format: "text", description });

// Fields of requests that describe a shipment. The sandbox and the warehouse have the same limits.

/** Both are stored without spaces around them (`trackingText`). */
const TRIMMED = "Spaces around it are removed.";
const TAKEN_OUT =
  "If it is what a scanner reads on a label, such as `420` and a postal code before the number of USPS, or the long form of FedEx, the number that is printed is taken out of it, by its check digit; spaces between groups of digits are removed.";

export const carrierField = (description = "Name of the carrier.") =>
  shortText(`${description} ${TRIMMED}`, ["DHL"]);

export const trackingNumberField = (description = "Tracking number of the carrier.") =>
  shortText(`${description} ${TRIMMED} ${TAKEN_OUT}`);

export const repeatedNumberField = () =>
  Type.Boolean({
    description:
      "True: the tracking number is on another parcel, and that is meant. Without it, a number of another shipment that is `pending` or `shipped` is rejected with the rule `tracking_number_repeated`, and `orderId` and `shipmentId` of that one. Default: false.",
  });

export const weightField = () =>
  Type.Integer({
    minimum: 1,
    maximum: 2_000_000_000,
    description: "Weight of the parcel as it was weighed, in grams. Absent: it was not weighed.",
  });

export const trackingUrlField = (description = "Address where the shipment can be tracked.") =>
  Type.String({
    maxLength: 2_000,
    format: "web-address",
    description: `${description} If it is absent, the service makes it from the carrier and the number, for large carriers.`,
  });

/** The tracking pages of large carriers. `{number}` is replaced by the tracking number. */
const TRACKING_PAGES: Readonly<Record<string, string>> = {
  ups: "https://www.ups.com/track?tracknum={number}",
  fedex: "https://www.fedex.com/fedextrack/?trknbr={number}",
  usps: "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}",
  dhl: "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}",
  dpd: "https://tracking.dpd.de/parcelstatus?query={number}&locale=en",
  gls: "https://gls-group.com/track/{number}",
  royalmail: "https://www.royalmail.com/track-your-item#/tracking-results/{number}",
  evri: "https://www.evri.com/track/parcel/{number}",
  postnl: "https://postnl.nl/tracktrace/?B={number}",
  laposte: "https://www.laposte.fr/outils/suivre-vos-envois?code={number}",
  chronopost: "https://www.chronopost.fr/tracking-no-cms/suivi-page?listeNumerosLT={number}",
  correos: "https://www.correos.es/es/en/tools/tracker/items/details?tracking-number={number}",
  posteitaliane: "https://www.poste.it/cerca/index.html#/risultati-spedizioni/{number}",
  austrianpost: "https://www.post.at/en/s/shipment-details?sendungsnummer={number}",
  swisspost: "https://service.post.ch/ekp-web/ui/list?formattedParcelCodes={number}",
  canadapost: "https://www.canadapost-postescanada.ca/track-reperage/en#/details/{number}",
  auspost: "https://auspost.com.au/mypost/track/#/details/{number}",
};

/** Other names for them. */
const ALIASES: Readonly<Record<string, string>> = {
  unitedparcelservice: "ups",
  federalexpress: "fedex",
  unitedstatespostalservice: "usps",
  deutschepost: "dhl",
  dhlexpress: "dhl",
  dhlparcel: "dhl",
  hermes: "evri",
  colissimo: "laposte",
  australiapost: "auspost",
};

/**
 * The tracking page of a carrier. Null if the carrier is not in the list. Case and punctuation of the name do not
 * matter.
 */
export function trackingUrlOf(carrier: string | null, trackingNumber: string | null): string | null {
  if (carrier === null || trackingNumber === null) return null;
  const name = carrier.toLowerCase().replace(/[^a-z0-9]/g, "");
  const page = TRACKING_PAGES[ALIASES[name] ?? name];
  return page?.replace("{number}", encodeURIComponent(trackingNumber.replace(/\s+/g, ""))) ?? null;
}

/**
 * A carrier or a tracking number as it is stored. Copied ones often have spaces around them. A scan is compared with the whole
 * number, and would not find it. Null if nothing else is left.
 */
const trackingText = (text: string | null): string | null => text?.trim() || null;

/** A number as it is stored, with what was scanned if that had more. */
function readNumber(
  text: string | null,
  carrier: string | null,
): Pick<Shipment, "trackingNumber" | "scannedTrackingNumber"> {
  const scanned = trackingText(text);
  const trackingNumber = scanned === null ? null : trackingNumberOf(scanned, carrier);
  return { trackingNumber, scannedTrackingNumber: trackingNumber === scanned ? null : scanned };
}

/** The tracking of a new shipment. Absent fields are unknown. */
function toTracking(request: Partial<Tracking>): Tracking {
  const carrier = trackingText(request.carrier ?? null);
  const number = readNumber(request.trackingNumber ?? null, carrier);
  const trackingUrl = request.trackingUrl ?? trackingUrlOf(carrier, number.trackingNumber);
  return { carrier, ...number, trackingUrl };
}

/** The fields of a change of a shipment, in the sandbox and for the warehouse. Null removes a text. */
export const shipmentChangeFields = {
  carrier: Type.Optional(
    nullable(carrierField(), "Name of the carrier, without the spaces around it. Null removes it."),
  ),
  trackingNumber: Type.Optional(
    nullable(
      trackingNumberField(),
      "Tracking number of the carrier, without the spaces around it. Null removes it.",
    ),
  ),
  trackingUrl: Type.Optional(
    nullable(
      trackingUrlField(),
      "Address where the shipment can be tracked. Null removes it. If it is absent, a new number or carrier replaces it.",
    ),
  ),
  status: Type.Optional(
    enumeration(
      "ShipmentProgress",
      ["pending", "shipped", "delivered"],
      "`pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient.",
    ),
  ),
};

/**
 * The transition that a change of a shipment means. If the request has no tracking address, a new number replaces the
 * address, which belongs to the old number.
 */
export function toShipmentUpdate(
  order: Order,
  shipmentId: string,
  requested: ShipmentChange,
): Extract<Transition, { name: "updateShipment" }> {
  const shipment = order.shipments.find(({ id }) => id === shipmentId);
  const namedCarrier = requested.carrier === undefined ? undefined : trackingText(requested.carrier);
  const ofCarrier = namedCarrier === undefined ? (shipment?.carrier ?? null) : namedCarrier;
  const change = {
    ...requested,
    ...(namedCarrier !== undefined && { carrier: namedCarrier }),
    ...(requested.trackingNumber !== undefined && readNumber(requested.trackingNumber, ofCarrier)),
  };
  const asSent = { name: "updateShipment", shipmentId, change } as const;
  if (shipment === undefined || requested.trackingUrl !== undefined) return asSent;
  const { carrier, trackingNumber } = { ...shipment, ...change };
  const isSameNumber = trackingNumber === shipment.trackingNumber;
  if (isSameNumber && carrier === shipment.carrier) return asSent;
  const trackingUrl = trackingUrlOf(carrier, trackingNumber) ?? (isSameNumber ? shipment.trackingUrl : null);
  return { ...asSent, change: { ...change, trackingUrl } };
}
