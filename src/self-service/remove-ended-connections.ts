import { byService, recordAudit } from "../audit/record-audit.ts";
import { deleteCertifications } from "../certification/certifications-sql.ts";
import {
  deleteEndedConnection,
  type EndedConnection,
  listEndedConnections,
  lockConnection,
} from "../merchants/connections-sql.ts";
import { eraseExpiredTestOrders, expireNextTestOrders } from "../orders/deadlines/erase-test-orders.ts";
import { countTestOrders } from "../orders/reading/test-orders.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { deleteExposures } from "../products/exposure-sql.ts";
import { deleteEndpoint } from "../webhooks/endpoints/change-endpoints.ts";
import { listEndpoints, removeDeletedPage } from "../webhooks/endpoints/endpoints-sql.ts";
import { deleteOwner, eraseLogOfConnection } from "../webhooks/log/erase-sql.ts";

/** Rows of each table in one transaction. */
const ROWS_MAX = 500;
/** After this time no request with the key, and no attempt to send, is left that saw the connection before its end. */
const ENDED_AT_LEAST_MS = HOUR_MS;
/** Until then the connection counts for its network, also if it was ended before its time. */
const KEPT_AT_LEAST_MS = DAY_MS;

const BY = byService("removeEndedConnection");

/**
 * Removes the connections of strangers that have ended, with all they have (docs/design/isolation-and-limits.md, "Test keys without a
 * person"): test orders and endpoints at once, the rest an hour later. Each step is a transaction of its own that finds what
 * the one before has left, so after a crash the next run continues. Returns how much it did.
 */
export function removeEndedConnections(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listEndedConnections(context.db, context.clock.now())),
    (ended) => removeNextPart(context, ended),
    stopping,
  );
}

async function removeNextPart(context: Context, ended: EndedConnection): Promise<number> {
  const { db, clock } = context;
  const stopped = (await expireNextTestOrders(context, ended)) + (await deleteEndpoints(context, ended));
  if (stopped > 0) return stopped;
  const { rows } = await eraseExpiredTestOrders(context, ended);
  if (rows > 0) return rows;
  const now = clock.now();
  if (ended.endsAt > before(now, ENDED_AT_LEAST_MS) || ended.createdAt > before(now, KEPT_AT_LEAST_MS))
    return 0;
  const erased = await inTransaction(context, (tx) =>
    eraseLogOfConnection(tx, ended, ended.createdAt, ROWS_MAX),
  );
  if (erased > 0) return erased;
  const page = { position: UUID_MIN, deletedBefore: before(now, ENDED_AT_LEAST_MS), limit: ROWS_MAX };
  await removeDeletedPage(db, ended, page);
  return inTransaction(context, (tx) => removeConnection(context, tx, ended));
}

async function deleteEndpoints(context: Context, ended: EndedConnection): Promise<number> {
  const endpoints = await listEndpoints(context.db, ended, { list: "", afterId: UUID_MIN, limit: ROWS_MAX });
  for (const endpoint of endpoints) await deleteEndpoint(context, endpoint, BY);
  return endpoints.length;
}

/** Returns 1 if it removed the connection. 0: something is left that another worker erases, or it was removed. */
async function removeConnection(context: Context, tx: Queryable, ended: EndedConnection): Promise<number> {
  const connection = await lockConnection(tx, ended);
  if (connection === null || (await countTestOrders(tx, [ended], 1))(ended) > 0) return 0;
  if (!(await deleteOwner(tx, ended))) return 0;
  await deleteExposures(tx, ended);
  await deleteCertifications(tx, ended);
  await deleteEndedConnection(tx, ended);
  const { merchantId, connectionId } = ended;
  const details = { name: connection.name };
  await recordAudit(tx, context, BY, {
    merchantId,
    connectionId,
    subject: "con",
    ids: [connectionId],
    details,
  });
  return 1;
}
