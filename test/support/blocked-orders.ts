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
    create function reject() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject before update on orders for each row
      when (old.id between '${fromTypeId("ord", oldest)}' and '${fromTypeId("ord", newest)}')
      execute function reject();`);
  return () => test.db.runScript("drop trigger reject on orders");
}
