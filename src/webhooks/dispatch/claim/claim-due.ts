import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { retried } from "../../../platform/database/retry.ts";
import { after } from "../../../platform/time.ts";
import type { WebhookContext } from "../../context.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "../claimed-delivery.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import type { EndpointQueues } from "../endpoint-queues.ts";
import { claimDeliveries, type Room } from "./claim-sql.ts";
import { ENDPOINT_LEASE_MS, leaseMsOf } from "./lease.ts";
import { type Claimant, leaseEndpoints } from "./lease-sql.ts";
import type { LostClaims } from "./lost-claims.ts";

/** Deliveries that were claimed for an endpoint, to be added to its queue. */
type Claimed = { readonly queue: EndpointQueue; readonly deliveries: readonly ClaimedDelivery[] };

/** Deliveries claimed by one statement, unless one endpoint has room for more. */
const CLAIMED_TOGETHER_MAX = 1_024;

type ClaimOptions = {
  readonly workerId: string;
  readonly queues: EndpointQueues;
  /** Leaves out endpoints that are failing. */
  readonly healthyOnly: boolean;
  /** How many more claims a connection may hold. */
  readonly roomFor: (connectionId: string) => number;
  /** Receives claims that fail, which may have been stored. */
  readonly lost: LostClaims;
  /** Called after each statement, so that sending does not wait for the rest of a large claim. */
  readonly onClaimed: (claimed: Claimed) => void;
};

/**
 * Claims due deliveries of connections: leases those of their endpoints that have something due and room in their
 * queues, then claims for each of them what has been due longest (decision 0032). The room of an endpoint is its share of
 * the claim.
 */
export async function claimDue(
  context: WebhookContext,
  connections: readonly ConnectionKey[],
  { workerId, queues, healthyOnly, roomFor, lost, onClaimed }: ClaimOptions,
): Promise<void> {
  const { db, clock, newId } = context;
  const now = clock.now();
  const claimant: Claimant = {
    workerId,
    now,
    leasedUntil: after(now, leaseMsOf(context.config)),
    endpointLeasedUntil: after(now, ENDPOINT_LEASE_MS),
  };
  const sorted = connections.toSorted((one, other) => (one.connectionId < other.connectionId ? -1 : 1));
  const plans = sorted
    .flatMap((connection) => queues.of(connection))
    .map((queue) => ({ id: queue.endpoint.id, need: queue.planClaim(clock) }));
  const leased = await retried(db, clock, () =>
    leaseEndpoints(db, sorted, claimant, {
      due: plans.filter(({ need }) => need === "due").map(({ id }) => id),
      except: plans.filter(({ need }) => need === "none").map(({ id }) => id),
      healthyOnly,
    }),
  );
  for (const all of inClaims(leased.flatMap((endpoint) => openQueue(context, queues, endpoint) ?? []))) {
    const open = withinRoom(all, roomFor);
    if (open.length === 0) continue;
    const rooms = open.map(({ queue, room }) => ({ ...queue.connection, ...room }));
    const deliveries = await retried(db, clock, async () => {
      const ids = { scheduled: newId(), manual: newId() };
      try {
        return await claimDeliveries(db, ids, claimant, rooms);
      } catch (error) {
        lost.add({ ids: Object.values(ids), endpoints: rooms }, clock.now());
        throw error;
      }
    });
    const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
    for (const { queue } of open) onClaimed({ queue, deliveries: byEndpoint.get(queue.endpoint.id) ?? [] });
  }
}

type OpenQueue = { readonly queue: EndpointQueue; readonly room: Room };

/** Cuts a claim to what each connection may hold. Endpoints for which nothing is left stay due. */
function withinRoom(open: readonly OpenQueue[], roomFor: (connectionId: string) => number): OpenQueue[] {
  const left = new Map<string, number>();
  return open.flatMap(({ queue, room }) => {
    const { connectionId } = queue.connection;
    const free = left.get(connectionId) ?? roomFor(connectionId);
    const size = Math.min(room.size, free);
    left.set(connectionId, free - size);
    if (size > 0) return { queue, room: { ...room, size: queue.limitClaim(size) } };
    queue.leaveDue();
    return [];
  });
}

/** Divides leased endpoints into claims of a bounded size. */
function inClaims(open: readonly OpenQueue[]): OpenQueue[][] {
  const claims: OpenQueue[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of open) {
    size += each.room.size;
    if (size > CLAIMED_TOGETHER_MAX) {
      claims.push([]);
      size = each.room.size;
    }
    claims.at(-1)?.push(each);
  }
  return claims;
}

/** Null when a secret of the endpoint cannot be decrypted. Only this endpoint waits until its key is configured. */
function openQueue(
  { log, secrets }: WebhookContext,
  queues: EndpointQueues,
  endpoint: LeasedEndpoint,
): OpenQueue | null {
  const queue = queues.open(endpoint);
  try {
    return { queue, room: queue.update(endpoint, (sealed) => secrets.open(sealed, endpoint.id)) };
  } catch (err) {
    const ids = { endpoint: { id: endpoint.id }, connection: { id: endpoint.connectionId } };
    log.error({ err, ...ids }, "signing secret not decrypted, nothing is sent to its endpoint");
    return null;
  }
}
