import type { Queryable } from "../../database/database.ts";
import { EVENTS_KEPT_MS } from "../../events/event-feed.ts";
import { uuidAt } from "../../ids.ts";
import { inOneStep, type Service } from "../../service.ts";
import type { Endpoint } from "./endpoint.ts";
import { activateEndpoint, lockEndpoint } from "./endpoints-sql.ts";

type EndpointKey = Pick<Endpoint, "connectionId" | "id">;

/** Deliveries of steps that have not committed yet are meant as well, so a recovery reaches a little beyond its request. */
const COMMIT_ALLOWANCE_MS = 60_000;

/**
 * Makes a paused endpoint active again, and has all that has waited meanwhile sent to it; an active one is answered as
 * it is. Null when there is no such endpoint.
 */
export async function resumeEndpoint(
  service: Service,
  { connectionId, id }: EndpointKey,
): Promise<Endpoint | null> {
  const resumed = await inOneStep(service, async (tx) => {
    const endpoint = await lockEndpoint(tx, connectionId, id);
    if (endpoint?.status === "paused") return resumePaused(tx, endpoint, service);
    return endpoint;
  });
  if (resumed !== null) service.wakeDispatchers([connectionId]);
  return resumed;
}

/** How far back a recovery may reach: as far as there are events. */
export const RECOVERY_MAX_MS = EVENTS_KEPT_MS;

type Recovery = { since: Date; until: Date };

/**
 * Has everything sent to an endpoint again that was given up since a moment, and resumes the endpoint if it is paused,
 * so that one call is enough after any outage. A worker does the work. Null when there is no such endpoint.
 */
export async function recoverEndpoint(
  service: Service,
  { connectionId, id }: EndpointKey,
  since: Date,
): Promise<Recovery | null> {
  const recovery = await inOneStep(service, async (tx) => {
    const endpoint = await lockEndpoint(tx, connectionId, id);
    if (endpoint === null) return null;
    if (endpoint.status === "paused") await resumePaused(tx, endpoint, service);
    return insertRecovery(tx, endpoint, { since, failedToo: true }, service);
  });
  if (recovery !== null) service.wakeDispatchers([connectionId]);
  return recovery;
}

async function resumePaused(tx: Queryable, endpoint: Endpoint, service: Service): Promise<Endpoint> {
  const now = service.clock.now();
  await activateEndpoint(tx, endpoint, now);
  await insertRecovery(tx, endpoint, { since: endpoint.createdAt, failedToo: false }, service);
  return { ...endpoint, status: "active", pauseReason: null, pausedAt: null, updatedAt: now };
}

async function insertRecovery(
  tx: Queryable,
  { connectionId, id }: EndpointKey,
  { since, failedToo }: { since: Date; failedToo: boolean },
  { clock, newId }: Service,
): Promise<Recovery> {
  const now = clock.now();
  const until = new Date(now.getTime() + COMMIT_ALLOWANCE_MS);
  await tx.query({
    name: "insert-recovery",
    text: `
      insert into webhook_recoveries (connection_id, id, endpoint_id, failed_too, since, until, position, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [connectionId, newId(), id, failedToo, since, until, uuidAt(since), now],
  });
  return { since, until };
}
