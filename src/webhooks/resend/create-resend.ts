import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { lockConnection } from "../../merchants/connections-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { ROWS_READ_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { notFound, type Problem } from "../../platform/wire/problems.ts";
import { wireEndpointId } from "../endpoints/endpoint.ts";
import { OPEN_RESENDS_MAX, type Resend, type ResendScope } from "./resend.ts";
import { readPeriod } from "./resend-batch-sql.ts";
import { countOpenResends, insertResend, markResendCanceled, readResend } from "./resends-sql.ts";

/**
 * Requests that deliveries are sent once more. A worker does it. The connection is locked, so that concurrent requests cannot
 * exceed the limit of open resends.
 */
export async function createResend(
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  scope: ResendScope,
  by: Initiator,
): Promise<Resend | Problem> {
  const key = { merchantId, connectionId };
  return inTransaction(context, async (tx) => {
    if ((await lockConnection(tx, key)) === null) return notFound("connection");
    if ((await countOpenResends(tx, key, OPEN_RESENDS_MAX)) >= OPEN_RESENDS_MAX) return TOO_MANY;
    const resend: Resend = {
      ...key,
      ...scope,
      id: context.newId(),
      isInOrder: false,
      total: scope.deliveryIds?.length ?? (await countFitting(tx, { ...key, ...scope })),
      position: startOf(scope),
      sending: [],
      isRead: false,
      succeededCount: 0,
      failedCount: 0,
      skipped: {},
      createdAt: context.clock.now(),
      canceledAt: null,
      finishedAt: null,
    };
    await insertResend(tx, resend);
    await recordAudit(tx, context, by, factOf(resend));
    return resend;
  });
}

/** Cancels a resend. Nothing further is made due. A finished or canceled one is returned unchanged. */
export async function cancelResend(
  context: Context,
  connection: ConnectionKey,
  id: string,
  by: Initiator,
): Promise<Resend | null> {
  return inTransaction(context, async (tx) => {
    const canceled = await markResendCanceled(tx, connection, id, context.clock.now());
    if (canceled === null) return readResend(tx, connection, id);
    await recordAudit(tx, context, by, factOf(canceled));
    return canceled;
  });
}

const TOO_MANY: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${OPEN_RESENDS_MAX} resends at a time is reached. Wait until one of them is finished, or cancel one.`,
  members: { limit: "openResends", maximum: OPEN_RESENDS_MAX },
};

const startOf = ({ since }: Pick<ResendScope, "since">): string =>
  since === null ? UUID_MIN : uuidAt(since);

/** Reads a limited part of the log. Null if the period has more. */
async function countFitting(tx: Queryable, scope: ConnectionKey & ResendScope): Promise<number | null> {
  const { until } = scope;
  if (until === null) return null;
  const from = { ...scope, position: startOf(scope) };
  const read = await readPeriod(tx, from, uuidAt(until), ROWS_READ_MAX + 1);
  return read.length > ROWS_READ_MAX ? null : read.filter(({ fits }) => fits).length;
}

function factOf({
  merchantId,
  connectionId,
  id,
  deliveryIds,
  since,
  until,
  endpointId,
  eventType,
  status,
}: Resend) {
  const details = {
    ...(deliveryIds !== null && { deliveries: deliveryIds.length }),
    ...(since !== null && { since, until }),
    ...(endpointId !== null && { endpointId: wireEndpointId(endpointId) }),
    ...(eventType !== null && { eventType }),
    ...(status !== null && { deliveryStatus: status }),
  };
  return { merchantId, connectionId, subject: "rsd", ids: [id], details } as const;
}
