import { CHANGE_KINDS, type ChangeKind } from "../changes/change.ts";
import { type Change, readChanges } from "../changes/read-changes.ts";
import {
  type OrderDetails,
  readListedByKey,
  readOrderDetails,
  shareOrders,
} from "../orders/order-details-sql.ts";
import { readWithOwners } from "../orders/reading/list-orders.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf, toTypeId } from "../platform/ids.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { readProductNames } from "../products/products-sql.ts";
import {
  type FollowingOwner,
  listFollowingOwners,
  lockFollowingOwner,
  saveChangesFrom,
} from "../webhooks/endpoints/owners-sql.ts";
import {
  BACK_OFFICE_EVENT_TYPES,
  type BackOfficeEventType,
  backOfficeEventRow,
} from "../webhooks/events/back-office-event.ts";
import type { EventRow } from "../webhooks/events/event.ts";
import { ownerKind } from "../webhooks/owner.ts";
import { insertEvents, listWantedTypes, readLastSequences } from "../webhooks/publishing-sql.ts";
import { toWireCharge } from "./money/charge-wire.ts";
import { toWireRefund } from "./money/refund-wire.ts";
import { toOrderSummary, toWireReturn } from "./orders/order-wire.ts";

/** Objects of changes that are read together. Few, because their orders are locked while their events are written. */
const PAGE_SIZE = 500;

/**
 * Publishes the events of merchants and facilities with endpoints: each change in the feed that means something to them becomes the
 * events of their types (docs/design/event-feed.md, "Events of merchants and facilities"). Events and the position up to which they
 * are published are stored in one transaction for each owner, whose row is locked. So each is published exactly once, however many
 * workers there are and whenever one ends. Returns how many changes it read.
 */
export function publishBackOfficeEvents(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(async () => listFollowingOwners(context.db)),
    (owner) => publishNext(context, owner),
    stopping,
  );
}

async function publishNext(context: Context, owner: FollowingOwner): Promise<number> {
  const kind = ownerKind(owner);
  const none = { ids: [], kinds: [] };
  const page = await readChanges(context, {
    scope: {
      kinds: [],
      ofMerchants: kind === "merchant" ? { ids: [owner.merchantId], kinds: CHANGE_KINDS } : none,
      ofFacilities: kind === "facility" ? { ids: [owner.connectionId], kinds: CHANGE_KINDS } : none,
    },
    merchantIds: kind === "merchant" ? [owner.merchantId] : null,
    from: { position: BigInt(owner.changesFrom), index: 0 },
    limit: PAGE_SIZE,
  });
  // No worker has run for as long as changes are kept. What is left is published.
  const next = page.outcome === "expired" ? { position: 0n, index: 0 } : page.next;
  if (next === null) return 0;
  // A change of which the page has a part is left to the next page, unless nothing else would be left.
  const changes = page.outcome === "expired" ? [] : page.changes;
  const rows = [...Map.groupBy(changes, ({ position }) => position).values()];
  const whole = next.index === 0 ? rows : rows.filter(([first]) => first?.position !== next.position);
  const sending = await inTransaction(context, async (tx) => {
    const from = await lockFollowingOwner(tx, owner);
    if (from !== BigInt(owner.changesFrom)) return []; // Another worker has published them.
    const events = await eventsOf(tx, context, owner, whole.flatMap(toMeaning(owner)));
    await saveChangesFrom(tx, owner, next.position);
    return insertEvents(tx, events, context.clock.now());
  });
  if (sending.length > 0) context.signals.send("deliveries_due", sending);
  return Math.max(1, changes.length);
}

/** What a change means to an owner, with the objects of the change. */
type Meaning = {
  readonly type: BackOfficeEventType;
  readonly merchantId: string;
  readonly orderId: string;
  readonly at: Date;
  readonly objects: readonly Pick<Change, "kind" | "objectId">[];
};

const toMeaning =
  (owner: ConnectionKey) =>
  (objects: readonly Change[]): Meaning[] => {
    const [change] = objects;
    if (change === undefined || change.orderId === null) return [];
    const { merchantId, orderId, id } = change;
    const hasLeft = ownerKind(owner) === "facility" && change.facilityId !== owner.connectionId;
    const types = hasLeft ? ["order.withdrawn"] : change.events;
    return typesOf(owner)
      .filter((type) => types.includes(type))
      .map((type) => ({ type, merchantId, orderId, at: momentOf(id), objects }));
  };

const typesOf = (owner: ConnectionKey): readonly BackOfficeEventType[] =>
  BACK_OFFICE_EVENT_TYPES[ownerKind(owner) === "facility" ? "facility" : "merchant"];

/** The object that events of a type show beside the order: one event for each in the change. */
const SHOWN_KINDS: Readonly<Partial<Record<BackOfficeEventType, ChangeKind>>> = {
  "order.shipped": "shipment",
  "shipment.voided": "shipment",
  "charge.failed": "charge",
  "refund.created": "refund",
  "return.recorded": "return",
};

/** The events that an endpoint of the owner wants. Their orders are locked, so that no erasure of personal data passes them by. */
async function eventsOf(
  tx: Queryable,
  context: Context,
  owner: ConnectionKey,
  meanings: readonly Meaning[],
): Promise<EventRow[]> {
  const isWanted = await wantedTypes(tx, owner);
  const wanted = meanings.filter(({ type }) => isWanted(type));
  if (wanted.length === 0) return [];
  const keys = [...new Map(wanted.map(({ merchantId, orderId: id }) => [id, { merchantId, id }])).values()];
  await shareOrders(tx, keys);
  const orders = await readForEvents(tx, context.clock.now(), owner, keys);
  const details = await readDetails(tx, wanted, orders);
  const lastSequence = await readLastSequences(
    tx,
    owner,
    keys.map(({ id }) => id),
  );
  const counts = new Map<string, number>();
  return wanted.flatMap((meaning) =>
    contentsOf(owner, meaning, orders.get(meaning.orderId), details.get(meaning.orderId)).map((data) => {
      const { type, orderId, at: occurredAt } = meaning;
      const count = (counts.get(orderId) ?? 0) + 1;
      counts.set(orderId, count);
      const sequence = lastSequence(orderId) + count;
      return backOfficeEventRow({ owner, id: context.newId(), type, occurredAt, orderId, sequence, data });
    }),
  );
}

async function wantedTypes(tx: Queryable, owner: ConnectionKey): Promise<(type: string) => boolean> {
  const of = { ...owner, testMode: false };
  const wanted = (await listWantedTypes(tx, [of], typesOf(owner)))(of);
  return (type) => wanted.has(type);
}

type ShownOrder = Awaited<ReturnType<typeof readWithOwners>>[number];

/** The orders as the owner may see them: to a facility those that are routed to it. */
async function readForEvents(
  tx: Queryable,
  now: Date,
  owner: ConnectionKey,
  keys: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, { order: ShownOrder; wire: object }>> {
  const orders = await readWithOwners(tx, await readListedByKey(tx, keys), now);
  const isFacility = ownerKind(owner) === "facility";
  const shown = orders.filter(({ facilityId }) => !isFacility || facilityId === owner.connectionId);
  const names = await readProductNames(
    tx,
    shown.flatMap(({ merchantId, lines }) => lines.map(({ productId: id }) => ({ merchantId, id }))),
  );
  return new Map(
    shown.map((order) => {
      const summary = toOrderSummary(order, order, order.goods, names, order.changedAt);
      // What the merchant pays is not the warehouse's business.
      return [order.id, { order, wire: isFacility ? { ...summary, goods: null } : summary }];
    }),
  );
}

async function readDetails(
  tx: Queryable,
  meanings: readonly Meaning[],
  orders: ReadonlyMap<string, { order: ShownOrder }>,
): Promise<ReadonlyMap<string, OrderDetails>> {
  const details = new Map<string, OrderDetails>();
  for (const { type, orderId } of meanings) {
    const found = orders.get(orderId);
    const kind = SHOWN_KINDS[type];
    if (found === undefined || details.has(orderId) || kind === undefined || kind === "shipment") continue;
    details.set(orderId, await readOrderDetails(tx, found.order));
  }
  return details;
}

/** The `data` of the events of a change. Empty if the order is not the owner's any more. */
function contentsOf(
  owner: ConnectionKey,
  { type, orderId, objects }: Meaning,
  shown: { order: ShownOrder; wire: object } | undefined,
  details: OrderDetails | undefined,
): Record<string, unknown>[] {
  if (type === "order.withdrawn") return [{ order: { id: toTypeId("ord", orderId) } }];
  if (shown === undefined) return [];
  const kind = SHOWN_KINDS[type];
  const { wire: order } = shown;
  if (kind === undefined) return [{ order }];
  const ids = objects.filter((object) => object.kind === kind).map(({ objectId }) => objectId);
  const isFacility = ownerKind(owner) === "facility";
  const found = objectsOf(kind, shown, details).filter(({ id }) => ids.includes(id));
  return found.map(({ wire }) => ({
    order,
    [kind]: isFacility && kind === "return" ? { ...wire, refundId: null } : wire,
  }));
}

type Shown = { readonly id: string; readonly wire: object };

function objectsOf(
  kind: ChangeKind,
  { order, wire }: { order: ShownOrder; wire: object },
  details: OrderDetails | undefined,
): Shown[] {
  if (kind === "shipment") {
    const { shipments } = wire as ReturnType<typeof toOrderSummary>; // `readForEvents` has made it.
    return order.shipments.flatMap(({ id }, index) => {
      const shipment = shipments[index];
      return shipment === undefined ? [] : [{ id, wire: shipment }];
    });
  }
  if (details === undefined) return [];
  const { currency } = details.prices;
  switch (kind) {
    case "charge":
      return details.charges
        .filter(({ status }) => status === "failed")
        .map((charge) => ({ id: charge.id, wire: toWireCharge(charge) }));
    case "refund":
      return details.refunds.map((refund) => ({ id: refund.id, wire: toWireRefund(currency)(refund) }));
    case "return":
      return details.returns.map((returned) => ({ id: returned.id, wire: toWireReturn(returned) }));
    default:
      return [];
  }
}
