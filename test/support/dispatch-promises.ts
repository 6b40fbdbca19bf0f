import { expect } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { OutcomeName } from "./dispatch-commands.ts";
import type { TestService } from "./test-service.ts";

/** A request as a receiver saw it. */
export type Arrival = {
  endpoint: number;
  eventId: string;
  orderId: string;
  sequence: number;
  answered: OutcomeName | null;
};

/** Each event is owed to each endpoint that wants it, unless it was deleted; nothing is due any more, or left of what was erased. */
export async function expectNothingLeft({ db }: TestService, connectionId: string): Promise<void> {
  const values = [connectionId];
  const owed = await db.query<{ missing: string }>({
    name: "test-model-owed",
    text: `
      select e.type || ' to ' || w.number as missing
      from events e
      join webhook_endpoints w on w.merchant_id = e.merchant_id and w.connection_id = e.connection_id
      where e.connection_id = $1 and e.order_id is not null and e.type = any(w.event_types) and w.status = 'active'
        and not exists (
          select from deliveries d
          where d.merchant_id = e.merchant_id and d.connection_id = $1 and d.event_id = e.id and d.endpoint_id = w.id)`,
    values,
  });
  expect(owed).toEqual([]);
  const orphans = await db.query<{ id: string }>({
    name: "test-model-orphans",
    text: `
      select d.id from deliveries d
      where d.connection_id = $1 and not exists (
        select from orders o where o.merchant_id = d.merchant_id and o.connection_id = $1 and o.id = d.order_id)
      union all
      select a.id from attempts a
      where not exists (
        select from deliveries d where d.merchant_id = a.merchant_id and d.id = a.delivery_id)
      union all
      select q.delivery_id
      from due_deliveries q
      join webhook_endpoints w on w.merchant_id = q.merchant_id and w.id = q.endpoint_id
      where q.connection_id = $1 and w.status = 'active'`,
    values,
  });
  expect(orphans).toEqual([]);
}

/** What succeeded was accepted, nothing waits any more, and the log has every attempt. */
export async function expectDelivered(
  { db }: TestService,
  connectionId: string,
  arrivals: readonly Arrival[],
): Promise<void> {
  const deliveries = await db.query<{
    endpoint: number;
    event_id: string;
    status: string;
    known: number;
    unknown: number;
    deleted: boolean;
  }>({
    name: "test-model-deliveries",
    text: `
      select w.number - 1 as endpoint, d.event_id, d.status,
             (count(a.id) filter (where a.duration_ms is not null))::integer + (d.started_at is not null)::integer as known,
             (count(a.id) filter (where a.duration_ms is null))::integer as unknown,
             w.status = 'deleted' as deleted
      from deliveries d
      join webhook_endpoints w on w.merchant_id = d.merchant_id and w.connection_id = d.connection_id and w.id = d.endpoint_id
      left join attempts a on a.merchant_id = d.merchant_id and a.delivery_id = d.id
      where d.connection_id = $1
      group by w.number, d.event_id, d.status, d.started_at, d.id, w.status`,
    values: [connectionId],
  });
  for (const { endpoint, event_id, status, known, unknown, deleted } of deliveries) {
    const arrived = arrivals.filter(
      (one) => one.endpoint === endpoint && fromTypeId("evt", one.eventId) === event_id,
    );
    const shown = JSON.stringify({ endpoint, event_id, status, known, unknown, arrived });
    // What a worker had claimed when it died stays as it was at an endpoint that was deleted since.
    if (!deleted) expect(["succeeded", "failed"], shown).toContain(status);
    if (status === "succeeded")
      expect(
        arrived.map(({ answered }) => answered),
        shown,
      ).toContain("ok");
    // A claim whose worker died counts, whether its request had gone out or not.
    expect(known, shown).toBeLessThanOrEqual(arrived.length);
    if (!deleted) expect(known + unknown, shown).toBeGreaterThanOrEqual(arrived.length);
  }
}
