import { randomUUID } from "node:crypto";
import type pg from "pg";
import { createSecretBox } from "../src/platform/secret-box.ts";
import { newSigningSecret } from "../src/webhooks/secrets/signing-secret.ts";
import { SECRET_KEY } from "./processes.ts";
import type { Site } from "./site.ts";

const secrets = createSecretBox([SECRET_KEY]);

const TABLES =
  "attempts, due_deliveries, deliveries, webhook_secrets, webhook_endpoint_states, webhook_recoveries, webhook_endpoints";

/** Without endpoints, deliveries and attempts. */
export const emptyWebhooks = ({ db }: Pick<Site, "db">): Promise<void> => db.runScript(`truncate ${TABLES}`);

/** Endpoints of the site's connection, paused, so that nothing is sent before everything is stored. */
export async function addEndpoints({ db, partner }: Site, urls: readonly string[]): Promise<void> {
  const ids = urls.map(() => randomUUID());
  await db.withClient(async (client) => {
    await client.query(
      `insert into webhook_endpoints (connection_id, id, number, url, event_types, status, pause_reason, paused_at,
                                      in_flight_max, created_at, updated_at)
       select $1, id, number, url, '{order.created}', 'paused', 'failing', now(), 8, now(), now()
       from unnest($2::uuid[], $3::text[]) with ordinality as e (id, url, number)`,
      [partner.connectionUuid, ids, urls],
    );
    await client.query(
      `insert into webhook_secrets (connection_id, endpoint_id, id, sealed, created_at)
       select $1, id, gen_random_uuid(), sealed, now() from unnest($2::uuid[], $3::text[]) as e (id, sealed)`,
      [partner.connectionUuid, ids, ids.map((id) => secrets.seal(newSigningSecret(), id))],
    );
    await client.query(
      `insert into webhook_endpoint_states (connection_id, endpoint_id, leased_until, consecutive_failures,
                                            last_success_at, warnings_sent)
       select $1, id, now(), 0, now(), 0 from unnest($2::uuid[]) as e (id)`,
      [partner.connectionUuid, ids],
    );
  });
}

/** Signals the dispatchers as well, as the service does after each transaction. Otherwise they would poll within a second. */
export const activateEndpoints = ({ db }: Pick<Site, "db">): Promise<void> =>
  db.runScript(`
    update webhook_endpoints set status = 'active', pause_reason = null, paused_at = null;
    select pg_notify(
      'partner_orders_deliveries_due',
      json_build_object('from', 'bench', 'news', 'due', 'connectionIds', json_agg(distinct connection_id))::text)
    from webhook_endpoints`);

/** Events of the given number of orders, with a delivery to every endpoint, all due. */
export async function addBacklog({ db, partner }: Site, orders: number, body: string): Promise<void> {
  await db.withClient(async (client: pg.PoolClient) => {
    await client.query("set statement_timeout = 0");
    await client.query(
      `with told as (
         insert into events (connection_id, id, type, order_id, sequence, body)
         select $1, uuidv7(), 'order.created', uuidv7(), 1, $2 from generate_series(1, $3::integer)
         returning id, type, order_id
       ), owed as (
         insert into deliveries (connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, status)
         select $1, (left(t.id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id, t.id, t.type, t.order_id, 1,
                t.order_id, 'pending'
         from told t cross join webhook_endpoints w
         where w.connection_id = $1
         returning endpoint_id, stream_id, id, event_id
       )
       insert into due_deliveries (connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
                                   is_followed)
       select $1, endpoint_id, stream_id, id, event_id, 'schedule', 0, now(), false from owed`,
      [partner.connectionUuid, body, orders],
    );
    await client.query(
      "vacuum analyze events, deliveries, due_deliveries, webhook_endpoint_states, webhook_endpoints",
    );
    await client.query("checkpoint");
    await client.query("reset statement_timeout");
  });
}

/** Counts of what is left to send and of what is on record. */
export async function countDeliveries({ db }: Pick<Site, "db">): Promise<{ due: number; delivered: number }> {
  const [row] = await db.query<{ due: bigint; delivered: bigint }>({
    name: "bench-count-deliveries",
    text: `
      select (select count(*) from due_deliveries) as due,
             (select count(*) from attempts where response_status = 200 and error is null) as delivered`,
    values: [],
  });
  return { due: Number(row?.due), delivered: Number(row?.delivered) };
}
