import {
  ADDRESS_UNSERVICEABLE,
  type LinePart,
  type Order,
  type OrderLine,
  type Shipment,
  type ShipmentStatus,
  type ShippingAddress,
  type Tracking,
  type Transition,
  type TransitionRule,
} from "./order.ts";

const UNTRACKED: Tracking = { carrier: null, trackingNumber: null, trackingUrl: null };

/** True if a carrier has issued tracking. A carrier's name alone is no tracking. */
export const isTracked = ({
  trackingNumber,
  trackingUrl,
}: Pick<Shipment, "trackingNumber" | "trackingUrl">): boolean =>
  trackingNumber !== null || trackingUrl !== null;

/**
 * A shipment that has tracking was handed to the carrier, unless the request says otherwise
 * (docs/design/lifecycle.md, "Shipments").
 */
export function newShipment(
  { newShipmentId: id, tracking = UNTRACKED, weightGrams = null }: Extract<Transition, { name: "ship" }>,
  now: Date,
): Shipment {
  const pending: Shipment = {
    id,
    status: "pending",
    scannedTrackingNumber: null,
    ...tracking,
    createdAt: now,
    shippedAt: null,
    handoverReported: false,
    deliveredAt: null,
    weightGrams,
  };
  return isTracked(tracking) ? withStatus(pending, "shipped", now) : pending;
}

/** Null if the shipment is missing, has come back or was voided. The same list if nothing changes. */
export function changeShipment(
  shipments: readonly Shipment[],
  { shipmentId, change }: Extract<Transition, { name: "updateShipment" }>,
  now: Date,
): readonly Shipment[] | null {
  const shipment = shipments.find(({ id }) => id === shipmentId);
  if (shipment === undefined || !isOut(shipment)) return null;
  const { carrier, trackingNumber, scannedTrackingNumber, trackingUrl, status } = { ...shipment, ...change };
  const tracked = { ...shipment, carrier, trackingNumber, scannedTrackingNumber, trackingUrl };
  const isHandedOver = change.status === undefined && isTracked(tracked) && !isTracked(shipment);
  const handoverReported =
    change.status === undefined ? shipment.handoverReported : change.status !== "pending";
  const changed = {
    ...withStatus(tracked, isHandedOver && status === "pending" ? "shipped" : status, now),
    handoverReported,
  };
  const isSame = isSameForPartners(shipment, changed) && handoverReported === shipment.handoverReported;
  return isSame ? shipments : replace(shipments, changed);
}

/**
 * A completed order has no pending shipment: what is complete has left the warehouse (docs/design/lifecycle.md, "Shipments").
 */
export const allShipped = (shipments: readonly Shipment[], now: Date): readonly Shipment[] =>
  shipments.some(isPending)
    ? shipments.map((shipment) => (isPending(shipment) ? withStatus(shipment, "shipped", now) : shipment))
    : shipments;

const isPending = ({ status }: Shipment): boolean => status === "pending";

/** The shipment with a status, and with the times that go with it. A time that is known already stays. */
function withStatus(shipment: Shipment, status: ShipmentStatus, now: Date): Shipment {
  switch (status) {
    case "pending":
      return { ...shipment, status, shippedAt: null, deliveredAt: null };
    case "shipped":
      return { ...shipment, status, shippedAt: shipment.shippedAt ?? now, deliveredAt: null };
    case "delivered":
      return {
        ...shipment,
        status,
        shippedAt: shipment.shippedAt ?? now,
        deliveredAt: shipment.deliveredAt ?? now,
      };
    case "returned":
    case "voided":
      return { ...shipment, status };
    default:
      return status satisfies never;
  }
}

/** True if a shipment has not changed for partners. */
export const isSameForPartners = (one: Shipment, other: Shipment): boolean =>
  one.status === other.status &&
  one.carrier === other.carrier &&
  one.trackingNumber === other.trackingNumber &&
  one.trackingUrl === other.trackingUrl;

const replace = (shipments: readonly Shipment[], changed: Shipment): Shipment[] =>
  shipments.map((shipment) => (shipment.id === changed.id ? changed : shipment));

/** Corrections of one order. Each adds to its timeline, and can add to its ledger. */
export const ADDRESS_CORRECTIONS_MAX = 20;

type Correction = Extract<Transition, { name: "updateShippingAddress" }>;

/**
 * The changes of an order by a correction of its address, or the rule that forbids it
 * (docs/design/lifecycle.md, "Corrected addresses").
 */
type Corrected = Partial<Order> | TransitionRule | null;

/** True if the order would get another address. A repeated correction changes nothing. */
export const changesAddress = (
  order: Pick<Order, "shippingAddress">,
  change: Correction["change"],
): boolean => !isSameAddress({ ...order.shippingAddress, ...change }, order.shippingAddress);

/** Null if nothing changes. Routing depends on the country alone, so an order keeps its route within the country. */
export function correctAddress(order: Order, { change, isShippingPending }: Correction): Corrected {
  if (!changesAddress(order, change)) return null;
  const shippingAddress = { ...order.shippingAddress, ...change };
  if (hasShipped(order)) return "already_shipped";
  if (order.routedAt === null) return { shippingAddress, holdReasons: holdsAfter(order) };
  if (shippingAddress.countryCode === order.shippingAddress.countryCode) return { shippingAddress };
  // Only an accepted order is routed. After a void, one that is in progress keeps its route.
  if (order.status === "IN_PROGRESS") return "other_country";
  // What the new route costs in addition is known only when the present charge has been paid.
  if (isShippingPending) return "shipping_charge_pending";
  return { shippingAddress, routedAt: null, facilityId: null };
}

/** Before its acceptance, an order that was held for its address is held no longer. After it, routing decides. */
function holdsAfter({ status, holdReasons }: Order): readonly string[] {
  if (status === "ACCEPTED" || !holdReasons.includes(ADDRESS_UNSERVICEABLE)) return holdReasons;
  return holdReasons.filter((reason) => reason !== ADDRESS_UNSERVICEABLE);
}

function isSameAddress(one: ShippingAddress, other: ShippingAddress): boolean {
  const texts = new Map<string, string | null>(Object.entries(other));
  return Object.entries(one).every(([field, text]) => texts.get(field) === text);
}

/** docs/design/lifecycle.md, "Partial quantities": an order of as many lines as possible can split each of them once. */
export const LINES_MAX = 200;

/** The line of the request that a line is, or was split from. */
const requestedId = ({ id, splitFrom }: OrderLine): string => splitFrom ?? id;

/** The lines in the order of the request, those that were split from one line beside each other. */
export const inRequestOrder = (lines: readonly OrderLine[]): readonly OrderLine[] =>
  lines.every(({ splitFrom }) => splitFrom === null)
    ? lines
    : [...Map.groupBy(lines, requestedId).values()].flat();

/** The lines as they were requested. The quantities of split lines are added up again. */
export const asRequested = (lines: readonly OrderLine[]): Pick<OrderLine, "productId" | "quantity">[] =>
  [...Map.groupBy(lines, requestedId).values()].map((parts) => ({
    productId: parts[0]?.productId ?? "", // A group is never empty.
    quantity: parts.reduce((sum, { quantity }) => sum + quantity, 0),
  }));

/**
 * Splits lines of which only some units ship. The line keeps these; the other units become a new line behind those
 * of the same line of the request. A part that is the whole line splits nothing.
 */
export function splitLines(lines: readonly OrderLine[], parts: readonly LinePart[]): readonly OrderLine[] {
  const partOf = new Map(parts.map((part) => [part.lineId, part]));
  const rests: OrderLine[] = [];
  const kept = lines.map((line) => {
    const part = partOf.get(line.id);
    if (part === undefined || part.quantity >= line.quantity) return line;
    const quantity = line.quantity - part.quantity;
    rests.push({ ...line, id: part.restId, quantity, splitFrom: requestedId(line) });
    return { ...line, quantity: part.quantity };
  });
  return inRequestOrder([...kept, ...rests.sort((one, other) => (one.id < other.id ? -1 : 1))]);
}

/** True if a line has neither shipped nor been canceled. */
export const isOpen = ({
  shipmentId,
  cancellationId,
}: Pick<OrderLine, "shipmentId" | "cancellationId">): boolean =>
  shipmentId === null && cancellationId === null;

/** The canceled units of a line: all of them or none. */
export const canceledQuantity = ({
  quantity,
  cancellationId,
}: Pick<OrderLine, "quantity" | "cancellationId">): number => (cancellationId === null ? 0 : quantity);

/**
 * The lines after units of them were canceled, or the rule that forbids it. What is left of a line keeps its id and the canceled units
 * become a line of their own, so that a line is canceled whole or not at all (docs/design/lifecycle.md, "Canceled lines").
 */
export function cancelLines(
  { lines, shipments }: Pick<Order, "lines" | "shipments">,
  { parts, cancellationId }: Extract<Transition, { name: "cancelLines" }>,
): readonly OrderLine[] | "nothing_to_cancel" | "whole_order" | "too_many_lines" {
  const open = new Map(lines.filter(isOpen).map((line) => [line.id, line.quantity]));
  if (parts.length === 0 || parts.some(({ lineId }) => !open.has(lineId))) return "nothing_to_cancel";
  const kept = parts.flatMap((part) => {
    const quantity = (open.get(part.lineId) ?? 0) - part.quantity;
    return quantity > 0 ? [{ ...part, quantity }] : [];
  });
  const split = splitLines(lines, kept);
  if (split.length > Math.max(LINES_MAX, lines.length)) return "too_many_lines";
  const keptIds = new Set(kept.map(({ lineId }) => lineId));
  const canceledIds = new Set(parts.map(({ lineId, restId }) => (keptIds.has(lineId) ? restId : lineId)));
  const after = split.map((line) => (canceledIds.has(line.id) ? { ...line, cancellationId } : line));
  return after.some(isOpen) || shipmentsOut({ shipments }).length > 0 ? after : "whole_order";
}

/** The lines that were canceled between two states of an order. */
export function canceledBetween(
  before: Pick<Order, "lines">,
  after: Pick<Order, "lines">,
): readonly OrderLine[] {
  const earlier = new Set(
    before.lines.filter(({ cancellationId }) => cancellationId !== null).map(({ id }) => id),
  );
  return after.lines.filter(({ id, cancellationId }) => cancellationId !== null && !earlier.has(id));
}

/**
 * The units of each line whose price has not been returned, by the ids of the lines: canceled units were refunded when they were
 * canceled, or before. If a line was split since, units that were refunded of it are those of the lines that came out of it, of
 * canceled ones first.
 */
export function refundableUnits(
  lines: readonly OrderLine[],
  refunds: readonly { readonly lines: readonly { readonly lineId: string; readonly quantity: number }[] }[],
): ReadonlyMap<string, number> {
  const refunded = new Map<string, number>();
  for (const { lineId, quantity } of refunds.flatMap((refund) => refund.lines))
    refunded.set(lineId, (refunded.get(lineId) ?? 0) + quantity);
  const beyond = new Map<string, number>();
  const kept = lines.map((line) => {
    const own = refunded.get(line.id) ?? 0;
    const requested = requestedId(line);
    beyond.set(requested, (beyond.get(requested) ?? 0) + Math.max(0, own - line.quantity));
    return {
      line,
      requested,
      left: Math.max(0, line.quantity - own),
      isCanceled: line.cancellationId !== null,
    };
  });
  const canceledFirst = kept.toSorted((one, other) => Number(other.isCanceled) - Number(one.isCanceled));
  return new Map(
    canceledFirst.map(({ line, requested, left, isCanceled }) => {
      const more = Math.min(left, beyond.get(requested) ?? 0);
      beyond.set(requested, (beyond.get(requested) ?? 0) - more);
      return [line.id, isCanceled ? 0 : left - more];
    }),
  );
}

/** A line whose units became fewer, and the new line with the others. */
export type LineSplit = { readonly line: OrderLine; readonly rest: OrderLine };

/**
 * The splits between two states of an order. After a void, several lines of one line of the request can be split at once. Their
 * goods are the same, so each new line belongs to any that has lost as many units.
 */
export function splitsBetween(before: Pick<Order, "lines">, after: Pick<Order, "lines">): LineSplit[] {
  const stored = new Map(before.lines.map((line) => [line.id, line]));
  const lost = (line: OrderLine) => (stored.get(line.id)?.quantity ?? line.quantity) - line.quantity;
  const reduced = new Set(after.lines.filter((line) => lost(line) > 0));
  return after.lines
    .filter(({ id }) => !stored.has(id))
    .flatMap((rest) => {
      const line = [...reduced].find(
        (each) => requestedId(each) === requestedId(rest) && lost(each) === rest.quantity,
      );
      if (line === undefined) return [];
      reduced.delete(line);
      return [{ line, rest }];
    });
}

/** The units of a line that have shipped and not come back. */
export const quantityOut = ({ quantity, returnedQuantity, shipmentId }: OrderLine): number =>
  shipmentId === null ? 0 : quantity - returnedQuantity;

/** The shipments that have neither come back nor been voided, oldest first. */
export const shipmentsOut = ({ shipments }: Pick<Order, "shipments">): Shipment[] => shipments.filter(isOut);

const isOut = ({ status }: Shipment): boolean => status !== "returned" && status !== "voided";

/** True if something of the order has shipped, and was not voided. What came back has shipped. */
export const hasShipped = ({ shipments }: Pick<Order, "shipments">): boolean =>
  shipments.some(({ status }) => status !== "voided");

/**
 * The order without a shipment that never left: its lines are unshipped again. Or the rule that forbids it: a carrier has it, or
 * some of it came back (docs/design/lifecycle.md, "Voided shipments").
 */
export function voidShipment(
  { lines, shipments }: Order,
  shipmentId: string,
): Pick<Order, "lines" | "shipments"> | "no_shipment_out" | "shipment_left" {
  const shipment = shipments.find(({ id }) => id === shipmentId);
  if (shipment === undefined || !isOut(shipment)) return "no_shipment_out";
  const isOfShipment = (line: OrderLine) => line.shipmentId === shipmentId;
  const hasReturns = lines.some((line) => isOfShipment(line) && line.returnedQuantity > 0);
  if (shipment.handoverReported || hasReturns) return "shipment_left";
  return {
    lines: lines.map((line) => (isOfShipment(line) ? { ...line, shipmentId: null } : line)),
    shipments: replace(shipments, { ...shipment, status: "voided", shippedAt: null }),
  };
}

/** The parts of an order that a return changes, and the shipments that it completes. */
export type Returned = Pick<Order, "lines" | "shipments"> & { readonly returnedIds: readonly string[] };

/**
 * The order after units have come back: those that are named, or all of a shipment. A shipment of which nothing is out any more
 * is `returned` (docs/design/lifecycle.md, "Returns"). Null if no such shipment is out, or fewer units.
 */
export function returnUnits(
  order: Order,
  { shipmentId, lines }: Extract<Transition, { name: "returnShipment" }>,
): Returned | null {
  const out = shipmentsOut(order);
  if (lines === undefined) {
    const shipment = shipmentId === null ? out.at(-1) : out.find(({ id }) => id === shipmentId);
    return shipment === undefined ? null : withReturned(order, ofShipment(order, shipment), [shipment]);
  }
  const requested = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  const named = order.lines.filter(({ id }) => requested.has(id));
  const isOut = (line: OrderLine) => quantityOut(line) >= (requested.get(line.id) ?? 0);
  const touched = out.filter(({ id }) => named.some((line) => line.shipmentId === id));
  const ids = new Set(touched.map(({ id }) => id));
  if (named.length === 0 || !named.every((line) => isOut(line) && ids.has(line.shipmentId ?? "")))
    return null;
  return withReturned(order, requested, touched);
}

/** All units of the shipment's lines that are still out. */
const ofShipment = ({ lines }: Order, { id }: Shipment): ReadonlyMap<string, number> =>
  new Map(lines.filter(({ shipmentId }) => shipmentId === id).map((line) => [line.id, quantityOut(line)]));

function withReturned(
  order: Order,
  requested: ReadonlyMap<string, number>,
  touched: readonly Shipment[],
): Returned {
  const lines = order.lines.map((line) => {
    const quantity = requested.get(line.id) ?? 0;
    return quantity === 0 ? line : { ...line, returnedQuantity: line.returnedQuantity + quantity };
  });
  const isBack = ({ id }: Shipment) =>
    lines.every((line) => line.shipmentId !== id || quantityOut(line) === 0);
  const returnedIds = touched.filter(isBack).map(({ id }) => id);
  return {
    lines,
    shipments: order.shipments.map((shipment) =>
      returnedIds.includes(shipment.id) ? { ...shipment, status: "returned" } : shipment,
    ),
    returnedIds,
  };
}

/** The lines whose shipment was voided between two states of an order. */
export function unshippedBetween(
  before: Pick<Order, "lines">,
  after: Pick<Order, "lines">,
): readonly OrderLine[] {
  const shipped = new Set(before.lines.filter(({ shipmentId }) => shipmentId !== null).map(({ id }) => id));
  return after.lines.filter(({ id, shipmentId }) => shipmentId === null && shipped.has(id));
}

/** Units of a line that came back. `line` is the line after that. */
export type ReturnedUnits = { readonly line: OrderLine; readonly quantity: number };

/** The goods that came back between two states of an order. */
export const returnedBetween = (
  before: Pick<Order, "lines">,
  after: Pick<Order, "lines">,
): ReturnedUnits[] => {
  const earlier = new Map(before.lines.map(({ id, returnedQuantity }) => [id, returnedQuantity]));
  return after.lines.flatMap((line) => {
    const quantity = line.returnedQuantity - (earlier.get(line.id) ?? 0);
    return quantity > 0 ? [{ line, quantity }] : [];
  });
};
