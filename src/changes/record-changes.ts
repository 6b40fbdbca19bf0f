import type { Queryable } from "../platform/database/database.ts";
import { newIdAt } from "../platform/ids.ts";
import { inBatches } from "../platform/run-in-turn.ts";
import type { RecordedChange, StoredChange } from "./change.ts";
import { insertChanges, insertOrderChanges, touchOrders } from "./changes-sql.ts";

/** Products, or records of stock, in one row. */
const OBJECTS_MAX = 500;

type Collected = { readonly changes: RecordedChange[]; now: Date };

/** What transactions have recorded so far. A test may wrap a transaction, but not what it does before its commit. */
const collected = new WeakMap<object, Collected>();

/**
 * Records changes of objects in the transaction that changes them. They are stored together before the commit, so that an
 * operation that changes an order in several steps writes one row, and each step needs to know only its own objects
 * (docs/design/event-feed.md, "Changes are recorded once"). A change of something that belongs to an order is a change of the
 * order too.
 */
export function recordChanges(tx: Queryable, now: Date, changes: readonly RecordedChange[]): void {
  if (changes.length === 0) return;
  const { beforeCommit } = tx;
  if (beforeCommit === undefined) throw new Error("Changes can be recorded in a transaction only.");
  const earlier = collected.get(beforeCommit);
  if (earlier !== undefined) {
    earlier.changes.push(...changes);
    earlier.now = now;
    return;
  }
  const all = { changes: [...changes], now };
  collected.set(beforeCommit, all);
  beforeCommit.set("record-changes", () => storeChanges(tx, all));
}

async function storeChanges(tx: Queryable, { changes, now }: Collected): Promise<void> {
  const rows = [...Map.groupBy(changes, rowOf).values()].flatMap((group) => toRows(group, now));
  const ofOrders = rows.filter(({ orderId }) => orderId !== null);
  const timed = new Set(
    changes.flatMap((change) => ("isTimed" in change && change.isTimed ? change.orderId : [])),
  );
  await touchOrders(
    tx,
    ofOrders.filter(({ orderId }) => orderId !== null && !timed.has(orderId)),
    now,
  );
  await insertOrderChanges(tx, ofOrders);
  await insertChanges(
    tx,
    rows.filter(({ orderId }) => orderId === null),
  );
}

/** Changes with the same text are in one row. Those with an event have a row of their own, unless they are of an order. */
function rowOf(change: RecordedChange): string {
  if ("orderId" in change) return change.orderId;
  if (change.kind === "endpoint" || change.events !== undefined) return `${change.kind} ${change.objectId}`;
  return change.kind === "stock"
    ? `stock ${change.merchantId} ${change.facilityId}`
    : `product ${change.merchantId}`;
}

function toRows(group: readonly RecordedChange[], now: Date): StoredChange[] {
  const [first] = group;
  if (first === undefined) return [];
  const orderId = "orderId" in first ? first.orderId : null;
  const objects = new Map<string, Pick<RecordedChange, "kind" | "objectId">>();
  if (orderId !== null) objects.set(`order ${orderId}`, { kind: "order", objectId: orderId });
  for (const { kind, objectId } of group) objects.set(`${kind} ${objectId}`, { kind, objectId });
  const left = group.find((change) => "leftFacilityId" in change && change.leftFacilityId != null);
  const row = {
    merchantId: first.merchantId,
    connectionId: "connectionId" in first ? first.connectionId : null,
    orderId,
    facilityId: "facilityId" in first ? first.facilityId : null,
    leftFacilityId: left !== undefined && "leftFacilityId" in left ? (left.leftFacilityId ?? null) : null,
    events: [...new Set(group.flatMap(({ events }) => events ?? []))],
    isGone: group.some((change) => "isGone" in change && change.isGone === true),
  };
  return inBatches([...objects.values()], OBJECTS_MAX).map((part) => ({
    ...row,
    id: newIdAt(now),
    kinds: part.map(({ kind }) => kind),
    objectIds: part.map(({ objectId }) => objectId),
  }));
}
