import { type ConnectionKey, connectionColumns } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** A part of a connection's line of time, in microseconds since 1970, that one process may fill with requests. */
export type Grant = { readonly from: number; readonly to: number };

export type GrantRequest = ConnectionKey & {
  /** The length that the waiting requests need, in microseconds. */
  readonly neededUs: number;
};

/** When, and how far ahead, parts of lines are granted. In microseconds. */
export type GrantTerms = {
  readonly nowUs: number;
  /** The time of a burst: requests have positions up to so far beyond now. */
  readonly windowUs: number;
  /** How far beyond now a line is granted. It is more than the window, because time passes until the grant is used. */
  readonly horizonUs: number;
  /** A line that ends even later was granted before the clock was set back. It then ends at the window. */
  readonly latestUs: number;
};

/** Where the next part begins. */
const BEGIN = `case when r.granted_to > excluded.granted_from + $7::bigint then excluded.granted_from + $5::bigint
               else greatest(r.granted_to, excluded.granted_from) end`;

/**
 * Grants the next part of the line of each connection to the caller (decision 0076): what it needs, or a quarter of what is
 * left if that is more, but never beyond the horizon. What is granted is granted once: the row decides between processes.
 * Rows are locked in the order of their keys, so that processes wait for each other and never in a circle.
 * @param requests of different connections
 * @returns the parts, in the order of the requests; an empty one if nothing is left
 */
export async function grantRequests(
  db: Queryable,
  requests: readonly GrantRequest[],
  { nowUs, windowUs, horizonUs, latestUs }: GrantTerms,
): Promise<Grant[]> {
  const rows = await db.query<{ connection_id: string; granted_from: number; granted_to: number }>({
    name: "grant-requests",
    text: `
      insert into rate_limits as r (merchant_id, connection_id, granted_from, granted_to)
      select requested.merchant_id, requested.connection_id, $4::bigint, $4::bigint + least(requested.needed, $6::bigint)
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as requested (merchant_id, connection_id, needed)
      order by requested.merchant_id, requested.connection_id
      on conflict (merchant_id, connection_id) do update
      set granted_from = ${BEGIN},
          granted_to = ${BEGIN} + greatest(0, least(
            excluded.granted_from + $6 - (${BEGIN}),
            greatest(excluded.granted_to - excluded.granted_from, (excluded.granted_from + $6 - (${BEGIN})) / 4)))
      returning r.connection_id, r.granted_from::float8, r.granted_to::float8`,
    values: [
      ...connectionColumns(requests),
      requests.map(({ neededUs }) => neededUs),
      nowUs,
      windowUs,
      horizonUs,
      latestUs,
    ],
  });
  const grants = new Map(
    rows.map((row) => [row.connection_id, { from: row.granted_from, to: row.granted_to }]),
  );
  return requests.map(({ connectionId }) => grants.get(connectionId) ?? { from: nowUs, to: nowUs }); // There is a row for each.
}
