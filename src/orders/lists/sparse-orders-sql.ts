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
import type { OrderFilter } from "./order-list-filter.ts";

/** Orders that one statement reads, of all merchants together. */
const ROWS_OF_STATEMENT = 20_000;
/** Of each merchant at least so many are read, however many merchants there are. */
const ROWS_OF_MERCHANT_MIN = 50;

export type SparseOrders = {
  readonly orders: readonly ListedOrder[];
  readonly rowsRead: number;
  /** The order up to which all merchants were read, if that of one ended before its range did. */
  readonly readTo: string | null;
};

/** Without an order the only row has the numbers alone. */
type Row = { rows_read: number; read_to: string | null } & (ListedRow | { id: null });

/**
 * The orders of a range of ids that match the filter. It reads all orders of the range, in the order of the list, up to a
 * number of each merchant. Where that ends for one merchant, the orders of the others beyond that are left out too.
 */
export async function listSparseOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  { fromId, untilId }: IdRange,
  now: Date,
): Promise<SparseOrders> {
  const { after, upTo, order } = sortOf(filter);
  const merchantCount = await countMerchants(db, filter);
  const rowsMax = Math.max(ROWS_OF_MERCHANT_MIN, Math.floor(ROWS_OF_STATEMENT / Math.max(1, merchantCount)));
  const rows = await db.query<Row>({
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (${PARAMETERS}, $16::uuid, $17::uuid),
      read as materialized (
        select found.*, m.id as merchant_id
        from merchants m
        cross join lateral (
          select o.id, o.connection_id, o.goods_minor, o.currency, (${conditionsOf(filter)}) as fits,
                 row_number() over (partition by o.merchant_id order by o.id ${order}) = ${rowsMax} as is_last
          from orders o
          where o.merchant_id = m.id and o.id ${after} $1 and o.id >= $16 and o.id < $17
            and ($4::uuid[] is null or o.connection_id = any($4))
          order by o.id ${order}
          limit ${rowsMax}) as found
        where ${MERCHANT_SHOWN}),
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
        where found.fits and ${CONNECTION_SHOWN}
          and (ended.read_to is null or found.id ${upTo} ended.read_to)
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
