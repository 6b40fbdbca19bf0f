import { knownReachableOf, reachableOf } from "../../../distribution/reachable-merchants.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { isNodeLost, isOutOfReach } from "../../../platform/database/database.ts";
import { retried } from "../../../platform/database/retry.ts";
import { after } from "../../../platform/time.ts";
import type { WebhookContext } from "../../context.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "../claimed-delivery.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import type { EndpointQueues } from "../endpoint-queues.ts";
import { ClaimBudget } from "./claim-budget.ts";
import { ClaimSchedule } from "./claim-schedule.ts";
import { type ClaimSize, claimDeliveries } from "./claim-sql.ts";
import { ENDPOINT_LEASE_MS, leaseMsOf } from "./lease.ts";
import { type Claimant, leaseEndpoints } from "./lease-sql.ts";
import { LostClaims } from "./lost-claims.ts";

/** Deliveries claimed by one statement, unless one endpoint may have more. */
const CLAIMED_TOGETHER_MAX = 1_024;

/** The queue of a leased endpoint, and how many deliveries to claim for it. */
type OpenQueue = { readonly queue: EndpointQueue; readonly claim: ClaimSize };

/** Claims deliveries for connections that were added, a few at a time, and adds them to the queues of their endpoints. */
export class Claimer {
  readonly #context: WebhookContext;
  readonly #workerId: string;
  readonly #queues: EndpointQueues;
  readonly #schedule = new ClaimSchedule();
  readonly #budget = new ClaimBudget();
  readonly #lost = new LostClaims();

  constructor(context: WebhookContext, workerId: string, queues: EndpointQueues) {
    this.#context = context;
    this.#workerId = workerId;
    this.#queues = queues;
  }

  /** Whether no claim is running and none is waiting. */
  get isIdle(): boolean {
    return this.#schedule.isIdle;
  }

  isClaiming(connection: ConnectionKey): boolean {
    return this.#schedule.isClaiming(connection);
  }

  /** Something may be due for these connections: they wait for the next claim. */
  add(connections: Iterable<ConnectionKey>): void {
    for (const connection of connections) this.#schedule.add(connection);
  }

  /** Begins the next claim. Returns the connections to call `claim` with; none if nothing waits or enough is claimed. */
  begin(): ConnectionKey[] {
    if (!this.#budget.admitsMore) return [];
    return this.#schedule.begin((connectionId) => this.#budget.admits(connectionId));
  }

  /** Claims for connections, and returns the queues that have got deliveries, or nothing, as soon as they have. Never rejects. */
  async *claim(connections: readonly ConnectionKey[]): AsyncGenerator<EndpointQueue, void> {
    const reachable = await knownReachableOf(this.#context.db, connections).catch(() => connections);
    const error = reachable.length === 0 ? null : yield* this.#claimTogether(reachable);
    if (error !== null && reachable.length > 1)
      for (const part of await this.#partsAfter(error, reachable)) yield* this.#claimTogether(part);
    this.#schedule.end(connections);
  }

  /** The outcome of a delivery is stored, so another may be claimed. */
  completed(delivery: ClaimedDelivery): void {
    this.#budget.remove(delivery);
  }

  /** Releases what failed claims of this process have stored, so that it can be claimed again. */
  async releaseLost(): Promise<void> {
    const { db, clock } = this.#context;
    await this.#lost.release(db, clock.now());
  }

  /** Begins no further claim. One that is running continues. */
  stop(): void {
    this.#schedule.close();
  }

  /** How to claim again after a failure, so that a connection whose claim fails delays none of the others. */
  async #partsAfter(
    error: unknown,
    connections: readonly ConnectionKey[],
  ): Promise<readonly (readonly ConnectionKey[])[]> {
    if (isOutOfReach(error)) return [];
    // On Citus the merchants before the one whose claim failed may have been claimed (decision 0183).
    await this.releaseLost().catch(() => undefined);
    if (!isNodeLost(error)) return connections.map((connection) => [connection]);
    const reachable = await reachableOf(this.#context.db, connections).catch(() => []);
    return reachable.length === 0 ? [] : [reachable];
  }

  /** Returns the error if it failed. */
  async *#claimTogether(connections: readonly ConnectionKey[]): AsyncGenerator<EndpointQueue, unknown> {
    try {
      yield* this.#claimDue(connections);
      return null;
    } catch (err) {
      const [first] = connections;
      const ids = { connection: { id: first?.connectionId }, connectionCount: connections.length };
      this.#context.log.error({ err, ...ids }, "claim of deliveries failed, polling will repeat it");
      return err;
    }
  }

  /**
   * Leases those endpoints of the connections that have something due and may have more in their queues, then claims for each of
   * them what has been due longest (decision 0032). The queues are returned after each statement, so that sending does not wait
   * for the rest of a large claim.
   */
  async *#claimDue(connections: readonly ConnectionKey[]): AsyncGenerator<EndpointQueue, void> {
    const { clock, config } = this.#context;
    const now = clock.now();
    const claimant: Claimant = {
      workerId: this.#workerId,
      now,
      leasedUntil: after(now, leaseMsOf(config)),
      endpointLeasedUntil: after(now, ENDPOINT_LEASE_MS),
    };
    const leased = await this.#leaseEndpoints(connections, claimant);
    for (const all of inClaims(leased.flatMap((endpoint) => this.#openQueue(endpoint) ?? []))) {
      const open = this.#withinBudget(all);
      if (open.length === 0) continue;
      const deliveries = await this.#claimDeliveries(open, claimant);
      const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
      for (const { queue } of open) {
        const own = byEndpoint.get(queue.endpoint.id) ?? [];
        this.#budget.add(own, queue.isFailing);
        queue.add(own);
      }
      for (const { queue } of open) yield queue;
    }
  }

  #leaseEndpoints(connections: readonly ConnectionKey[], claimant: Claimant): Promise<LeasedEndpoint[]> {
    const { db, clock } = this.#context;
    const sorted = connections.toSorted((one, other) => (one.connectionId < other.connectionId ? -1 : 1));
    const plans = sorted
      .flatMap((connection) => this.#queues.of(connection))
      .map((queue) => ({ id: queue.endpoint.id, need: queue.planClaim(clock) }));
    return retried(db, clock, () =>
      leaseEndpoints(db, sorted, claimant, {
        due: plans.filter(({ need }) => need === "due").map(({ id }) => id),
        except: plans.filter(({ need }) => need === "none").map(({ id }) => id),
        healthyOnly: !this.#budget.admitsFailing,
      }),
    );
  }

  /** Null when a secret of the endpoint cannot be decrypted. Only this endpoint waits until its key is configured. */
  #openQueue(endpoint: LeasedEndpoint): OpenQueue | null {
    const { log, secrets } = this.#context;
    const queue = this.#queues.open(endpoint);
    try {
      return { queue, claim: queue.update(endpoint, (sealed) => secrets.open(sealed, endpoint.id)) };
    } catch (err) {
      const ids = { endpoint: { id: endpoint.id }, connection: { id: endpoint.connectionId } };
      log.error({ err, ...ids }, "signing secret not decrypted, nothing is sent to its endpoint");
      return null;
    }
  }

  /** Cuts a claim to what each connection may hold. Endpoints for which nothing is left stay due. */
  #withinBudget(open: readonly OpenQueue[]): OpenQueue[] {
    const left = new Map<string, number>();
    return open.flatMap(({ queue, claim }) => {
      const { connectionId } = queue.connection;
      const free = left.get(connectionId) ?? this.#budget.freeFor(connectionId);
      const size = Math.min(claim.size, free);
      left.set(connectionId, free - size);
      if (size > 0) return { queue, claim: { ...claim, size: queue.limitClaim(size) } };
      queue.leaveDue();
      return [];
    });
  }

  async #claimDeliveries(open: readonly OpenQueue[], claimant: Claimant): Promise<ClaimedDelivery[]> {
    const { db, clock, newId } = this.#context;
    const sizes = open.map(({ queue, claim }) => ({ ...queue.connection, ...claim }));
    return retried(db, clock, async () => {
      const ids = { scheduled: newId(), manual: newId() };
      try {
        return await claimDeliveries(db, ids, claimant, sizes);
      } catch (error) {
        this.#lost.add({ ids: Object.values(ids), endpoints: sizes }, clock.now()); // It may have been stored.
        throw error;
      }
    });
  }
}

/** Divides leased endpoints into claims of a bounded size. */
function inClaims(open: readonly OpenQueue[]): OpenQueue[][] {
  const claims: OpenQueue[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of open) {
    size += each.claim.size;
    if (size > CLAIMED_TOGETHER_MAX) {
      claims.push([]);
      size = each.claim.size;
    }
    claims.at(-1)?.push(each);
  }
  return claims;
}
