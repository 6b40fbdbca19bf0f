import { fromTypeId } from "../../src/platform/ids.ts";
import type { TestService } from "./test-service.ts";

/**
 * From now on no order up to this one can be changed, oldest first; returns a function that makes it possible again.
 */
export async function blockOrderChanges(
  test: TestService,
  oldest: string,
  newest = oldest,
): Promise<() => Promise<void>> {
  await test.db.runScript(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before update on orders for each row
      when (old.id between '${fromTypeId("ord", oldest)}' and '${fromTypeId("ord", newest)}')
      execute function refuse();`);
  return () => test.db.runScript("drop trigger refuse on orders");
}
