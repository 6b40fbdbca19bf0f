import { merchantByMerchant } from "../../distribution/merchant-by-merchant.ts";
import { type ConnectionKey, connectionColumns } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { AHEAD_US, type Grant, type LineTerms, SKEW_US } from "./line.ts";

export type GrantRequest = ConnectionKey & {
  /** The length that the waiting requests need, in microseconds. */
  readonly neededUs: number;
};

/** How far beyond now a line is granted. It is more than the window, because time passes until the grant is used. */
const HORIZON = `excluded.granted_from + excluded.window_us + ${AHEAD_US}`;
/** A line that ends even later was granted before the clock was set back. It then ends at the window. */
const BEGIN = `case when rate_limits.granted_to > ${HORIZON} + ${SKEW_US} then excluded.granted_from + excluded.window_us
               else greatest(rate_limits.granted_to, excluded.granted_from) end`;

/**
 * Grants the next part of the line of each connection to the caller (decision 0076): what it needs, or a quarter of what is
 * left if that is more, but never beyond the horizon. What is granted is granted once: the row decides between processes.
 * Rows are locked in the order of their keys, so that processes wait for each other and never in a circle. The update reads
 * the rejected row alone: on Citus it has no parameters.
 * @param requests of different connections
 * @returns the parts, in the order of the requests; an empty one if nothing is left
 */
export async function grantRequests(
  db: Queryable,
  requests: readonly GrantRequest[],
  { nowUs, windowUs }: { nowUs: number } & Pick<LineTerms, "windowUs">,
): Promise<Grant[]> {
  const rows = await merchantByMerchant(db, requests, (own) => grantTo(db, own, nowUs, windowUs));
  const grants = new Map(
    rows.map((row) => [row.connection_id, { from: row.granted_from, to: row.granted_to }]),
  );
  return requests.map(({ connectionId }) => grants.get(connectionId) ?? { from: nowUs, to: nowUs }); // There is a row for each.
}

type GrantRow = { connection_id: string; granted_from: number; granted_to: number };

const grantTo = (
  db: Queryable,
  requests: readonly GrantRequest[],
  nowUs: number,
  windowUs: number,
): Promise<GrantRow[]> =>
  db.query({
    name: "grant-requests",
    text: `
      insert into rate_limits (merchant_id, connection_id, granted_from, granted_to, window_us)
      select requested.merchant_id, requested.connection_id, $4::bigint,
             $4::bigint + least(requested.needed, $5::bigint + ${AHEAD_US}), $5::bigint
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as requested (merchant_id, connection_id, needed)
      order by requested.merchant_id, requested.connection_id
      on conflict (merchant_id, connection_id) do update
      set granted_from = ${BEGIN},
          granted_to = ${BEGIN} + greatest(0, least(
            ${HORIZON} - (${BEGIN}),
            greatest(excluded.granted_to - excluded.granted_from, (${HORIZON} - (${BEGIN})) / 4))),
          window_us = excluded.window_us
      returning rate_limits.connection_id, rate_limits.granted_from::float8, rate_limits.granted_to::float8`,
    values: [...connectionColumns(requests), requests.map(({ neededUs }) => neededUs), nowUs, windowUs],
  });
