import { type Database, type Queryable, readToLimits } from "../../platform/database/database.ts";
import { possibleTrackingNumbers } from "../changes/tracking-number.ts";
import { merchantWord, queryOf, type Terms, termsOf } from "../search-words.ts";
import {
  afterAll,
  conditionsOf,
  listValues,
  MERCHANT_SHOWN,
  merchantsInFilter,
  type OrderFilter,
  sortOf,
} from "./list-conditions-sql.ts";
import {
  boundsOf,
  endOf,
  type IdRange,
  type ListedOrder,
  type ListedOrders,
  type ListedRow,
  toListed,
} from "./list-orders-sql.ts";

/** Orders that a part of a search finds by an index. If there are more, the next ones are compared instead. */
const FOUND_MAX = 5_000;
/** How many of the next orders are compared, part by part, until the page is full. */
const PARTS = [5_000, 15_000, 30_000];
/** Of each part, orders that are read because their words fit. */
const FITTING_MAX = 2_500;
/** If more of those that were compared have the words than one in so many, too many of all have them for the index. */
const RARE = 200;

/**
 * The orders that a search finds and that match the other filters: those with all words of the text, as beginnings of theirs,
 * those whose external id begins with it, and those with the tracking number. It reads a bounded number of rows
 * (docs/design/api-conventions.md, "Searching orders").
 */
export async function listFoundOrders(
  db: Database,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  range: IdRange,
  now: Date,
): Promise<ListedOrders> {
  const { start, farthest } = boundsOf(filter, afterId, range);
  const read = (found: string, values: readonly unknown[], after = start, plan = readToLimits) =>
    readFound(db, filter, found, [...listValues(filter, after, limit, now), farthest, ...values], plan);
  if (filter.orderId !== null) return read(BY_ID, [filter.orderId]);
  const typed = filter.text ?? "";
  const spellings = spellingsOf(typed);
  const numbers = await read(
    [
      ...spellings.map((_spelling, index) =>
        byExternalId(index + 1, Math.floor(FOUND_MAX / spellings.length)),
      ),
      BY_TRACKING_NUMBER,
    ].join(UNION),
    [spellings, spellings.map(afterAll), possibleTrackingNumbers(typed)],
  );
  const terms = termsOf(typed);
  // If too many external ids begin so, they are compared as the words are: the index has them in another order.
  const isCut = numbers.readTo !== null;
  if (terms.length === 0 && !isCut) return numbers;
  const named = numbers.orders;
  const compared = [isCut ? spellings : [], ...terms.map((all) => all.map(({ part }) => part))];
  const next: ListedOrder[] = [];
  let indexed: FoundOrders | null = null;
  let [readTo, comparedCount, fittingCount] = [start, 0, 0];
  for (const max of PARTS) {
    const part = await read(amongNext(filter, terms.length, max), compared, readTo);
    next.push(...part.orders);
    if (part.readTo === null || next.length > limit) return pageOf(filter, limit, [...named, ...next], null);
    readTo = part.readTo;
    comparedCount += max;
    fittingCount += part.fitting;
    if (isCut || fittingCount > comparedCount / RARE) continue;
    indexed ??= await read(
      byWords(filter, terms.length),
      [
        withMerchants(filter, queryOf(terms, await countTerms(db, filter, start, terms))),
        ...terms.map((all) => all.map(({ pattern }) => pattern)),
      ],
      start,
      readByWords,
    );
    if (indexed.readTo === null) return pageOf(filter, limit, [...named, ...next, ...indexed.orders], null);
  }
  return pageOf(filter, limit, [...named, ...next], readTo);
}

const spellingsOf = (typed: string): string[] => [
  ...new Set([typed, typed.toLowerCase(), typed.toUpperCase()]),
];

/** @param readTo orders after it are of the next page */
function pageOf(
  { sort }: OrderFilter,
  limit: number,
  found: readonly ListedOrder[],
  readTo: string | null,
): ListedOrders {
  const isOldest = sort === "oldest";
  const isRead = (id: string) => readTo === null || (isOldest ? id <= readTo : id >= readTo);
  const orders = [...new Map(found.map((order) => [order.id, order])).values()]
    .filter(({ id }) => isRead(id))
    .sort((one, other) => (one.id < other.id === isOldest ? -1 : 1));
  return { orders: orders.slice(0, limit + 1), readTo };
}

/** `fitting`: those that were found before the filters that compare orders. */
type FoundOrders = ListedOrders & { readonly fitting: number };

const UNION = "\n        union";

/** By the primary key if all are of one merchant, else by order_requests_newest_idx. */
const sequenceOf = (filter: OrderFilter): string => {
  const { order } = sortOf(filter);
  const isOfOne = merchantsInFilter(filter)?.length === 1;
  return isOfOne ? `w.merchant_id ${order}, w.order_id ${order}` : `w.order_id ${order}`;
};

/** The next orders of the sequence after $1. With several merchants, also those of others. */
const nextOf = (filter: OrderFilter, max: number, end: string): string => `(
            select w.merchant_id, w.connection_id, w.order_id, w.test_mode, w.external_order_id, ' ' || w.words || ' ' as words
            from order_requests w
            where ${merchantsInFilter(filter)?.length === 1 ? "w.merchant_id = any($3)" : "true"}
              and w.order_id ${sortOf(filter).after} $1 and ${end}
            order by ${sequenceOf(filter)}
            limit ${max})`;

/** $18 and the following are the patterns of each of the alternatives. */
const fitsWords = (alternatives: number): string =>
  [
    "false",
    ...Array.from({ length: alternatives }, (_, index) => `w.words like all ($${index + 18}::text[])`),
  ].join(" or ");

/**
 * Those of the next orders that have the words, or whose external id begins with one of $17. `is_last`: the next page continues
 * after it, because reading ended before the sequence did.
 */
const amongNext = (filter: OrderFilter, alternatives: number, max: number): string => `
        select w.merchant_id, w.order_id as id, w.fits,
               w.number = ${max} or row_number() over (order by ${sequenceOf(filter)}) = ${FITTING_MAX} as is_last
        from (
          select w.merchant_id, w.order_id, row_number() over (order by ${sequenceOf(filter)}) as number,
                 ($3::uuid[] is null or w.merchant_id = any($3)) and ($4::uuid[] is null or w.connection_id = any($4))
                 and ${filter.testMode ? "" : "not "}w.test_mode
                 and (${fitsWords(alternatives)} or w.external_order_id ^@ any($17::text[])) as fits
          from ${nextOf(filter, max, endOf(filter, "w.order_id"))} as w) as w
        where w.fits or w.number = ${max}
        order by ${sequenceOf(filter)}
        limit ${FITTING_MAX}`;

/** $17 is the condition of the words. By order_requests_words_idx. */
const byWords = (filter: OrderFilter, alternatives: number): string => `
        select found.merchant_id, found.id, found.fits, found.is_last
        from (
          select w.merchant_id, w.id, row_number() over () > ${FOUND_MAX} as is_last,
                 ($3::uuid[] is null or w.merchant_id = any($3)) and w.id ${sortOf(filter).after} $1
                 and (${fitsWords(alternatives)}) as fits
          from (
            select w.merchant_id, w.order_id as id, ' ' || w.words || ' ' as words
            from order_requests w
            where array_to_tsvector(string_to_array(w.words || ' @' || right(w.merchant_id::text, 8), ' ')) @@ $17::tsquery
            limit ${FOUND_MAX} + 1) as w) as found
        where found.fits or found.is_last`;

/** How many orders of a sample, the next ones, have each term. Empty if that decides nothing. */
async function countTerms(
  db: Database,
  filter: OrderFilter,
  start: string,
  terms: Terms,
): Promise<ReadonlyMap<string, number>> {
  if (terms.every((all) => all.length === 1)) return new Map();
  const patterns = [...new Set(terms.flat().map(({ pattern }) => pattern))];
  const rows = await db.query<{ pattern: string; count: number }>({
    name: "", // As `nextOf`.
    text: `
      select t.pattern, count(*)::integer as count
      from ${nextOf(filter, SAMPLED, "true")} as w
      join unnest($2::text[]) as t (pattern) on w.words like t.pattern
      where $3::uuid[] is null or w.merchant_id = any($3)
      group by t.pattern`,
    values: [start, patterns, merchantsInFilter(filter)],
  });
  return new Map(rows.map(({ pattern, count }) => [pattern, count]));
}

const SAMPLED = 2_000;

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

function withMerchants(filter: OrderFilter, query: string): string {
  const merchants = merchantsInFilter(filter);
  if (merchants === null || merchants.length > MERCHANT_WORDS_MAX) return query;
  return `(${merchants.map(merchantWord).join(" | ")}) & (${query})`;
}

/**
 * $17: the text as it was typed, in lower case and in upper case. By order_requests_external_order_id_key, which begins with the
 * external id and has the order of the database's collation; a text sorts before all that continue it in every collation.
 */
const byExternalId = (index: number, max: number): string => `
        (select o.merchant_id, o.id, $3::uuid[] is null or o.merchant_id = any($3) as fits,
                row_number() over () = ${max} as is_last
         from (
           select o.merchant_id, o.order_id as id
           from order_requests o
           where o.external_order_id >= ($17::text[])[${index}] and o.external_order_id < ($18::text[])[${index}]
             and starts_with(o.external_order_id, ($17::text[])[${index}])
           order by o.external_order_id
           limit ${max}) as o)`;

/** The orders that have exactly the text as their external id, in one of the spellings that people type. */
export async function listOrdersOfExternalId(
  db: Database,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  range: IdRange,
  now: Date,
): Promise<readonly ListedOrder[]> {
  const { start, farthest } = boundsOf(filter, afterId, range);
  const values = [...listValues(filter, start, limit, now), farthest, spellingsOf(filter.text ?? "")];
  return (await readFound(db, filter, OF_EXTERNAL_ID, values, readToLimits)).orders;
}

/** By order_requests_external_order_id_key. */
const OF_EXTERNAL_ID = `
        select o.merchant_id, o.order_id as id, true as fits, false as is_last
        from order_requests o
        where o.external_order_id = any($17::text[]) and ($3::uuid[] is null or o.merchant_id = any($3))
        limit ${FOUND_MAX}`;

/** By shipments_tracking_idx. */
const BY_TRACKING_NUMBER = `
        (select s.merchant_id, s.order_id as id, true as fits, false as is_last
         from shipments s
         join merchants m on m.id = s.merchant_id
         where ${MERCHANT_SHOWN} and s.tracking_number is not null
           and lower(translate(s.tracking_number, ' -', '')) = any($19::text[])
         limit ${FOUND_MAX})`;

/** $17 is the id of an order. */
const BY_ID = `
        select o.merchant_id, o.id, true as fits, false as is_last
        from merchants m
        cross join lateral (select o.merchant_id, o.id from orders o where o.merchant_id = m.id and o.id = $17 offset 0) as o
        where ${MERCHANT_SHOWN}`;

type FoundRow = { fitting: number; read_to: string | null } & (ListedRow | { id: null });

/** The page of the orders that `found` returns. @param plan says how the statement is planned */
async function readFound(
  db: Database,
  filter: OrderFilter,
  found: string,
  values: unknown[],
  plan: (tx: Queryable) => Promise<void>,
): Promise<FoundOrders> {
  const { after, order } = sortOf(filter);
  const readOrders = (await db.isDistributed()) ? READ_TOGETHER : READ_ONE_BY_ONE;
  const statement = {
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[], $15::uuid[],
               $16::uuid),
      named as materialized (${found})
      select ended.fitting, ended.read_to, listed.*
      from (
        select count(*) filter (where n.fits)::integer as fitting, (array_agg(n.id) filter (where n.is_last))[1] as read_to
        from named n) as ended
      left join (
        -- Sorted before the orders are read, so that reading ends when the page is full.
        select found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
               c.name as connection_name, m.id as merchant_id, m.name as merchant_name
        from (
          select o.*
          from (
            select n.merchant_id, n.id from named n where n.fits and n.id ${after} $1 order by n.id ${order}) as n
          ${readOrders(`($4::uuid[] is null or o.connection_id = any($4)) and ${conditionsOf(filter)}`)}
          order by n.id ${order}
          limit $2 + 1) as found
        join merchants m on m.id = found.merchant_id
        join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id) as listed on true
      order by listed.id ${order}`,
    values,
  };
  const rows = await db.transaction(async (tx) => {
    await plan(tx);
    return tx.query<FoundRow>(statement);
  });
  return {
    orders: rows.flatMap((row) => (row.id === null ? [] : [toListed(row)])),
    readTo: rows[0]?.read_to ?? null,
    fitting: rows[0]?.fitting ?? 0,
  };
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
