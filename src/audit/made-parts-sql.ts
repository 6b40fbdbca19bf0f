import type { ConnectionKey, ConnectionKeyRow } from "../platform/connection-key.ts";
import { toConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Maker } from "./maker.ts";

// The parts of webhook endpoints that tokens have set (docs/design/people.md, "What a token makes"). The tokens end them, and the
// endpoints follow: so a change of tokens writes no row of a merchant, whose node may be down.

/** What of an endpoint a token can have set. */
export const MADE_PARTS = ["address", "secret"] as const;
export type MadePart = (typeof MADE_PARTS)[number];

export type MadePartOfEndpoint = {
  readonly endpointId: string;
  readonly part: MadePart;
  /** The token with which it ends. */
  readonly tokenId: string;
  readonly tokenName: string;
  /** When it ends, or has ended. Null: not before its token is revoked. */
  readonly endsAt: Date | null;
};

/** An endpoint, and whose it is. */
type EndpointOfOwner = ConnectionKey & { readonly id: string };

/** Notes who has set parts of an endpoint. The caller has locked the endpoint and the maker. */
export async function setMadeParts(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointOfOwner,
  parts: readonly MadePart[],
  { tokenId, tokenName, endsAt }: Maker,
): Promise<void> {
  await tx.query({
    name: "delete-made-parts",
    text: "delete from webhook_endpoint_parts where endpoint_id = $1 and part = any($2::text[])",
    values: [id, parts],
  });
  if (tokenId === null) return;
  await tx.query({
    name: "insert-made-parts",
    text: `
      insert into webhook_endpoint_parts (endpoint_id, part, merchant_id, connection_id, token_id, token_name, ends_at)
      select $1, made.part, $3, $4, $5, $6, $7
      from unnest($2::text[]) as made (part)`,
    values: [id, parts, merchantId, connectionId, tokenId, tokenName, endsAt],
  });
}

/** The parts of these endpoints that tokens have set. */
export async function readMadeParts(
  db: Queryable,
  endpointIds: readonly string[],
): Promise<MadePartOfEndpoint[]> {
  const rows = await db.query<{
    endpoint_id: string;
    part: MadePart;
    token_id: string;
    token_name: string;
    ends_at: Date | null;
  }>({
    name: "read-made-parts",
    text: `
      select endpoint_id, part, token_id, token_name, ends_at
      from webhook_endpoint_parts
      where endpoint_id = any($1::uuid[])
      order by endpoint_id, part`,
    values: [endpointIds],
  });
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    part: row.part,
    tokenId: row.token_id,
    tokenName: row.token_name,
    endsAt: row.ends_at,
  }));
}

/** The parts that these tokens have set end at a time, unless they end earlier. */
export async function endMadeParts(tx: Queryable, tokenIds: readonly string[], at: Date): Promise<void> {
  await tx.query({
    name: "end-made-parts",
    text: "update webhook_endpoint_parts set ends_at = least(ends_at, $2) where token_id = any($1::uuid[])",
    values: [tokenIds, at],
  });
}

/** What a token has set belongs to the one that replaces it, and ends with that one. */
export async function moveMadeParts(
  tx: Queryable,
  fromId: string,
  to: { readonly id: string; readonly name: string; readonly expiresAt: Date | null },
): Promise<void> {
  await tx.query({
    name: "move-made-parts",
    text: `
      update webhook_endpoint_parts
      set token_id = $2, token_name = $3, ends_at = $4
      where token_id = $1 and not is_handled`,
    values: [fromId, to.id, to.name, to.expiresAt],
  });
}

/** Endpoints of which a part has ended, and which do not know it yet. */
export async function listEndedEndpoints(db: Queryable, now: Date): Promise<EndpointOfOwner[]> {
  const rows = await db.query<ConnectionKeyRow & { endpoint_id: string }>({
    name: "list-ended-endpoints",
    text: `
      select distinct merchant_id, connection_id, endpoint_id
      from webhook_endpoint_parts
      where ends_at <= $1 and not is_handled
      order by endpoint_id`,
    values: [now],
  });
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.endpoint_id }));
}

/** Notes that an endpoint knows which of its parts have ended. Returns whether it did not know it. The caller has locked the endpoint. */
export async function markEndHandled(tx: Queryable, endpointId: string, now: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "mark-end-handled",
    text: `
      update webhook_endpoint_parts
      set is_handled = true
      where endpoint_id = $1 and ends_at <= $2 and not is_handled
      returning part`,
    values: [endpointId, now],
  });
  return rows.length > 0;
}
