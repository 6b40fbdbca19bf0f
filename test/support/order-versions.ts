import { query } from "./embedded-postgres.ts";

/**
 * At each commit, rejects a change of lines, shipments or an address without their order: its version would stay the same, and readers that
 * know the order would continue to show it as it was (docs/design/performance.md, "Orders that are known"). An order that is
 * gone has no readers.
 */
const REQUIRE_NEW_VERSION = `
  create or replace function require_new_version() returns trigger language plpgsql as $function$
  declare
    part record := coalesce(new, old);
  begin
    if exists (
      select from orders o
      where o.merchant_id = part.merchant_id and o.id = part.order_id and o.xmin <> pg_current_xact_id()::xid)
    then
      raise exception 'A row of % has changed, and its order % has not.', tg_table_name, part.order_id;
    end if;
    return null;
  end
  $function$`;

/** Lets every test find a statement that forgets the version of an order. A database of the user's may have it from before. */
export async function requireNewVersions(url: string): Promise<void> {
  await query(url, REQUIRE_NEW_VERSION);
  // A correction and the erasure of an address change the words. A test order that expires loses its keys, which nothing shows.
  for (const [table, changes] of [
    ["order_lines", "insert or update or delete"],
    ["shipments", "insert or update or delete"],
    ["order_requests", "update of words"],
  ]) {
    await query(url, `drop trigger if exists require_new_version on ${table}`);
    await query(
      url,
      `create constraint trigger require_new_version after ${changes} on ${table}
       deferrable initially deferred for each row execute function require_new_version()`,
    );
  }
}
