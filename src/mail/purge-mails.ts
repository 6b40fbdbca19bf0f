import type { Context } from "../platform/context.ts";
import { LOG_KEPT_MS } from "../platform/retention.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before } from "../platform/time.ts";
import { deleteOldMails, listConnectionsWithOldMails } from "./mails-sql.ts";

/** Mails deleted by one statement, so that it is short. */
const BATCH_SIZE = 1_000;

/**
 * Deletes mails that were sent or failed longer ago than the log is kept (decision 0030). Returns how many it deleted.
 */
export async function purgeMails({ db, clock }: Context, stopping?: AbortSignal): Promise<number> {
  const endedBefore = before(clock.now(), LOG_KEPT_MS);
  const connections = await listConnectionsWithOldMails(db, endedBefore);
  return runInTurn(
    eachUntilDone(connections),
    (connection) => deleteOldMails(db, connection, endedBefore, BATCH_SIZE),
    stopping,
  );
}
