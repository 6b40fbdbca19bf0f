import { fromTypeId } from "../../src/platform/ids.ts";
import type { TestService } from "./test-service.ts";

/** Copies the newest entry of an order's timeline until it has so many. */
export const copyEntries = (test: TestService, id: string, count: number) =>
  test.db.query({
    name: "copy-timeline-entries",
    text: `
      insert into timeline_entries (
        merchant_id, order_id, id, operation, actor_kind, detail, status, hold_reasons, created_at)
      select e.merchant_id, e.order_id, gen_random_uuid(), e.operation, e.actor_kind, null, e.status, e.hold_reasons,
             e.created_at
      from (select * from timeline_entries where order_id = $1 order by id desc limit 1) e,
           generate_series((select count(*) from timeline_entries where order_id = $1) + 1, $2)`,
    values: [fromTypeId("ord", id), count],
  });
