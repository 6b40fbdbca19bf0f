import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { makeKey } from "../../src/merchants/api-key.ts";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { newSigningSecret } from "../../src/webhooks/endpoints/secrets.ts";
import type { LoadPartner } from "../load-generator.ts";
import { orderTemplate } from "../loads.ts";
import { SECRET_KEY } from "../processes.ts";
import type { Site } from "../site.ts";

const secrets = createSecretBox([SECRET_KEY]);

type SmallPartner = {
  merchantId: string;
  connectionId: string;
  endpointId: string;
  productIds: [string, string];
  key: ReturnType<typeof makeKey>;
};

const newPartner = (): SmallPartner => ({
  merchantId: randomUUID(),
  connectionId: randomUUID(),
  endpointId: randomUUID(),
  productIds: [randomUUID(), randomUUID()],
  key: makeKey("live"),
});

/**
 * Adds partners, each with a merchant, a key, two stocked products and an endpoint, by SQL: by the API it would take
 * minutes. Writes what a load needs to a file.
 * @param url receives the deliveries of all of them
 */
export async function addSmallPartners(
  { db }: Pick<Site, "db">,
  { count, url, file }: { count: number; url: string; file: string },
): Promise<void> {
  const partners = Array.from({ length: count }, newPartner);
  await db.withClient(async (client) => {
    await client.query("set statement_timeout = 0");
    await client.query(PARTNERS_SQL, [
      partners.map(({ merchantId }) => merchantId),
      partners.map(({ connectionId }) => connectionId),
      partners.map(({ endpointId }) => endpointId),
      partners.map(({ productIds }) => productIds[0]),
      partners.map(({ productIds }) => productIds[1]),
      partners.map(({ key }) => key.hash),
      partners.map(({ key }) => key.prefix),
      partners.map(({ endpointId }) => secrets.seal(newSigningSecret(), endpointId)),
      url,
    ]);
    await client.query("vacuum analyze");
    await client.query("reset statement_timeout");
  });
  await writeFile(file, JSON.stringify(partners.map(toLoadPartner)));
}

const toLoadPartner = ({ key, productIds }: SmallPartner): LoadPartner => ({
  key: key.key,
  body: orderTemplate({ productIds }), // The wire shows products by their UUIDs.
});

const PARTNERS_SQL = `
  with partner as materialized (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[])
      as partner (merchant_id, connection_id, endpoint_id, product_1, product_2, key_hash, prefix, sealed)
  ), product as materialized (
    select merchant_id, connection_id, product_1 as id from partner
    union all
    select merchant_id, connection_id, product_2 from partner
  ), merchant as (
    insert into merchants (id, name, account_email, currency, created_at)
    select merchant_id, 'Merchant', 'merchant@example.com', 'EUR', now() from partner
  ), connection as (
    insert into connections (merchant_id, id, currency, name, created_at)
    select merchant_id, connection_id, 'EUR', 'Partner', now() from partner
  ), key as (
    insert into api_keys (key_hash, id, merchant_id, connection_id, prefix, created_at)
    select decode(key_hash, 'hex'), gen_random_uuid(), merchant_id, connection_id, prefix, now() from partner
  ), sold as (
    insert into products (merchant_id, id, sku, name, price_minor, currency, status, created_at, updated_at)
    select merchant_id, id, 'SKU', 'Product', 1500, 'EUR', 'active', now(), now() from product
  ), exposed as (
    insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
    select merchant_id, connection_id, id, now() from product
  ), stocked as (
    insert into stocked_products (merchant_id, product_id) select merchant_id, id from product
  ), stock as (
    insert into facility_stock (merchant_id, facility_id, product_id, on_hand, reserved, updated_at)
    select p.merchant_id, f.id, p.id, 1000000000, 0, now() from product p cross join facilities f
  ), owner as (
    insert into webhook_owners (merchant_id, connection_id, last_endpoint_number)
    select merchant_id, connection_id, 1 from partner
  ), endpoint as (
    insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, in_flight_max,
                                   created_at, updated_at)
    select merchant_id, connection_id, endpoint_id, 1, $9, '{order.created}', 'active', 8, now(), now() from partner
  ), secret as (
    insert into webhook_secrets (merchant_id, connection_id, endpoint_id, id, sealed, created_at)
    select merchant_id, connection_id, endpoint_id, gen_random_uuid(), sealed, now() from partner
  )
  insert into webhook_endpoint_states (merchant_id, connection_id, endpoint_id, leased_until, consecutive_failures,
                                       last_success_at, warnings_sent)
  select merchant_id, connection_id, endpoint_id, now(), 0, now(), 0 from partner`;
