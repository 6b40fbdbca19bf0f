import { type Database, type Queryable, readToLimits } from "../../platform/database/database.ts";
import { possibleTrackingNumbers } from "../changes/tracking-number.ts";
import { merchantWord, type WordSearch, wordSearchOf } from "../search-words.ts";
import {
  afterAll,
  conditionsOf,
  listValues,
  MERCHANT_SHOWN,
  merchantsInFilter,
  type OrderFilter,
  sortOf,
} from "./list-conditions-sql.ts";
import { type ListedOrder, type ListedRow, toListed } from "./list-orders-sql.ts";

/**
 * The orders that a search finds and that match the other filters, one more than the page if there is one: those with all words of
 * the text, as beginnings of theirs, those whose external id begins with it, and those with the tracking number. Each part reads a
 * bounded number of rows (docs/design/api-conventions.md, "Searching orders").
 */
export async function listFoundOrders(
  db: Database,
  filter: OrderFilter,
  position: { afterId: string; limit: number },
  now: Date,
): Promise<ListedOrder[]> {
  const read = (found: string, values: readonly unknown[], plan = readToLimits) =>
    readFound(
      db,
      filter,
      found,
      [...listValues(filter, position.afterId, position.limit, now), ...values],
      plan,
    );
  if (filter.orderId !== null) return read(BY_ID, [filter.orderId]);
  const typed = filter.text ?? "";
  const spellings = [...new Set([typed, typed.toLowerCase(), typed.toUpperCase()])];
  const numbers = await read(
    [...spellings.map((_spelling, index) => byExternalId(index + 1)), BY_TRACKING_NUMBER].join(UNION),
    [spellings, spellings.map(afterAll), possibleTrackingNumbers(typed)],
  );
  const words = wordSearchOf(typed);
  if (words === null) return numbers;
  // A word that many orders have fills the page here, and its index entries need not all be read and sorted. One that a hundredth
  // has fills it further on: that takes a third of the time of its entries.
  let next = await read(amongNext(filter, words, NEXT_MAX), words.patterns);
  if (next.length > position.limit / FURTHER && next.length <= position.limit)
    next = await read(amongNext(filter, words, FURTHER * NEXT_MAX), words.patterns);
  const isFull = next.length > position.limit;
  const indexed = isFull ? [] : await read(byWords(filter), [queryOf(words, filter)], readByWords);
  const found = new Map([...numbers, ...next, ...indexed].map((order) => [order.id, order]));
  const sorted = [...found.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return (sortOf(filter).order === "desc" ? sorted.reverse() : sorted).slice(0, position.limit + 1);
}

/** Orders that each of the parts of a search finds at most, of all merchants together. */
const FOUND_MAX = 10_000;
/** Orders whose words are compared one by one, which also finds parts within words. */
const NEXT_MAX = 5_000;
/** So many times as many are compared if their share among the next ones would fill the page then. */
const FURTHER = 10;
const UNION = "\n        union";

/**
 * The next orders of the sequence, by order_requests_newest_idx, whichever merchants there are. The parameters from $16 on are the
 * patterns of each of the alternatives.
 */
const amongNext = (filter: OrderFilter, { patterns }: WordSearch, max: number): string => `
        select w.merchant_id, w.order_id as id
        from (
          select w.merchant_id, w.order_id, ' ' || w.words || ' ' as words
          from order_requests w
          where w.words is not null and w.order_id ${sortOf(filter).after} $1
          order by w.order_id ${sortOf(filter).order}
          limit ${max}) as w
        where ($3::uuid[] is null or w.merchant_id = any($3))
          and (${patterns.map((_pattern, index) => `w.words like all ($${index + 16}::text[])`).join(" or ")})`;

/** $16 is the condition of the words. By order_requests_words_idx. Without the offset, another index could be used. */
const byWords = (filter: OrderFilter): string => `
        select found.merchant_id, found.id
        from (
          select w.merchant_id, w.order_id as id
          from order_requests w
          where array_to_tsvector(string_to_array(w.words || ' @' || right(w.merchant_id::text, 8), ' ')) @@ $16::tsquery
          offset 0) as found
        where ($3::uuid[] is null or found.merchant_id = any($3)) and found.id ${sortOf(filter).after} $1
        order by found.id ${sortOf(filter).order}
        limit ${FOUND_MAX}`;

/** An index of words is read by bitmaps alone. */
async function readByWords(tx: Queryable): Promise<void> {
  await readToLimits(tx);
  await tx.query({ name: "read-with-bitmapscan", text: "set local enable_bitmapscan to on", values: [] });
}

/**
 * Sorts the words of new orders into order_requests_words_idx. Until then they are in a list of the index, which each search reads to its end,
 * and which the creation that fills it would have to empty. On Citus each node does that, since a node has few of the new orders.
 */
export async function sortInNewWords(db: Database): Promise<number> {
  if (await db.isDistributed()) return 0;
  const [row] = await db.query<{ pages: number }>({
    name: "sort-in-new-words",
    text: "select gin_clean_pending_list('order_requests_words_idx')::integer as pages",
    values: [],
  });
  return row?.pages ?? 0;
}

/** With more merchants, a condition for each costs more than to leave out the orders of others. */
const MERCHANT_WORDS_MAX = 20;

function queryOf({ query }: WordSearch, filter: OrderFilter): string {
  const merchants = merchantsInFilter(filter);
  if (merchants === null || merchants.length > MERCHANT_WORDS_MAX) return query;
  return `(${merchants.map(merchantWord).join(" | ")}) & (${query})`;
}

/**
 * $16: the text as it was typed, in lower case and in upper case. By order_requests_external_order_id_key, which begins with the
 * external id and has the order of the database's collation; a text sorts before all that continue it in every collation.
 */
const byExternalId = (index: number): string => `
        select o.merchant_id, o.id
        from (
          select o.merchant_id, o.order_id as id
          from order_requests o
          where o.external_order_id >= ($16::text[])[${index}] and o.external_order_id < ($17::text[])[${index}]
            and starts_with(o.external_order_id, ($16::text[])[${index}])
          order by o.external_order_id
          limit ${FOUND_MAX / 4}) as o
        where $3::uuid[] is null or o.merchant_id = any($3)`;

/** By shipments_tracking_idx. */
const BY_TRACKING_NUMBER = `
        (select s.merchant_id, s.order_id as id
         from shipments s
         join merchants m on m.id = s.merchant_id
         where ${MERCHANT_SHOWN} and s.tracking_number is not null
           and lower(translate(s.tracking_number, ' -', '')) = any($18::text[])
         limit ${FOUND_MAX})`;

/** $16 is the id of an order. */
const BY_ID = `
        select o.merchant_id, o.id
        from merchants m
        cross join lateral (select o.merchant_id, o.id from orders o where o.merchant_id = m.id and o.id = $16 offset 0) as o
        where ${MERCHANT_SHOWN}`;

/** The page of the orders that `found` returns. @param plan says how the statement is planned */
async function readFound(
  db: Database,
  filter: OrderFilter,
  found: string,
  values: unknown[],
  plan: (tx: Queryable) => Promise<void>,
): Promise<ListedOrder[]> {
  const { after, order } = sortOf(filter);
  const read = (await db.isDistributed()) ? READ_TOGETHER : READ_ONE_BY_ONE;
  const statement = {
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[], $15::uuid[]),
      named as materialized (${found})
      -- Sorted before the orders are read, so that reading ends when the page is full.
      select found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
             c.name as connection_name, m.id as merchant_id, m.name as merchant_name
      from (
        select o.*
        from (select n.merchant_id, n.id from named n where n.id ${after} $1 order by n.id ${order}) as n
        ${read(`($4::uuid[] is null or o.connection_id = any($4)) and ${conditionsOf(filter)}`)}
        order by n.id ${order}
        limit $2 + 1) as found
      join merchants m on m.id = found.merchant_id
      join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id
      order by found.id ${order}`,
    values,
  };
  const rows = await db.transaction(async (tx) => {
    await plan(tx);
    return tx.query<ListedRow>(statement);
  });
  return rows.map(toListed);
}

/** The orders that were found, each by its key, until the page is full. */
const READ_ONE_BY_ONE = (condition: string): string => `cross join lateral (
          select o.id, o.merchant_id, o.connection_id, o.goods_minor, o.currency, o.changed_at
          from orders o
          where o.merchant_id = n.merchant_id and o.id = n.id and ${condition}
          offset 0) as o`;

/** All at once, because Citus would have to send each one to its node (docs/design/distribution.md, "Merchant by merchant"). */
const READ_TOGETHER = (condition: string): string => `join (
          select o.id, o.merchant_id, o.connection_id, o.goods_minor, o.currency, o.changed_at
          from orders o
          where ${condition}) as o on o.merchant_id = n.merchant_id and o.id = n.id`;
