import type { Queryable } from "../../platform/database/database.ts";
import { countMerchants } from "./count-merchants-sql.ts";
import {
  CONNECTION_SHOWN,
  conditionsOf,
  listValues,
  MERCHANT_SHOWN,
  PARAMETERS,
  sortOf,
} from "./list-conditions-sql.ts";
import {
  type IdRange,
  LISTED_COLUMNS,
  type ListedOrder,
  type ListedRow,
  toListed,
} from "./list-orders-sql.ts";
import { connectionsOf, type OrderFilter } from "./order-list-filter.ts";

/** Orders that one statement reads, of all merchants or connections together. */
const ROWS_OF_STATEMENT = 20_000;
/** Of each merchant or connection at least so many are read, however many there are. */
const ROWS_OF_EACH_MIN = 50;

export type SparseOrders = {
  readonly orders: readonly ListedOrder[];
  readonly rowsRead: number;
  /** The order up to which all of them were read, if that of one ended before its range did. */
  readonly readTo: string | null;
};

/** Without an order the only row has the numbers alone. */
type Row = { rows_read: number; read_to: string | null } & (ListedRow | { id: null });

/** Reads the orders of merchants by the primary key. */
const OF_MERCHANTS = {
  from: "merchants m",
  shown: MERCHANT_SHOWN,
  merchant: "m.id",
  owns: "o.merchant_id = m.id",
};

/** Reads those of connections by orders_search_idx, of which it names the condition, and not the others of their merchants. */
const OF_CONNECTIONS = {
  from: "connections c",
  shown: `${CONNECTION_SHOWN} and ($3::uuid[] is null or c.merchant_id = any($3))`,
  merchant: "c.merchant_id",
  owns: "o.merchant_id = c.merchant_id and o.connection_id = c.id and o.created_at > '-infinity'",
};

/**
 * The orders of a range of ids that match the filter. It reads all orders of the range, in the order of the list, up to a
 * number of each merchant, or of each connection if the filter names some. Where that ends for one, the orders of the others
 * beyond that are left out too.
 */
export async function listSparseOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  { fromId, untilId }: IdRange,
  now: Date,
): Promise<SparseOrders> {
  const { after, upTo, order } = sortOf(filter);
  const connections = connectionsOf(filter);
  const { from, shown, merchant, owns } = connections === null ? OF_MERCHANTS : OF_CONNECTIONS;
  const ownerCount = connections === null ? await countMerchants(db, filter) : connections.length;
  const rowsMax = Math.max(ROWS_OF_EACH_MIN, Math.floor(ROWS_OF_STATEMENT / Math.max(1, ownerCount)));
  const rows = await db.query<Row>({
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (${PARAMETERS}, $16::uuid, $17::uuid),
      read as materialized (
        select found.*, ${merchant} as merchant_id
        from ${from}
        cross join lateral (
          select o.id, o.connection_id, o.goods_minor, o.currency, (${conditionsOf(filter)}) as fits,
                 row_number() over (partition by o.merchant_id order by o.id ${order}) = ${rowsMax} as is_last
          from orders o
          where ${owns} and o.id ${after} $1 and o.id >= $16 and o.id < $17
          order by o.id ${order}
          limit ${rowsMax}) as found
        where ${shown}),
      ended as materialized (
        select count(*)::integer as rows_read,
               (array_agg(id order by id ${order}) filter (where is_last))[1] as read_to
        from read)
      select ended.rows_read, ended.read_to, shown.*
      from ended
      left join (
        select ${LISTED_COLUMNS}
        from read as found
        cross join ended
        join merchants m on m.id = found.merchant_id
        join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id
        where found.fits and (ended.read_to is null or found.id ${upTo} ended.read_to)
        order by found.id ${order}
        limit $2 + 1) as shown on true`,
    values: [...listValues(filter, afterId, limit, now), fromId, untilId],
  });
  const [first] = rows;
  return {
    orders: rows.flatMap((row) => (row.id === null ? [] : [toListed(row)])),
    rowsRead: first?.rows_read ?? 0,
    readTo: first?.read_to ?? null,
  };
}
