import { labelOf, presentObject, presentText } from "./present.ts";

type Json = Readonly<Record<string, unknown>>;

/** The change that a command has made, in words. @param changed the response @param sent the body of the request */
export type OutcomeText = (changed: Json, sent: Json) => string;

/** The members of a response that outcomes use. */
type Order = {
  readonly status: string;
  readonly onHoldReasons: readonly string[];
  readonly lines: readonly Line[];
  readonly shipments: readonly Shipment[];
  readonly charges: readonly Charge[];
  readonly refunds: readonly (Json & { readonly id: string; readonly reference: string })[];
  readonly returns: readonly Return[];
  readonly cancellations: readonly Cancellation[];
};
type Line = {
  readonly id: string;
  readonly quantity: number;
  readonly shipmentId: string | null;
  readonly canceledQuantity: number;
};
type Cancellation = {
  readonly reference: string | null;
  readonly lineIds: readonly string[];
  readonly refundId: string | null;
};
type Shipment = {
  readonly id: string;
  readonly status: string;
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly lineIds: readonly string[];
};
type Charge = { readonly kind: string; readonly status: string; readonly amount: Json };
type Return = {
  readonly lines: readonly { readonly quantity: number }[];
  readonly restocked: boolean;
  readonly refundId: string | null;
};

type Action = { readonly name: string; readonly allowed: boolean };

const ofOrder =
  (say: (order: Order, sent: Json) => string): OutcomeText =>
  (changed, sent) =>
    `${say(changed as Order, sent)}\n`; // The response of an operation on an order.

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
const listed = (texts: readonly unknown[]): string => texts.map(presentText).join(", ");
const namedReasons = ({ reasons }: Json): string[] | null =>
  Array.isArray(reasons) ? reasons.map(String) : null;

/** `Approved. The order is ACCEPTED.` */
export const nowHasStatus = (verb: string): OutcomeText =>
  ofOrder(({ status }) => `${verb}. The order is ${status}.`);

export const held: OutcomeText = ofOrder(({ onHoldReasons }, sent) => {
  const placed = namedReasons(sent) ?? ["merchant_request"];
  const others = onHoldReasons.filter((reason) => !placed.includes(reason));
  return `Held: ${listed(placed)}.${others.length === 0 ? "" : ` Also on hold: ${listed(others)}.`}`;
});

export const released: OutcomeText = ofOrder(({ onHoldReasons }, sent) => {
  const named = namedReasons(sent);
  const what = named === null ? "Released." : `Released: ${listed(named)}.`;
  return `${what} ${onHoldReasons.length === 0 ? "The order is not on hold." : `Still on hold: ${listed(onHoldReasons)}.`}`;
});

export const shipped: OutcomeText = ofOrder(({ shipments, lines }) => {
  const shipment = shipments.at(-1); // Oldest first.
  if (shipment === undefined) return "Shipped.";
  const unshippedCount = lines.filter(
    ({ shipmentId, canceledQuantity }) => shipmentId === null && canceledQuantity === 0,
  ).length;
  const remaining =
    unshippedCount === 0
      ? "no line remains"
      : `${counted(unshippedCount, "line")} ${unshippedCount === 1 ? "remains" : "remain"}`;
  const carrier = [shipment.carrier, shipment.trackingNumber]
    .filter((part) => part !== null)
    .map(presentText);
  const verb = shipment.status === "pending" ? "Packed, not yet with the carrier" : "Shipped";
  const by = carrier.length === 0 ? "" : ` with ${carrier.join(" ")}`;
  return `${verb}: ${counted(shipment.lineIds.length, "line")}${by}, ${remaining}. Shipment ${shipment.id}.`;
});

export const canceled =
  (verb: string): OutcomeText =>
  (changed, sent) =>
    ofOrder(({ charges, status }) => {
      const refunds = charges.filter(({ kind, status: paid }) => kind === "refund" && paid !== "canceled");
      const amounts = refunds.map(({ amount }) => amount);
      return `${verb}. The order is ${status}.${amounts.length === 0 ? "" : ` Refunded to the merchant: ${listed(amounts)}.`}`;
    })(changed, sent);

export const canceledLines: OutcomeText = ofOrder(({ cancellations, lines, status }, { reference }) => {
  const made = cancellations.find((one) => one.reference === reference);
  const units = lines
    .filter(({ id }) => made?.lineIds.includes(id))
    .reduce((sum, { quantity }) => sum + quantity, 0);
  const refund =
    made === undefined || made.refundId === null ? "nothing to refund" : `refund ${made.refundId}`;
  return `Canceled: ${counted(units, "unit")}, ${refund}. The order is ${status}.`;
});

export const returned: OutcomeText = ofOrder(({ returns, status }) => {
  const latest = returns.at(-1); // Oldest first.
  if (latest === undefined) return `Returned. The order is ${status}.`;
  const units = counted(
    latest.lines.reduce((sum, { quantity }) => sum + quantity, 0),
    "unit",
  );
  const also = [latest.restocked ? "restocked" : null, latest.refundId === null ? null : "refund requested"];
  return `Returned: ${[units, ...also.filter((part) => part !== null)].join(", ")}. The order is ${status}.`;
});

export const refunded: OutcomeText = ofOrder(({ refunds }, { reference }) => {
  const refund = refunds.find((one) => one.reference === reference);
  return refund === undefined ? "Refunded." : `Refunded: ${listed([refund["amount"]])}. Refund ${refund.id}.`;
});

/** `Corrected: city, zip.` The expected version is a condition, and corrects nothing. */
export const corrected: OutcomeText = (_changed, { expectedVersion: _, ...sent }) =>
  `Corrected: ${Object.keys(sent).map(labelOf).join(", ")}.\n`;

/** The pick list and its orders, or why there is none. */
export const taken: OutcomeText = (response, { facilityId }) => {
  if (response["pickList"] !== null) return presentObject(response);
  return facilityId === undefined
    ? "No order was taken: none without a facility is free. Name a facility with --facility.\n"
    : "No order was taken: none is free at this facility.\n";
};

export const done =
  (sentence: string): OutcomeText =>
  () =>
    `${sentence}\n`;

/** An order, with the names of the actions that it allows now. `--json` has them all, with rules and effects. */
export const shownOrder: OutcomeText = (order) => {
  const actions = order["actions"] as readonly Action[]; // As every order of the back office has it.
  const allowed = actions.filter((action) => action.allowed).map(({ name }) => labelOf(name));
  return presentObject({ ...order, actions: allowed });
};

/** The id, and the members that the request has named, as they are now. */
export const changedMembers: OutcomeText = (changed, sent) =>
  presentObject({ ...(changed["id"] !== undefined && { id: changed["id"] }), ...pick(changed, sent) });

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pick = (from: Json, names: Json): Json =>
  Object.fromEntries(
    Object.entries(names).map(([name, named]) => {
      const value = from[name];
      return [
        name,
        isObject(value) && isObject(named) && !("currency" in value) ? pick(value, named) : value,
      ];
    }),
  );
