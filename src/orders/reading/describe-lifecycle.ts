import type { Actor } from "../../lifecycle/applied-transition.ts";
import { applyTransition, isSettled } from "../../lifecycle/lifecycle.ts";
import {
  MERCHANT_REQUEST,
  ORDER_STATUSES,
  type Order,
  type OrderLine,
  type OrderStatus,
  OUT_OF_STOCK,
  PAYMENT_FAILED,
  type ShippingAddress,
  type Transition,
  type TransitionName,
  type TransitionRule,
} from "../../lifecycle/order.ts";
import { isOpen, LINES_MAX } from "../../lifecycle/parts.ts";
import { type EventType, OPT_IN_EVENT_TYPES } from "../../webhooks/events/event.ts";
import { optInsOf } from "../changes/order-events.ts";

/** What a transition does to orders in some statuses. */
type Effect = {
  readonly from: readonly OrderStatus[];
  /** The hold reason without which it has another effect, or is rejected. Null if it depends on none. */
  readonly onlyOnHoldFor: string | null;
  /** Null: the status stays. */
  readonly to: OrderStatus | null;
  readonly eventTypes: readonly EventType[];
  /** What endpoints that name it can get in addition. */
  readonly optInEventTypes: readonly EventType[];
};

export type Rejection = { readonly from: readonly OrderStatus[]; readonly rule: TransitionRule };

export type DescribedTransition = {
  readonly transition: DescribedName;
  readonly by: readonly Cause[];
  readonly effects: readonly Effect[];
  /** Of requests of partners. The back office has rules of its own. */
  readonly rejections: readonly Rejection[];
};

type DescribedLifecycle = {
  readonly statuses: readonly {
    readonly status: OrderStatus;
    readonly isInitial: boolean;
    readonly isSettled: boolean;
  }[];
  readonly realOrders: readonly DescribedTransition[];
  readonly testOrders: readonly DescribedTransition[];
};

type Cause = Exclude<Actor["kind"], "support" | "monitoring">;
type Causes = Readonly<Partial<Record<DescribedName, readonly Cause[]>>>;

/** Who can cause each transition of a real order. A test compares it with the routes of the back office. */
const REAL_ORDER_CAUSES = {
  cancelByPartner: ["partner"],
  accept: ["service"],
  approve: ["operator", "warehouse"],
  reject: ["operator", "warehouse"],
  hold: ["operator", "warehouse", "merchant", "service"],
  releaseHold: ["operator", "warehouse", "merchant", "service"],
  updateShippingAddress: ["operator", "merchant"],
  ship: ["operator", "warehouse"],
  updateShipment: ["operator", "warehouse"],
  voidShipment: ["operator", "warehouse"],
  cancelLines: ["operator", "merchant"],
  complete: ["operator", "warehouse", "service"],
  cancel: ["operator", "merchant"],
  returnShipment: ["operator", "warehouse"],
} as const satisfies Causes;

/** Partners move their test orders, report tracking, and cancel them as they cancel real ones. */
const TEST_ORDER_CAUSES: Causes = {
  cancelByPartner: ["partner"],
  process: ["partner"],
  accept: ["partner"],
  hold: ["partner"],
  releaseHold: ["partner"],
  ship: ["partner"],
  updateShipment: ["partner"],
  complete: ["partner"],
  cancel: ["partner"],
  returnShipment: ["partner"],
};

/** `addHold`, by which the service places a hold, is a `hold` here. */
export const DESCRIBED_NAMES = [
  "cancelByPartner",
  "process",
  "accept",
  "approve",
  "reject",
  "hold",
  "releaseHold",
  "updateShippingAddress",
  "ship",
  "updateShipment",
  "voidShipment",
  "cancelLines",
  "complete",
  "cancel",
  "returnShipment",
] as const satisfies readonly TransitionName[];
type DescribedName = (typeof DESCRIBED_NAMES)[number];

/** The statuses in which an order is created. */
const INITIAL: readonly OrderStatus[] = ["NEW", "PROCESSING"];
let described: DescribedLifecycle | undefined;

/**
 * The lifecycle as data: what its function decides about every kind of order that transitions can lead to
 * (docs/design/lifecycle.md, "The lifecycle as data"). It is made once, in milliseconds.
 */
export function describeLifecycle(): DescribedLifecycle {
  described ??= {
    statuses: ORDER_STATUSES.map((status) => ({
      status,
      isInitial: INITIAL.includes(status),
      isSettled: isSettled({ status }),
    })),
    realOrders: transitionsOf(false, REAL_ORDER_CAUSES),
    testOrders: transitionsOf(true, TEST_ORDER_CAUSES),
  };
  return described;
}

/** One answer of the lifecycle. */
type Decision = {
  readonly name: DescribedName;
  readonly from: OrderStatus;
  readonly holdReasons: readonly string[];
} & (
  | { readonly rule: TransitionRule }
  | { readonly rule: null; readonly to: OrderStatus; readonly types: readonly EventType[] }
);

function transitionsOf(testMode: boolean, causes: Causes): DescribedTransition[] {
  const names = DESCRIBED_NAMES.filter((name) => name in causes);
  const decisions = decisionsOf(testMode, names);
  return names.map((transition) => {
    const by = causes[transition] ?? [];
    const own = decisions.filter(({ name }) => name === transition);
    return {
      transition,
      by,
      effects: effectsOf(own),
      rejections: by.includes("partner") ? rejectionsOf(own) : [],
    };
  });
}

const isOptIn = (type: EventType): boolean => (OPT_IN_EVENT_TYPES as readonly EventType[]).includes(type);

function effectsOf(decisions: readonly Decision[]): Effect[] {
  const applied = decisions.filter((decision) => decision.rule === null);
  const effects = groupedBy(applied, ({ from, to, types }) => ({
    to: from === to ? null : to,
    eventTypes: types.filter((type) => !isOptIn(type)),
  }));
  return effects.flatMap(([effect, same]) =>
    groupedBy(statusesOf(same), (status) => dependencies(same.filter(({ from }) => from === status))).map(
      ([more, from]) => ({ from, ...effect, ...more }),
    ),
  );
}

/** Items by equal data about them. */
function groupedBy<Item, Data>(items: readonly Item[], dataOf: (item: Item) => Data): [Data, Item[]][] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(dataOf(item)));
  return [...groups].map(([data, group]) => [JSON.parse(data) as Data, group]); // As it was written in the line above.
}

/** What effects in one status have in common. */
function dependencies(
  effects: readonly Extract<Decision, { rule: null }>[],
): Pick<Effect, "onlyOnHoldFor" | "optInEventTypes"> {
  const isForPayment = effects.every(({ holdReasons }) => holdReasons.includes(PAYMENT_FAILED));
  const types = new Set(effects.flatMap((effect) => effect.types));
  return {
    onlyOnHoldFor: isForPayment ? PAYMENT_FAILED : null,
    optInEventTypes: OPT_IN_EVENT_TYPES.filter((type) => types.has(type)),
  };
}

function rejectionsOf(decisions: readonly Decision[]): Rejection[] {
  const rejected = decisions.filter((decision) => decision.rule !== null);
  return [...Map.groupBy(rejected, ({ rule }) => rule)].map(([rule, same]) => ({
    rule,
    from: statusesOf(same),
  }));
}

const statusesOf = (decisions: readonly Decision[]): OrderStatus[] =>
  ORDER_STATUSES.filter((status) => decisions.some(({ from }) => from === status));

/** A moment at which no deadline passes. */
const NOW = new Date(0);

/**
 * What the lifecycle decides about every kind of order that transitions lead to, beginning with new orders of two lines. Orders are of
 * one kind if they have the same status, the same holds, and the same state of each line.
 */
function decisionsOf(testMode: boolean, names: readonly DescribedName[]): Decision[] {
  const orders = INITIAL.map((status) => newOrder(testMode, status, 2));
  const seen = new Set(orders.map(kindOf));
  const decisions: Decision[] = [];
  for (const order of orders)
    for (const name of names)
      for (const transition of requestsOf(order, name)) {
        const { after, ...decision } = decide(order, name, transition);
        decisions.push(decision);
        if (seen.has(kindOf(after))) continue;
        seen.add(kindOf(after));
        orders.push(after); // The loop continues with it.
      }
  // One rule is about a number: an order has as many lines as possible, and one of them is to be split.
  for (const status of ORDER_STATUSES.filter((each) => !isSettled({ status: each }))) {
    const order = newOrder(testMode, status, LINES_MAX, 2);
    const parts = order.lines.slice(0, 1).map(({ id }) => ({ lineId: id, quantity: 1, restId: NEW_ID }));
    decisions.push(decide(order, "ship", { name: "ship", lineIds: null, parts, newShipmentId: NEW_ID }));
  }
  return decisions;
}

/** Also the order after it. */
function decide(order: Order, name: DescribedName, transition: Transition): Decision & { after: Order } {
  const outcome = applyTransition(order, transition, NOW);
  const { order: after } = outcome;
  const before = { name, from: order.status, holdReasons: order.holdReasons };
  if (outcome.outcome === "rejected") return { ...before, rule: outcome.rule, after };
  const optIns = after === order ? [] : optInsOf({ before: order, after });
  const types = new Set([...outcome.facts, ...optIns].map(({ type }) => type));
  return { ...before, rule: null, to: after.status, types: [...types], after };
}

const kindOf = ({ status, holdReasons, lines, shipments }: Order): string =>
  JSON.stringify([
    status,
    holdReasons.toSorted(),
    lines.map(({ shipmentId, cancellationId, returnedQuantity }) => {
      const shipment = shipments.find(({ id }) => id === shipmentId);
      const together = lines.filter((line) => line.shipmentId === shipmentId).length;
      return [shipment?.status, shipment?.handoverReported, together, cancellationId, returnedQuantity];
    }),
  ]);

/** The requests that can differ in what is decided about them. */
function requestsOf(order: Order, name: DescribedName): Transition[] {
  const { lines, shipments, holdReasons } = order;
  switch (name) {
    case "hold":
      // Of a real order the service adds the failed payment, and people other reasons.
      return [
        { name, reasons: [OUT_OF_STOCK] },
        { name, reasons: [MERCHANT_REQUEST] },
        { name: order.testMode ? name : "addHold", reasons: [PAYMENT_FAILED] },
      ];
    case "releaseHold":
      return [
        { name },
        ...(order.testMode ? [] : holdReasons.map((reason) => ({ name, reasons: [reason] }))),
      ];
    case "updateShippingAddress":
      return [{ name, change: { city: `${order.shippingAddress.city} ` }, isShippingPending: false }];
    case "ship": {
      const newShipmentId = `${NEW_ID}${shipments.length}`;
      return [null, [], ...lines.map(({ id }) => [id])].map((lineIds) => ({ name, lineIds, newShipmentId }));
    }
    case "updateShipment":
      return shipments.map(({ id }) => ({ name, shipmentId: id, change: { status: "delivered" } }));
    case "voidShipment":
      return shipments.map(({ id }) => ({ name, shipmentId: id }));
    case "cancelLines":
      return [lines.slice(0, 1), lines.filter(isOpen)].map((canceled) => ({
        name,
        parts: canceled.map(({ id: lineId, quantity }) => ({ lineId, quantity, restId: NEW_ID })),
        cancellationId: NEW_ID,
      }));
    case "returnShipment":
      return [
        { name, shipmentId: null },
        ...(order.testMode
          ? []
          : lines.map(({ id }) => ({ name, shipmentId: null, lines: [{ lineId: id, quantity: 1 }] }))),
      ];
    default:
      return [{ name }];
  }
}

const NEW_ID = "new";

function newOrder(testMode: boolean, status: OrderStatus, lines: number, quantity = 1): Order {
  return {
    merchantId: "",
    connectionId: "",
    id: "",
    testMode,
    externalOrderId: null,
    note: null,
    metadata: {},
    status,
    holdReasons: [],
    shippingAddress: ADDRESS,
    lines: Array.from({ length: lines }, (_, index) => ({ ...LINE, quantity, id: String(index) })),
    shipments: [],
    createdAt: NOW,
    updatedAt: NOW,
    acceptanceDueAt: null,
    routedAt: testMode ? null : NOW, // The service routes before it ships.
    facilityId: null,
    canceledAt: null,
    expiresAt: null,
    lastSequence: 1,
  };
}

const ADDRESS: ShippingAddress = {
  firstName: "",
  lastName: "",
  name: null,
  company: null,
  address1: "",
  address2: null,
  city: "",
  zip: "",
  stateCode: null,
  countryCode: "",
  phone: null,
};

const LINE: Omit<OrderLine, "id"> = {
  productId: "",
  quantity: 2,
  shipmentId: null,
  cancellationId: null,
  splitFrom: null,
  returnedQuantity: 0,
};
