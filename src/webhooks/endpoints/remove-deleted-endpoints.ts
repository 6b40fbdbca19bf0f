import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { eachUntilDone, runInTurn } from "../../platform/run-in-turn.ts";
import { before, HOUR_MS } from "../../platform/time.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import { listConnectionsWithDeletedEndpoints, removeDeletedPage } from "./delete-endpoint-sql.ts";

/** Deleted endpoints read in one statement. */
const PAGE_SIZE = 500;

/** After this time no transaction is left that saw the endpoint before its deletion, and no attempt is in progress. */
const DELETED_AT_LEAST_MS = HOUR_MS;

/**
 * Removes deleted endpoints once nothing of their log is left: an endpoint without deliveries after an hour, all others
 * when their deliveries are purged. Returns how many it read.
 */
export async function removeDeletedEndpoints(
  { db, clock }: Context,
  stopping?: AbortSignal,
): Promise<number> {
  const deletedBefore = before(clock.now(), DELETED_AT_LEAST_MS);
  const positions = new Map<ConnectionKey, string>();
  return runInTurn(
    eachUntilDone(await listConnectionsWithDeletedEndpoints(db)),
    async (connection) => {
      const position = positions.get(connection) ?? UUID_MIN;
      const read = await removeDeletedPage(db, connection, { position, deletedBefore, limit: PAGE_SIZE });
      positions.set(connection, read.at(-1) ?? position);
      return read.length;
    },
    stopping,
  );
}
