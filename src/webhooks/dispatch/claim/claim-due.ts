import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { retried } from "../../../platform/database/retry.ts";
import { after, MINUTE_MS } from "../../../platform/time.ts";
import type { WebhookContext } from "../../context.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "../claimed-delivery.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import type { EndpointQueues } from "../endpoint-queues.ts";
import { type Claimant, claimDeliveries, leaseEndpoints, type Room } from "./claim-sql.ts";

const LEASE_MIN_MS = MINUTE_MS;

/** Deliveries that were claimed for an endpoint, to be added to its queue. */
export type Claimed = { readonly queue: EndpointQueue; readonly deliveries: readonly ClaimedDelivery[] };

type ClaimOptions = {
  readonly workerId: string;
  readonly queues: EndpointQueues;
  /** Leaves out endpoints that are failing. */
  readonly healthyOnly: boolean;
};

/**
 * Claims due deliveries of a connection: leases those of its endpoints that have something due and room in their
 * queues, then claims for each of them what has been due longest (decision 0032).
 */
export async function claimDue(
  context: WebhookContext,
  connection: ConnectionKey,
  { workerId, queues, healthyOnly }: ClaimOptions,
): Promise<Claimed[]> {
  const { db, clock, newId } = context;
  const now = clock.now();
  const leaseMs = Math.max(LEASE_MIN_MS, 3 * context.config.webhookTimeoutMs);
  const claimant: Claimant = { workerId, now, leasedUntil: after(now, leaseMs) };
  const plans = queues.of(connection).map((queue) => ({ id: queue.endpoint.id, need: queue.planClaim(now) }));
  const leased = await retried(db, clock, () =>
    leaseEndpoints(db, connection, claimant, {
      due: plans.filter(({ need }) => need === "due").map(({ id }) => id),
      except: plans.filter(({ need }) => need === "none").map(({ id }) => id),
      healthyOnly,
    }),
  );
  const open = leased.flatMap((endpoint) => openQueue(context, queues, endpoint) ?? []);
  if (open.length === 0) return [];
  const ids = { scheduled: newId(), manual: newId() };
  const rooms = open.map(({ room }) => room);
  const deliveries = await retried(db, clock, () => claimDeliveries(db, connection, ids, claimant, rooms));
  const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
  return open.map(({ queue }) => ({ queue, deliveries: byEndpoint.get(queue.endpoint.id) ?? [] }));
}

/** Null when a secret of the endpoint cannot be decrypted. Only this endpoint waits until its key is configured. */
function openQueue(
  { log, secrets }: WebhookContext,
  queues: EndpointQueues,
  endpoint: LeasedEndpoint,
): { queue: EndpointQueue; room: Room } | null {
  const queue = queues.open(endpoint);
  try {
    return { queue, room: queue.update(endpoint, (sealed) => secrets.open(sealed, endpoint.id)) };
  } catch (err) {
    const ids = { endpoint: { id: endpoint.id }, connection: { id: endpoint.connectionId } };
    log.error({ err, ...ids }, "signing secret not decrypted, nothing is sent to its endpoint");
    return null;
  }
}
