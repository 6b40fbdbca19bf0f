import { CHANGE_KINDS, type ChangeKind } from "../changes/change.ts";
import {
  type Change,
  type ChangeRow,
  type ChangeScope,
  listWholeChanges,
  numberChangesOf,
} from "../changes/read-changes.ts";
import {
  type OrderDetails,
  readListedByKey,
  readOrderDetails,
  shareOrders,
} from "../orders/order-details-sql.ts";
import { readWithOwners } from "../orders/reading/list-orders.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, type Queryable } from "../platform/database/database.ts";
import { momentOf, toTypeId } from "../platform/ids.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { readProductNames } from "../products/products-sql.ts";
import { type ChangedStock, readWatchedStock, type WatchedStock } from "../stock/stock-sql.ts";
import {
  deleteKnownLow,
  type FollowingOwner,
  insertKnownLow,
  listFollowingOwners,
  listKnownLow,
  lockFollowingOwner,
  type StockPlace,
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
import { toWireStock } from "./stock.ts";

/** Objects of changes that are read together. Few, because their orders are locked while their events are written. */
const PAGE_SIZE = 500;
/** An owner's position is stored without an event once it is so many microseconds behind: nearly no writes, and little to read again. */
const POSITION_BEHIND_MAX = 60_000_000n;

/**
 * Publishes the events of merchants and facilities with endpoints: each change in the feed that means something to them becomes the
 * events of their types (docs/design/event-feed.md, "Events of merchants and facilities"). The feed is read once for all owners who
 * have read as far. Events and the position up to which they are published are stored in one transaction for each owner, whose row
 * is locked. So each is published exactly once, however many workers there are and whenever one ends. Returns how much it did.
 */
export function publishBackOfficeEvents(context: Context, stopping?: AbortSignal): Promise<number> {
  const positions = positionsIn(context);
  let pages: ReadonlyMap<string, OwnPage> = new Map();
  return runInTurn<ConnectionKey>(
    listedEachPass(async () => {
      pages = await readPages(context, positions);
      return [...pages.values()].map(({ owner: { merchantId, connectionId } }) => ({
        merchantId,
        connectionId,
      }));
    }),
    async ({ connectionId }) => {
      const page = pages.get(connectionId);
      return page === undefined ? 0 : publishNext(context, positions, page);
    },
    stopping,
  );
}

/** How far a worker has read for an owner, beyond the stored position. */
type ReadPosition = { readonly changesFrom: bigint; readonly readTo: bigint };
type Positions = Map<string, ReadPosition>;

/** Of each worker in this process. What is lost with it is read again, and means nothing to the owner. */
const positionsOfWorkers = new WeakMap<object, Positions>();

function positionsIn({ db }: Context): Positions {
  const known = positionsOfWorkers.get(db) ?? new Map<string, ReadPosition>();
  positionsOfWorkers.set(db, known);
  return known;
}

/** The next changes of an owner, or why they cannot be read. */
type OwnPage = { readonly owner: FollowingOwner } & (
  | { readonly changes: readonly ChangeRow[]; readonly next: bigint; readonly isLast: boolean }
  | { readonly failure: unknown }
);

/**
 * The next changes of all owners for which there are any. Facilities have changes of any merchant, so they are read apart: a node
 * that is down must not stop the merchants on the others.
 */
async function readPages(context: Context, positions: Positions): Promise<Map<string, OwnPage>> {
  const pages = new Map<string, OwnPage>();
  for (const [, owners] of Map.groupBy(await listFollowingOwners(context.db), ownerKind))
    try {
      for (const page of await readPagesOf(context, positions, owners))
        pages.set(page.owner.connectionId, page);
    } catch (failure) {
      if (isOutOfReach(failure)) throw failure; // The database is not available for the others either.
      for (const owner of owners) pages.set(owner.connectionId, { owner, failure });
    }
  return pages;
}

/**
 * The feed is numbered once, and read once from each position, which is the same for all but those that are behind. If nothing has
 * changed, it is not read.
 */
async function readPagesOf(
  context: Context,
  positions: Positions,
  owners: readonly FollowingOwner[],
): Promise<OwnPage[]> {
  const upTo = await numberChangesOf(context, merchantsOf(owners));
  if (upTo === null) return [];
  const fromOf = (owner: FollowingOwner): bigint => {
    const known = positions.get(owner.connectionId);
    return known?.changesFrom === owner.changesFrom ? known.readTo : owner.changesFrom;
  };
  const behind = owners.filter((owner) => fromOf(owner) <= upTo);
  const pages: OwnPage[] = [];
  for (const [from, group] of Map.groupBy(behind, fromOf)) {
    const range = { from, upTo, limit: PAGE_SIZE };
    const { changes, next } = await listWholeChanges(context, scopeOf(group), merchantsOf(group), range);
    const changesOf = indexOf(changes);
    pages.push(...group.map((owner) => ({ owner, changes: changesOf(owner), next, isLast: next > upTo })));
  }
  return pages;
}

const isFacility = (owner: ConnectionKey): boolean => ownerKind(owner) === "facility";

/** The merchants whose changes owners of one kind follow. Null: all. */
const merchantsOf = (owners: readonly ConnectionKey[]): readonly string[] | null =>
  owners.some(isFacility) ? null : owners.map(({ merchantId }) => merchantId);

function scopeOf(owners: readonly ConnectionKey[]): ChangeScope {
  const ids = (kind: boolean) =>
    owners.filter((owner) => isFacility(owner) === kind).map(({ connectionId }) => connectionId);
  return {
    kinds: owners.some(isFacility) ? OF_ALL_FACILITIES : [],
    ofMerchants: { ids: ids(false), kinds: CHANGE_KINDS },
    ofFacilities: { ids: ids(true), kinds: CHANGE_KINDS },
  };
}

/** A product can have another limit for its stock, wherever that is. */
const OF_ALL_FACILITIES: readonly ChangeKind[] = ["product"];

/** The changes by merchant and by facility: the id of an owner is that of one of them. */
function indexOf(changes: readonly ChangeRow[]): (owner: ConnectionKey) => readonly ChangeRow[] {
  const index = new Map<string, ChangeRow[]>();
  const ofAllFacilities = changes.filter(({ kinds }) =>
    OF_ALL_FACILITIES.some((kind) => kinds.includes(kind)),
  );
  for (const change of changes)
    for (const id of new Set([change.merchantId, change.facilityId, change.leftFacilityId]))
      if (id !== null) index.set(id, [...(index.get(id) ?? []), change]);
  return (owner) => [...(index.get(owner.connectionId) ?? []), ...(isFacility(owner) ? ofAllFacilities : [])];
}

/** Returns how many changes it read, or 1 if there are more. */
async function publishNext(context: Context, positions: Positions, page: OwnPage): Promise<number> {
  if ("failure" in page) throw page.failure;
  const { owner, changes, next, isLast } = page;
  const { changesFrom } = owner;
  const meanings = changes.flatMap(toMeaning(owner));
  const stock = changes.flatMap(toChangedStock(owner));
  const count = Math.max(isLast ? 0 : 1, changes.length);
  positions.set(owner.connectionId, { changesFrom, readTo: next });
  if (meanings.length === 0 && stock.length === 0 && next - changesFrom < POSITION_BEHIND_MAX) return count;
  positions.delete(owner.connectionId); // It counts only with the stored position.
  const sending = await inTransaction(context, async (tx) => {
    const from = await lockFollowingOwner(tx, owner);
    if (from !== changesFrom) return []; // Another worker has published them.
    const isWanted = await wantedTypes(tx, owner);
    const events = [
      ...(await eventsOf(
        tx,
        context,
        owner,
        meanings.filter(({ type }) => isWanted(type)),
      )),
      ...(await lowStockEvents(tx, context, owner, stock)).filter(({ type }) => isWanted(type)),
    ];
    await saveChangesFrom(tx, owner, next);
    return insertEvents(tx, events, context.clock.now());
  });
  if (sending.length > 0) context.signals.send("deliveries_due", sending);
  return count;
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
  ({ merchantId, orderId, facilityId, id, events, kinds, objectIds }: ChangeRow): Meaning[] => {
    if (orderId === null) return [];
    const hasLeft = isFacility(owner) && facilityId !== owner.connectionId;
    const types = hasLeft ? ["order.withdrawn"] : events;
    const objects = kinds.map((kind, index) => ({ kind, objectId: objectIds[index] ?? "" })); // One for each kind.
    return typesOf(owner)
      .filter((type) => types.includes(type))
      .map((type) => ({ type, merchantId, orderId, at: momentOf(id), objects }));
  };

const typesOf = (owner: ConnectionKey): readonly BackOfficeEventType[] =>
  BACK_OFFICE_EVENT_TYPES[isFacility(owner) ? "facility" : "merchant"];

/** The object that events of a type show beside the order: one event for each in the change. */
const SHOWN_KINDS: Readonly<Partial<Record<BackOfficeEventType, ChangeKind>>> = {
  "order.shipped": "shipment",
  "shipment.voided": "shipment",
  "charge.failed": "charge",
  "refund.created": "refund",
  "return.recorded": "return",
};

/** Events about orders. The orders are locked, so that no erasure of personal data passes them by. */
async function eventsOf(
  tx: Queryable,
  context: Context,
  owner: ConnectionKey,
  wanted: readonly Meaning[],
): Promise<EventRow[]> {
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

/** The stock that a change may have made low: of a facility, or that of a product, whose limit may be another one. */
const toChangedStock =
  (owner: ConnectionKey) =>
  ({ merchantId, facilityId, kinds, objectIds }: ChangeRow): ChangedStock[] =>
    kinds.flatMap((kind, index) => {
      const productId = objectIds[index] ?? ""; // One for each kind.
      if (kind === "stock") return [{ merchantId, productId, facilityId }];
      const everywhere = isFacility(owner) ? owner.connectionId : null;
      return kind === "product" ? [{ merchantId, productId, facilityId: everywhere }] : [];
    });

/**
 * An event for stock that has become low since the last such event of the owner. Which stock it knows to be low is decided under the lock of
 * the owner (docs/design/event-feed.md, "Low stock").
 */
async function lowStockEvents(
  tx: Queryable,
  context: Context,
  owner: ConnectionKey,
  changed: readonly ChangedStock[],
): Promise<EventRow[]> {
  if (changed.length === 0) return [];
  const known = await listKnownLow(tx, owner, [...new Set(changed.map(({ productId }) => productId))]);
  const placeOf = ({ facilityId, productId }: StockPlace) => `${facilityId} ${productId}`;
  const knownLow = new Set(known.map(placeOf));
  const all = await readWatchedStock(tx, changed);
  const stock = all.filter(({ facilityId }) => !isFacility(owner) || facilityId === owner.connectionId);
  const fallen = stock.filter((each) => isLow(each) && !knownLow.has(placeOf(each)));
  await insertKnownLow(tx, owner, fallen);
  await deleteKnownLow(
    tx,
    owner,
    stock.filter((each) => !isLow(each) && knownLow.has(placeOf(each))),
  );
  return fallen.map((each) =>
    backOfficeEventRow({
      ...{ owner, id: context.newId(), type: "stock.low", occurredAt: context.clock.now() },
      ...{ orderId: null, sequence: null, data: lowStockData(each) },
    }),
  );
}

const isLow = ({ onHand, reserved, lowStockBelow }: WatchedStock): boolean =>
  lowStockBelow !== null && onHand - reserved < lowStockBelow;

/** The `data` of an event about low stock. */
export const lowStockData = (stock: WatchedStock): Record<string, unknown> => ({
  stock: toWireStock(stock),
  lowStockBelow: stock.lowStockBelow,
});

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
  const listed = await readListedByKey(tx, keys);
  const orders: ShownOrder[] = [];
  // One after the other, because a transaction has one connection to the database.
  for (const ofConnection of Map.groupBy(listed, ({ connectionId }) => connectionId).values())
    orders.push(...(await readWithOwners(tx, ofConnection, now)));
  const ofFacility = isFacility(owner);
  const shown = orders.filter(({ facilityId }) => !ofFacility || facilityId === owner.connectionId);
  const names = await readProductNames(
    tx,
    shown.flatMap(({ merchantId, lines }) => lines.map(({ productId: id }) => ({ merchantId, id }))),
  );
  return new Map(
    shown.map((order) => {
      const summary = toOrderSummary(order, order, order.goods, names, order.changedAt);
      // What the merchant pays is not the warehouse's business.
      return [order.id, { order, wire: ofFacility ? { ...summary, goods: null } : summary }];
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
  const found = objectsOf(kind, shown, details).filter(({ id }) => ids.includes(id));
  return found.map(({ wire }) => ({
    order,
    [kind]: isFacility(owner) && kind === "return" ? { ...wire, refundId: null } : wire,
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
