import { randomUUID } from "node:crypto";
import type pg from "pg";
import { createSecretBox } from "../src/platform/secret-box.ts";
import { newSigningSecret } from "../src/webhooks/endpoints/secrets.ts";
import { SECRET_KEY } from "./processes.ts";
import type { Site } from "./site.ts";

const secrets = createSecretBox([SECRET_KEY]);

const TABLES =
  "attempts, webhook_pull_leases, due_deliveries, deliveries, webhook_secrets, webhook_endpoint_states, webhook_resends, webhook_clearings, webhook_endpoints";

/** Without endpoints, deliveries and attempts. */
export const emptyWebhooks = ({ db }: Pick<Site, "db">): Promise<void> => db.runScript(`truncate ${TABLES}`);

/** Endpoints of the site's connection, paused, so that nothing is sent before everything is stored. */
export async function addEndpoints(
  { db, partner }: Pick<Site, "db" | "partner">,
  urls: readonly string[],
): Promise<void> {
  const { merchantId, connectionId } = partner.connection;
  const ids = urls.map(() => randomUUID());
  await db.withClient(async (client) => {
    await client.query(
      `insert into webhook_owners (merchant_id, connection_id, last_endpoint_number) values ($1, $2, $3)
       on conflict do nothing`,
      [merchantId, connectionId, urls.length],
    );
    await client.query(
      `insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, pause_reason,
                                      paused_at, in_flight_max, created_at, updated_at)
       select $4, $1, id, number, url, '{order.created}', 'paused', 'failing', now(), 8, now(), now()
       from unnest($2::uuid[], $3::text[]) with ordinality as e (id, url, number)`,
      [connectionId, ids, urls, merchantId],
    );
    await client.query(
      `insert into webhook_secrets (merchant_id, connection_id, endpoint_id, id, sealed, created_at)
       select $4, $1, id, gen_random_uuid(), sealed, now() from unnest($2::uuid[], $3::text[]) as e (id, sealed)`,
      [connectionId, ids, ids.map((id) => secrets.seal(newSigningSecret(), id)), merchantId],
    );
    await client.query(
      `insert into webhook_endpoint_states (merchant_id, connection_id, endpoint_id, leased_until,
                                            consecutive_failures, last_success_at, warnings_sent)
       select $3, $1, id, now(), 0, now(), 0 from unnest($2::uuid[]) as e (id)`,
      [connectionId, ids, merchantId],
    );
  });
}

/** Signals the dispatchers as well, as the service does after each transaction. Otherwise they would poll within a second. */
export const activateEndpoints = ({ db }: Pick<Site, "db">): Promise<void> =>
  db.runScript(`
    update webhook_endpoints set status = 'active', pause_reason = null, paused_at = null;
    select pg_notify(
      'partner_orders_signals',
      json_build_object('from', 'bench', 'signal', 'deliveries_due',
                        'connections', json_agg(distinct merchant_id || '/' || connection_id))::text)
    from webhook_endpoints`);

/** Events of the given number of orders, with a delivery to every endpoint, all due. */
export async function addBacklog(
  { db, partner }: Pick<Site, "db" | "partner">,
  orders: number,
  body: string,
): Promise<void> {
  await db.withClient(async (client: pg.PoolClient) => {
    await client.query("set statement_timeout = 0");
    await client.query(
      `with published as (
         insert into events (merchant_id, connection_id, id, type, order_id, sequence, body)
         select $4, $1, uuidv7(), 'order.created', uuidv7(), 1, $2 from generate_series(1, $3::integer)
         returning id, type, order_id
       ), pending as (
         insert into deliveries (merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence,
                                 stream_id, status)
         select $4, $1, (left(e.id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id, e.id, e.type, e.order_id,
                1, e.order_id, 'pending'
         from published e cross join webhook_endpoints w
         where w.merchant_id = $4 and w.connection_id = $1
         returning endpoint_id, stream_id, id, event_id
       )
       insert into due_deliveries (merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger,
                                   attempt_count, due_at, is_followed)
       select $4, $1, endpoint_id, stream_id, id, event_id, 'schedule', 0, now(), false from pending`,
      [partner.connection.connectionId, body, orders, partner.connection.merchantId],
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
             (select count(*) from deliveries where status = 'succeeded') as delivered`,
    values: [],
  });
  return { due: Number(row?.due), delivered: Number(row?.delivered) };
}
