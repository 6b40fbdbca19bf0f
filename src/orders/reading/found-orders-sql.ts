import { type Database, readToLimits } from "../../platform/database/database.ts";
import { possibleTrackingNumbers } from "../changes/tracking-number.ts";
import {
  afterAll,
  conditionsOf,
  listValues,
  MERCHANT_SHOWN,
  namePatterns,
  type OrderFilter,
  sortOf,
} from "./list-conditions-sql.ts";
import { countMerchants, type ListedOrder, type ListedRow, toListed } from "./list-orders-sql.ts";

/** Orders that each of the parts of a search finds at most, of all merchants together. */
const FOUND_MAX = 10_000;
/** Orders of each merchant that a part finds at least, however many merchants there are. */
const FOUND_OF_MERCHANT_MIN = 50;

/** The key of a name in orders_name_idx, of which the statement names the condition. */
const NAME_KEY = "lower(o.last_name || ' ' || o.first_name)";

/** A text without a word has no beginning of a name, and uses none of them. */
const NAME_PARAMETERS = ", $16::text[], $17::text[], $18::text[]";

/** $16 to $18: the beginnings that a name can have. By orders_name_idx. */
const byName = (foundMax: number, index: number): string => `
        select o.merchant_id, o.id
        from merchants m
        cross join lateral (
          select o.merchant_id, o.id, o.first_name
          from orders o
          where o.merchant_id = m.id and o.created_at > '-infinity'
            and ${NAME_KEY} ~>=~ ($16::text[])[${index}] and ${NAME_KEY} ~<~ ($17::text[])[${index}]
          order by ${NAME_KEY} using ~<~
          limit ${foundMax}) as o
        where starts_with(lower(o.first_name), ($18::text[])[${index}]) and ${MERCHANT_SHOWN}`;

/** $19 is the text, in lower case, and $20 sorts after all that begin with it. By orders_company_idx. */
const byCompany = (foundMax: number): string => `
        select o.merchant_id, o.id
        from merchants m
        cross join lateral (
          select o.merchant_id, o.id
          from orders o
          where o.merchant_id = m.id and o.company is not null
            and lower(o.company) ~>=~ $19 and lower(o.company) ~<~ $20
          order by lower(o.company) using ~<~
          limit ${foundMax}) as o
        where ${MERCHANT_SHOWN}`;

/**
 * $21: the text as it was typed, in lower case and in upper case. By orders_external_order_id_key, which begins with the
 * external id and has the order of the database's collation; a text sorts before all that continue it in every collation.
 */
const byExternalId = (index: number): string => `
        select o.merchant_id, o.id
        from (
          select o.merchant_id, o.id
          from orders o
          where o.external_order_id >= ($21::text[])[${index}] and o.external_order_id < ($22::text[])[${index}]
            and starts_with(o.external_order_id, ($21::text[])[${index}])
          order by o.external_order_id
          limit ${FOUND_MAX / 4}) as o
        where $3::uuid[] is null or o.merchant_id = any($3)`;

/** By shipments_tracking_idx. */
const BY_TRACKING_NUMBER = `
        (select s.merchant_id, s.order_id
         from shipments s
         join merchants m on m.id = s.merchant_id
         where ${MERCHANT_SHOWN} and s.tracking_number is not null and lower(s.tracking_number) = any($23::text[])
         limit ${FOUND_MAX})`;

/** Any part of an external id, a name or a company, among the newest orders of each merchant. By the primary key. */
const amongTheNewest = (foundMax: number): string => `
        select o.merchant_id, o.id
        from merchants m
        cross join lateral (
          select o.merchant_id, o.id, o.external_order_id, o.first_name, o.last_name, o.name, o.company
          from orders o
          where o.merchant_id = m.id
          order by o.id desc
          limit ${foundMax}) as o
        where ${MERCHANT_SHOWN} and (
              strpos(lower(o.external_order_id), $19) > 0 or strpos(lower(o.first_name || ' ' || o.last_name), $19) > 0
           or strpos(lower(o.name), $19) > 0 or strpos(lower(o.company), $19) > 0)`;

/** $16 is the id of an order. */
const BY_ID = `
        select o.merchant_id, o.id
        from merchants m
        cross join lateral (select o.merchant_id, o.id from orders o where o.merchant_id = m.id and o.id = $16 offset 0) as o
        where ${MERCHANT_SHOWN}`;

/**
 * The orders that a search finds and that match the other filters, one more than the page if there is one. What it finds does
 * not depend on the page, so that pages continue each other. It reads a bounded number of rows
 * (docs/design/api-conventions.md, "Searching orders").
 */
export async function listFoundOrders(
  db: Database,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  now: Date,
): Promise<ListedOrder[]> {
  const { after, order } = sortOf(filter);
  const values = searchValues(filter);
  const found = filter.orderId === null ? partsOf(values, await countMerchants(db, filter)) : BY_ID;
  const read = (await db.isDistributed()) ? READ_TOGETHER : READ_ONE_BY_ONE;
  const statement = {
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[], $15::uuid[]${filter.orderId === null ? NAME_PARAMETERS : ""}),
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
    values: [
      ...listValues(filter, afterId, limit, now),
      ...(filter.orderId === null ? values : [filter.orderId]),
    ],
  };
  const rows = await db.transaction(async (tx) => {
    await readToLimits(tx);
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

/** The results of each part of a search. */
function partsOf([starts, , , , , spellings]: SearchValues, merchantCount: number): string {
  const foundMax = Math.max(FOUND_OF_MERCHANT_MIN, Math.floor(FOUND_MAX / Math.max(1, merchantCount)));
  return [
    ...starts.map((_start, index) => byName(foundMax, index + 1)),
    byCompany(foundMax),
    ...spellings.map((_spelling, index) => byExternalId(index + 1)),
    BY_TRACKING_NUMBER,
    amongTheNewest(foundMax),
  ].join("\n        union");
}

type SearchValues = [
  starts: string[],
  beyond: string[],
  first: string[],
  text: string,
  beyondText: string,
  spellings: string[],
  beyondSpellings: string[],
  trackingNumbers: string[],
];

function searchValues({ text }: OrderFilter): SearchValues {
  const typed = text ?? "";
  const lower = typed.toLowerCase();
  const patterns = namePatterns(lower);
  const spellings = [...new Set([typed, lower, typed.toUpperCase()])];
  return [
    patterns.map(({ start }) => start),
    patterns.map(({ start }) => afterAll(start)),
    patterns.map(({ first }) => first),
    lower,
    afterAll(lower),
    spellings,
    spellings.map(afterAll),
    possibleTrackingNumbers(typed),
  ];
}
