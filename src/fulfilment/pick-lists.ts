import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import { before, DAY_MS } from "../platform/time.ts";
import {
  deleteExpired,
  deletePickList,
  insertPickList,
  markReleased,
  type PickList,
  type PutAside,
  readPickListByReference,
  waitForTurn,
} from "./pick-lists-sql.ts";
import { claimWork, deleteClaims, markPutAside, readWorkMarks, unmarkPutAside } from "./work-list-sql.ts";

export type PickListRequest = Pick<PickList, "facilityId" | "takenBy" | "reference" | "orderLimit"> & {
  readonly leaseMs: number;
};

export type TakenPickList =
  | { readonly outcome: "taken"; readonly pickList: PickList; readonly replayed: boolean }
  /** No order that can be shipped is free. */
  | { readonly outcome: "nothing" }
  /** The person has used the reference for another request. */
  | { readonly outcome: "reference-taken" };

/**
 * Takes the oldest orders of a facility that can be shipped and are free, for a limited time
 * (docs/design/fulfilment.md, "Work list and pick lists"). Two people never get the same order. One person takes once for each
 * reference.
 */
export async function takePickList(
  context: Context,
  { leaseMs, ...request }: PickListRequest,
  by: Initiator,
): Promise<TakenPickList> {
  return inTransaction<TakenPickList>(context, async (tx) => {
    await waitForTurn(tx, request.facilityId);
    const takenAt = context.clock.now();
    const expiresAt = new Date(takenAt.getTime() + leaseMs);
    const pickList = { ...request, id: context.newId(), takenAt, expiresAt, releasedAt: null };
    if (!(await insertPickList(tx, pickList))) {
      const earlier = await readPickListByReference(tx, request.takenBy, request.reference ?? "");
      return earlier?.facilityId === request.facilityId && earlier.orderLimit === request.orderLimit
        ? { outcome: "taken", pickList: earlier, replayed: true }
        : { outcome: "reference-taken" };
    }
    const claimed = await claimWork(tx, pickList);
    if (claimed.length === 0) {
      await deletePickList(tx, pickList.id); // Repeated requests leave nothing behind.
      return { outcome: "nothing" };
    }
    // The response shows the addresses, so an entry names the orders of each merchant, as it does for other reads.
    const details = { pickList: toTypeId("pick", pickList.id), takenBy: request.takenBy };
    const byMerchant = Map.groupBy(claimed, ({ merchantId }) => merchantId);
    const facts = [...byMerchant].map(([merchantId, orders]) => {
      return { merchantId, subject: "ord" as const, ids: orders.map(({ id }) => id), details };
    });
    await recordAudit(tx, context, by, ...facts);
    return { outcome: "taken", pickList, replayed: false };
  });
}

/** Gives the orders of a pick list back, so that others can take them. Repeating it has no further effect. */
export async function releasePickList(
  context: Context,
  pickList: PickList,
  by: Initiator,
): Promise<PickList> {
  return inTransaction(context, async (tx) => {
    const now = context.clock.now();
    if (!(await markReleased(tx, pickList.id, now)))
      return { ...pickList, releasedAt: pickList.releasedAt ?? now };
    const orders = await deleteClaims(tx, pickList.id);
    await recordAudit(tx, context, by, {
      merchantId: null,
      subject: "pick",
      ids: [pickList.id],
      details: { orders },
    });
    return { ...pickList, releasedAt: now };
  });
}

/**
 * Marks an order as put aside, so that it lies beside the table with its box and is not taken with the oldest
 * (docs/design/fulfilment.md, "Put aside"). Another reason replaces the first; the same one again changes nothing.
 */
export async function putAside(
  context: Context,
  { merchantId, connectionId, id }: OrderKey,
  reason: PutAside["reason"],
  by: Initiator,
): Promise<PutAside> {
  const key = { merchantId, id };
  return inTransaction(context, async (tx) => {
    const mark = { reason, by: by.actor.name ?? by.actor.kind, at: context.clock.now() };
    if (!(await markPutAside(tx, key, mark))) return (await readWorkMarks(tx, key, mark.at)).putAside ?? mark;
    const details = { reason };
    await recordAudit(tx, context, by, { merchantId, connectionId, subject: "ord", ids: [id], details });
    return mark;
  });
}

/** Takes an order up again. Repeating it has no further effect. */
export async function takeUp(
  context: Context,
  { merchantId, connectionId, id }: OrderKey,
  by: Initiator,
): Promise<void> {
  await inTransaction(context, async (tx) => {
    if (!(await unmarkPutAside(tx, { merchantId, id }))) return;
    await recordAudit(tx, context, by, { merchantId, connectionId, subject: "ord", ids: [id] });
  });
}

const BATCH_SIZE = 1_000;
/** So that it can be seen who had an order, and a repeated request finds its pick list. */
const KEPT_MS = 30 * DAY_MS;

/** Deletes claims that have expired; pick lists, and marks of what was put aside, 30 days later. Returns how many. */
export async function purgePickLists(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const now = clock.now();
  let count = 0;
  for (;;) {
    const deleted = await deleteExpired(db, { now, keptSince: before(now, KEPT_MS), limit: BATCH_SIZE });
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}
