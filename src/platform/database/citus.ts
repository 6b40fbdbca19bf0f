import { inBatches } from "../run-in-turn.ts";
import { isNodeLost, type Queryable, UnavailableError } from "./database.ts";

/**
 * Runs a statement that locks rows of several merchants. A distributed database locks rows on one node alone, so it gets the
 * rows of one merchant at a time, in the order of their ids, which is the order of the locks too. A plain PostgreSQL gets all
 * of them at once (docs/design/distribution.md, "Merchant by merchant").
 * @param run receives the merchant whose rows are locked, or null for all of them. Its statement compares each table with that:
 *   `($n::uuid is null or t.merchant_id = $n)` is true for null, and else names the node to a distributed database. A plan
 *   that is made for null does not have the condition
 */
export async function merchantByMerchant<Item extends { readonly merchantId: string }, Row>(
  db: Queryable,
  items: readonly Item[],
  run: (items: readonly Item[], merchantId: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  if (!(await db.isDistributed())) return run(items, null);
  const rows: Row[] = [];
  for (const [merchantId, own] of byMerchant(items)) rows.push(...(await run(own, merchantId)));
  return rows;
}

function byMerchant<Item extends { readonly merchantId: string }>(
  items: readonly Item[],
): [string, Item[]][] {
  const groups = Map.groupBy(items, ({ merchantId }) => merchantId);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The merchants of items. Null on a plain PostgreSQL, which does not need them
 * (docs/design/distribution.md, "A node that is down"). A statement compares each of its tables with them: `($n::uuid[] is null
 * or t.merchant_id = any($n))` is true for null, and else names the nodes to a distributed database, which leaves out all
 * others. Citus asks a node if any table of the statement may have rows there.
 */
export async function merchantsOf(
  db: Queryable,
  items: readonly { readonly merchantId: string }[],
): Promise<readonly string[] | null> {
  if (!(await db.isDistributed())) return null;
  return [...new Set(items.map(({ merchantId }) => merchantId))];
}

/** The merchants on the nodes of Citus that respond, and whether these are all nodes. */
async function listReachableMerchants(
  db: Queryable,
): Promise<{ readonly merchants: readonly string[]; readonly isComplete: boolean }> {
  const shards = await db.query<{ merchants: string[] | null }>({
    name: "list-reachable-merchants",
    text: `
      select case when success then result::text[] end as merchants
      from run_command_on_shards('merchants', 'select coalesce(array_agg(id), ''{}'') from %s')`,
    values: [],
  });
  return {
    merchants: shards.flatMap(({ merchants }) => merchants ?? []),
    isComplete: shards.every(({ merchants }) => merchants !== null),
  };
}

/** Knowledge about nodes lasts this long while a node is down. Then the nodes are queried again, so that their return is noticed. */
const KNOWN_MS = 1_000;
/** Citus looks up the shard of each merchant in a list, which takes 40 µs. So a search names a part of them, the next one the next part. */
const MERCHANTS_MAX = 2_000;

/** The merchants on nodes that respond. Only while one does not. */
class Outage {
  readonly merchants: ReadonlySet<string>;
  readonly #ids: readonly string[];
  readonly #until = performance.now() + KNOWN_MS;
  /** Where the next part begins, for each search. */
  readonly #positions: Map<string, number>;

  constructor(ids: readonly string[], positions = new Map<string, number>()) {
    this.#ids = ids;
    this.merchants = new Set(ids);
    this.#positions = positions;
  }

  get isFresh(): boolean {
    return performance.now() < this.#until;
  }

  /** The next part of the merchants. */
  part(search: string): readonly string[] {
    const position = this.#positions.get(search) ?? 0;
    const start = position < this.#ids.length ? position : 0;
    this.#positions.set(search, start + MERCHANTS_MAX);
    return this.#ids.slice(start, start + MERCHANTS_MAX);
  }

  /** All parts of the merchants. */
  parts(): readonly (readonly string[])[] {
    return inBatches(this.#ids, MERCHANTS_MAX);
  }

  renewed = (ids: readonly string[]): Outage => new Outage(ids, this.#positions);
}

const poolOf = (db: Queryable): Queryable => db.pool ?? db;

/** The knowledge of a pool. Absent: its last search over all shards did not fail. */
const outages = new WeakMap<Queryable, Outage>();
const asking = new WeakMap<Queryable, Promise<Outage | null>>();

/**
 * Runs a search over all shards. While a node of a distributed database is down, it searches the merchants on the other nodes
 * (docs/design/distribution.md, "A node that is down"), at most 2,000 at a time. A plain PostgreSQL gets null, and nothing else
 * happens.
 * @param name of the statement
 * @param search receives the merchants to search, or null for all of them. Its statement compares them as in `merchantsOf`
 */
export async function searchReachable<Row>(
  db: Queryable,
  name: string,
  search: (merchants: readonly string[] | null) => Promise<Row[]>,
): Promise<Row[]> {
  if (!outages.has(poolOf(db)))
    try {
      return await search(null);
    } catch (error) {
      if (!isNodeLost(error)) throw error;
    }
  const outage = await readOutage(db);
  try {
    return await search(outage === null ? null : outage.part(name));
  } catch (error) {
    if (isNodeLost(error)) outages.delete(poolOf(db)); // Another one is down. The next search asks again.
    throw error;
  }
}

/**
 * Looks a row up by a key that does not name its merchant. While a node of a distributed database is down, it looks among the
 * merchants on the other nodes, and fails if it finds nothing: the row may be on the node that is down.
 * @param find receives the merchants to look among, or null for all of them, as in `searchReachable`
 */
export async function findReachable<Row>(
  db: Queryable,
  find: (merchants: readonly string[] | null) => Promise<Row[]>,
): Promise<Row | undefined> {
  if (!outages.has(poolOf(db)))
    try {
      const [row] = await find(null);
      return row;
    } catch (error) {
      if (!isNodeLost(error)) throw error;
    }
  const outage = await readOutage(db);
  try {
    for (const merchants of outage === null ? [null] : outage.parts()) {
      const [row] = await find(merchants);
      if (row !== undefined || merchants === null) return row;
    }
  } catch (error) {
    if (isNodeLost(error)) outages.delete(poolOf(db)); // Another one is down. The next look-up asks again.
    throw error;
  }
  throw new UnavailableError("A node is down, and what was looked up is on no other one.");
}

/** True if a node is known to be down. */
export const isNodeDown = (db: Queryable): boolean => outages.has(poolOf(db));

/** While a node is known to be down: those of the items whose merchants are on the others. Else all of them. */
export async function knownReachableOf<Item extends { readonly merchantId: string }>(
  db: Queryable,
  items: readonly Item[],
): Promise<readonly Item[]> {
  return outages.has(poolOf(db)) ? reachableOf(db, items) : items;
}

/**
 * Processes items together. If a node is down, processes those whose merchants are on the others, and returns null for the
 * rest, for which nothing has been done.
 * @param process returns one outcome per item, in the same order. One transaction
 */
export async function processReachable<Item, Out>(
  db: Queryable,
  items: readonly Item[],
  merchantIdOf: (item: Item) => string,
  process: (items: readonly Item[]) => Promise<readonly Out[]>,
): Promise<(Out | null)[]> {
  const keyed = items.map((item) => ({ item, merchantId: merchantIdOf(item) }));
  let known = await knownReachableOf(db, keyed);
  let outcomes: readonly Out[];
  try {
    outcomes = known.length === 0 ? [] : await process(known.map(({ item }) => item));
  } catch (error) {
    if (!isNodeLost(error)) throw error;
    const reachable = await reachableOf(db, known);
    if (reachable.length === known.length) throw error;
    known = reachable;
    outcomes = known.length === 0 ? [] : await process(known.map(({ item }) => item));
  }
  const outcomeOf = new Map(known.map((each, index) => [each, outcomes[index]]));
  return keyed.map((each) => outcomeOf.get(each) ?? null);
}

/** Those of the items whose merchants are on nodes that respond, after a statement has failed because one does not. */
export async function reachableOf<Item extends { readonly merchantId: string }>(
  db: Queryable,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const outage = await readOutage(db);
  return outage === null ? items : items.filter(({ merchantId }) => outage.merchants.has(merchantId));
}

/** Asks the nodes at most once at a time. Until they respond again, the earlier response counts. */
async function readOutage(db: Queryable): Promise<Outage | null> {
  const known = outages.get(poolOf(db));
  if (known?.isFresh) return known;
  let answer = asking.get(poolOf(db));
  if (answer === undefined) {
    answer = askNodes(db, known).finally(() => asking.delete(poolOf(db)));
    asking.set(poolOf(db), answer);
    answer.catch(() => undefined); // It may have no caller that waits.
  }
  return known ?? answer;
}

async function askNodes(db: Queryable, known: Outage | undefined): Promise<Outage | null> {
  const { merchants, isComplete } = await listReachableMerchants(db);
  if (isComplete) {
    outages.delete(poolOf(db));
    return null;
  }
  const outage = known?.renewed(merchants) ?? new Outage(merchants);
  outages.set(poolOf(db), outage);
  return outage;
}
