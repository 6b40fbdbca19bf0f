import { asOf, isExpired } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Database, Spent } from "../../platform/database/database.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import { isStorableText } from "../../platform/wire/problems.ts";
import { orderText } from "../order-wire.ts";
import {
  listChanged,
  orderFinder,
  readOrdersByExternalId,
  readVersionedOrders,
  type VersionedOrder,
} from "../orders-sql.ts";

type OrderLookup = ConnectionKey & { readonly ref: OrderRef };

/** Reads one order as it is now. Null if it is missing, another connection's, or an expired test order. */
export type ReadOrder = (lookup: OrderLookup) => Promise<Order | null>;

/** Statements that read orders at the same time. */
const READ_GROUPS_MAX = 4;

/** Reads of a connection that arrive together are read together, by one statement. */
export function orderReader({ db, clock }: Context, spent?: Spent): ReadOrder {
  const known = new KnownOrders();
  const read = groupCalls<OrderLookup, Order | null>({
    name: "read orders",
    run: (lookups) => readGroup(db, lookups, known, clock.now()),
    sizeMax: 128,
    concurrencyMax: READ_GROUPS_MAX,
    ownerOf: (lookup) => lookup,
    oneOwnerEach: true,
    ...(spent && { spent }),
  });
  return async (lookup) => (isStorable(lookup) ? asSeenNow(await read(lookup), clock.now()) : null);
}

/** For a test key: a real order is missing (docs/design/isolation-and-limits.md, "Live and test keys"). */
export const testOrdersOf =
  (readOrder: ReadOrder): ReadOrder =>
  async (lookup) => {
    const order = await readOrder(lookup);
    return order?.testMode ? order : null;
  };

/** No order can have an id that cannot be stored. */
const isStorable = ({ ref: { externalOrderId } }: OrderLookup): boolean =>
  externalOrderId === null || isStorableText(externalOrderId);

/** The order as partners see it at `now`: accepted if the deadline has passed, and null if it has expired. */
function asSeenNow(order: Order | null | undefined, now: Date): Order | null {
  return order === null || order === undefined || isExpired(order, now) ? null : asOf(order, now);
}

/** All lookups of a group are of one connection. */
async function readGroup(
  db: Database,
  lookups: readonly OrderLookup[],
  known: KnownOrders,
  now: Date,
): Promise<(Order | null)[]> {
  const [connection] = lookups;
  if (connection === undefined) return [];
  const find = await readNamed(db, connection, lookups, known, now);
  return lookups.map(({ ref }) => find(ref) ?? null);
}

/**
 * Most references are service ids. Only those that name no order are looked up as external ids
 * (docs/design/api-conventions.md, "Ids").
 */
async function readNamed(
  db: Database,
  connection: ConnectionKey,
  lookups: readonly OrderLookup[],
  known: KnownOrders,
  now: Date,
): Promise<(ref: OrderRef) => Order | undefined> {
  const refs = lookups.map(({ ref }) => ref);
  const ids = new Set(refs.flatMap(({ id }) => id ?? []));
  const byId = await readById(db, connection, ids, known);
  const find = orderFinder(byId, now);
  const left = refs.filter((ref) => find(ref) === undefined).flatMap((ref) => ref.externalOrderId ?? []);
  if (left.length === 0) return find;
  return orderFinder([...byId, ...(await readOrdersByExternalId(db, connection, left))], now);
}

/** Orders of which the process knows the present version are not read again. */
async function readById(
  db: Database,
  connection: ConnectionKey,
  ids: ReadonlySet<string>,
  known: KnownOrders,
): Promise<Order[]> {
  const before = known.among(ids);
  const changed = new Set(await listChanged(db, connection, before));
  const unchanged = before.map(({ order }) => order).filter(({ id }) => !changed.has(id));
  const found = new Set(unchanged.map(({ id }) => id));
  const read = await readVersionedOrders(
    db,
    connection,
    [...ids].filter((id) => !found.has(id)),
  );
  for (const order of read) known.keep(order);
  return [...unchanged, ...read.map(({ order }) => order)];
}

/** Personal data stays no longer in a process that reads other orders. */
const KNOWN_MS = 10 * MINUTE_MS;
/** The length of all orders as text. As objects they take about three times as much memory. */
const CHARACTERS_MAX = 8 * 2 ** 20;

type Known = VersionedOrder & { readonly length: number; readonly untilMs: number };

/**
 * The orders that a process has read last, by their ids. Each read still looks at the order's row: it compares the version, and
 * shows whose order it is, and that there still is one (docs/design/performance.md, "Orders that are known").
 */
export class KnownOrders {
  /** The oldest first. */
  readonly #orders = new Map<string, Known>();
  #length = 0;
  readonly #nowMs: () => number;
  readonly #charactersMax: number;

  /** @param nowMs a clock that never goes back, in milliseconds */
  constructor(nowMs: () => number = () => performance.now(), charactersMax = CHARACTERS_MAX) {
    this.#nowMs = nowMs;
    this.#charactersMax = charactersMax;
  }

  /** Those of the orders that are known. */
  among(ids: Iterable<string>): VersionedOrder[] {
    const nowMs = this.#nowMs();
    const found: VersionedOrder[] = [];
    for (const id of ids) {
      const known = this.#orders.get(id);
      if (known !== undefined && nowMs < known.untilMs) found.push(known);
    }
    return found;
  }

  keep({ order, version }: VersionedOrder): void {
    const nowMs = this.#nowMs();
    const { length } = orderText(order);
    this.#remove(order.id);
    this.#orders.set(order.id, { order, version, length, untilMs: nowMs + KNOWN_MS });
    this.#length += length;
    for (const [id, { untilMs }] of this.#orders) {
      if (this.#length <= this.#charactersMax && nowMs < untilMs) break;
      this.#remove(id);
    }
  }

  #remove(id: string): void {
    this.#length -= this.#orders.get(id)?.length ?? 0;
    this.#orders.delete(id);
  }
}
