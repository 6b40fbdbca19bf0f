import type { ConnectionScope } from "../access/scope.ts";
import type { Queryable } from "../platform/database/database.ts";

export type FoundMerchant = { readonly id: string; readonly name: string };
export type FoundConnection = FoundMerchant & { readonly merchantId: string; readonly merchantName: string };

/** Merchants of these (null: all) with a name that contains the text, which is in lower case, or with this id. */
export const findMerchantsByName = (
  db: Queryable,
  merchantIds: readonly string[] | null,
  { text, id }: { readonly text: string; readonly id: string | null },
  limit: number,
): Promise<FoundMerchant[]> =>
  db.query<FoundMerchant>({
    name: "find-merchants-by-name",
    text: `
      select m.id, m.name
      from merchants m
      where ($1::uuid[] is null or m.id = any($1)) and (strpos(lower(m.name), $2) > 0 or m.id = $3)
      order by starts_with(lower(m.name), $2) desc, lower(m.name), m.id
      limit $4`,
    values: [merchantIds, text, id, limit],
  });

/** Connections of a scope with a name that contains the text, which is in lower case, or with this id. */
export const findConnectionsByName = (
  db: Queryable,
  scope: ConnectionScope,
  { text, id }: { readonly text: string; readonly id: string | null },
  limit: number,
): Promise<FoundConnection[]> =>
  db.query<FoundConnection>({
    name: "find-connections-by-name",
    text: `
      select c.id, c.name, m.id as "merchantId", m.name as "merchantName"
      from connections c
      join merchants m on m.id = c.merchant_id
      where ($1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2))
        and (strpos(lower(c.name), $3) > 0 or c.id = $4)
      order by starts_with(lower(c.name), $3) desc, lower(c.name), c.id
      limit $5`,
    values: [
      scope?.merchantIds ?? null,
      scope?.connections.map(({ connectionId }) => connectionId) ?? null,
      text,
      id,
      limit,
    ],
  });
