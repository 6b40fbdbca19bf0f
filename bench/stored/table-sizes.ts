import type { Database } from "../../src/platform/database/database.ts";

/** A table or an index. Partitions count as their table. */
export type StoredSize = {
  readonly name: string;
  readonly bytes: number;
  /** Levels that a look-up in a B-tree reads; null for a table. Of partitions the deepest. */
  readonly levels: number | null;
};

/** The sizes of tables that orders fill, the largest first. */
export const readStoredSizes = (db: Database): Promise<StoredSize[]> =>
  db.query<StoredSize>({
    name: "read-stored-sizes",
    text: `
      select regexp_replace(c.relname, '_[0-9]{8}', '') as name, sum(pg_relation_size(c.oid))::float8 as bytes,
             max(case when a.amname = 'btree' and c.relkind = 'i' then (bt_metap(c.relname)).level + 1 end)::integer as levels
      from pg_class c
      left join pg_am a on a.oid = c.relam
      where c.relkind in ('r', 'i') and c.relnamespace = current_schema()::regnamespace
      group by 1
      having sum(pg_relation_size(c.oid)) > 1048576
      order by bytes desc`,
    values: [],
  });
