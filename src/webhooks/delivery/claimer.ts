import type { ConnectionKey } from "../../platform/connection-key.ts";
import { knownReachableOf, reachableOf } from "../../platform/database/citus.ts";
import { isNodeLost, isOutOfReach } from "../../platform/database/database.ts";
import { retried } from "../../platform/database/retry.ts";
import { after } from "../../platform/time.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { FairShare } from "./admission.ts";
import {
  type Claimant,
  type ClaimSize,
  claimDeliveries,
  ENDPOINT_LEASE_MS,
  leaseEndpoints,
  leaseMsOf,
} from "./claim-sql.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "./claimed-delivery.ts";
import type { EndpointQueue, EndpointQueues } from "./endpoint-queue.ts";
import { LostClaims } from "./leases.ts";

/** Claims that one process holds, at most: waiting, in flight, or with an outcome that is being stored. */
const CLAIMS_MAX = 16_384;
/** Of these, claims for failing endpoints, so that other endpoints do not wait for them. */
const CLAIMS_OF_FAILING_MAX = 2_048;

/** A connection near its share does not claim for each delivery that ends. */
const FURTHER_MIN = 64;

/** Counts the claims of a process. A limit may be exceeded by what a running claim adds. */
export class ClaimBudget {
  #count = 0;
  readonly #share = new FairShare(CLAIMS_MAX);
  readonly #ofFailing = new Set<ClaimedDelivery>();

  /** True if another claim may be made. */
  get admitsMore(): boolean {
    return this.#count < CLAIMS_MAX;
  }

  /** True if another claim may include failing endpoints. */
  get admitsFailing(): boolean {
    return this.#ofFailing.size < CLAIMS_OF_FAILING_MAX;
  }

  /** How many claims a connection may add: its share of what is free (docs/design/deliveries.md, "Shared sending"). */
  freeFor(connectionId: string): number {
    return this.#share.freeFor(connectionId);
  }

  /** Whether a claim for a connection is worthwhile: it may add one at first, and later a number of them. */
  admits(connectionId: string): boolean {
    return this.#share.freeFor(connectionId) >= (this.#share.holds(connectionId) ? FURTHER_MIN : 1);
  }

  add(deliveries: readonly ClaimedDelivery[], isFailing: boolean): void {
    this.#count += deliveries.length;
    for (const { connectionId } of deliveries) this.#share.take(connectionId, 1);
    if (isFailing) for (const delivery of deliveries) this.#ofFailing.add(delivery);
  }

  remove(delivery: ClaimedDelivery): void {
    this.#count -= 1;
    this.#share.giveBack(delivery.connectionId, 1);
    this.#ofFailing.delete(delivery);
  }
}

/** Claims that this process makes at the same time. */
const CONCURRENCY = 4;
/** Connections in one claim. */
const CONNECTIONS_MAX = 256;

/** A connection to claim for. `isSignaled` is false if only its endpoints of which something is known to be due need a claim. */
export type ClaimRequest = ConnectionKey & { readonly isSignaled: boolean };

/**
 * Decides for which connections to claim next. Connections wait in the order in which they were added; one that is added
 * again while it waits keeps its position. A claim includes those that wait when it begins, so without load it is for one
 * connection, at once. At most one claim of a connection runs at a time.
 */
export class ClaimSchedule {
  readonly #connectionsMax: number;
  readonly #waiting = new Map<string, ClaimRequest>();
  readonly #claiming = new Set<string>();
  #running = 0;
  #isClosed = false;

  constructor(connectionsMax = CONNECTIONS_MAX) {
    this.#connectionsMax = connectionsMax;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#claiming.size === 0;
  }

  add({ merchantId, connectionId }: ConnectionKey, isSignaled = true): void {
    if (this.#isClosed) return;
    const isKnown = this.#waiting.get(connectionId)?.isSignaled ?? false;
    this.#waiting.set(connectionId, { merchantId, connectionId, isSignaled: isSignaled || isKnown });
  }

  /** Begins the next claim and returns its connections. None when nothing waits, or when enough claims are running. */
  begin(admits: (connectionId: string) => boolean = () => true): ClaimRequest[] {
    const connections: ClaimRequest[] = [];
    if (this.#running >= CONCURRENCY) return connections;
    for (const [connectionId, connection] of this.#waiting) {
      if (connections.length >= this.#connectionsMax) break;
      if (this.#claiming.has(connectionId) || !admits(connectionId)) continue;
      this.#waiting.delete(connectionId);
      this.#claiming.add(connectionId);
      connections.push(connection);
    }
    if (connections.length > 0) this.#running += 1;
    return connections;
  }

  /** Ends a claim. */
  end(connections: readonly ConnectionKey[]): void {
    for (const { connectionId } of connections) this.#claiming.delete(connectionId);
    this.#running -= 1;
  }

  isClaiming({ connectionId }: ConnectionKey): boolean {
    return this.#claiming.has(connectionId);
  }

  /** Drops waiting connections, and ignores further ones. Running claims continue. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }
}

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

  /** True if no claim is running and none is waiting. */
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

  /** A queue of the connection runs low, of which more is known to be due. */
  addLow(connection: ConnectionKey): void {
    this.#schedule.add(connection, false);
  }

  /** Begins the next claim. Returns the connections to call `claim` with; none if nothing waits or enough is claimed. */
  begin(): ClaimRequest[] {
    if (!this.#budget.admitsMore) return [];
    return this.#schedule.begin((connectionId) => this.#budget.admits(connectionId));
  }

  /** Claims for connections, and returns the queues that have got deliveries, or nothing, as soon as they have. Never rejects. */
  async *claim(connections: readonly ClaimRequest[]): AsyncGenerator<EndpointQueue, void> {
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
    connections: readonly ClaimRequest[],
  ): Promise<readonly (readonly ClaimRequest[])[]> {
    if (isOutOfReach(error)) return [];
    // On Citus the merchants before the one whose claim failed may have been claimed (docs/design/deliveries.md, "Leases").
    await this.releaseLost().catch(() => undefined);
    if (!isNodeLost(error)) return connections.map((connection) => [connection]);
    const reachable = await reachableOf(this.#context.db, connections).catch(() => []);
    return reachable.length === 0 ? [] : [reachable];
  }

  /** Returns the error if it failed. */
  async *#claimTogether(connections: readonly ClaimRequest[]): AsyncGenerator<EndpointQueue, unknown> {
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
   * Claims for endpoints that this worker holds, then leases those others of the connections that have something due and claims
   * for them, for each what has been due longest (docs/design/deliveries.md, "One worker per endpoint"). The queues are returned
   * after each statement, so that sending does not wait for the rest of a large claim.
   */
  async *#claimDue(connections: readonly ClaimRequest[]): AsyncGenerator<EndpointQueue, void> {
    const { clock, config } = this.#context;
    const now = clock.now();
    const claimant: Claimant = {
      workerId: this.#workerId,
      now,
      leasedUntil: after(now, leaseMsOf(config)),
      endpointLeasedUntil: after(now, ENDPOINT_LEASE_MS),
    };
    const queues = connections.map((connection) => ({ connection, queues: this.#queues.of(connection) }));
    const [held, unheld] = [new Set<EndpointQueue>(), new Set<EndpointQueue>()];
    const unknown: ConnectionKey[] = [];
    for (const { connection, queues: own } of queues) {
      const joining = own.filter((queue) => queue.joinsClaim(clock, connection.isSignaled));
      const isHeld = (queue: EndpointQueue) =>
        queue.isHeld(now) && (this.#budget.admitsFailing || !queue.isFailing);
      for (const queue of joining) (isHeld(queue) ? held : unheld).add(queue);
      if (connection.isSignaled || joining.some((queue) => unheld.has(queue))) unknown.push(connection);
    }
    yield* this.#fill(
      [...held].map((queue) => ({ queue, claim: queue.nextClaim() })),
      claimant,
    );
    if (unknown.length === 0) return;
    const leased = await this.#leaseEndpoints(unknown, claimant, {
      due: [...unheld].map(({ endpoint }) => endpoint.id),
      except: queues
        .flatMap(({ queues: own }) => own.filter((queue) => !unheld.has(queue)))
        .map(({ endpoint }) => endpoint.id),
    });
    yield* this.#fill(
      leased.flatMap((endpoint) => this.#openQueue(endpoint) ?? []),
      claimant,
    );
  }

  async *#fill(all: readonly OpenQueue[], claimant: Claimant): AsyncGenerator<EndpointQueue, void> {
    for (const together of inClaims(all)) {
      const open = this.#withinBudget(together);
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

  #leaseEndpoints(
    connections: readonly ConnectionKey[],
    claimant: Claimant,
    endpoints: { due: readonly string[]; except: readonly string[] },
  ): Promise<LeasedEndpoint[]> {
    const { db, clock } = this.#context;
    const sorted = connections.toSorted((one, other) => (one.connectionId < other.connectionId ? -1 : 1));
    const healthyOnly = !this.#budget.admitsFailing;
    return retried(db, clock, () => leaseEndpoints(db, sorted, claimant, { ...endpoints, healthyOnly }));
  }

  /** Null when a secret of the endpoint cannot be decrypted. Only this endpoint waits until its key is configured. */
  #openQueue(endpoint: LeasedEndpoint): OpenQueue | null {
    const { log, secrets } = this.#context;
    const queue = this.#queues.open(endpoint);
    try {
      queue.update(endpoint, (sealed) => secrets.open(sealed, endpoint.id));
      return { queue, claim: queue.nextClaim() };
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

/** A retry that is due within this time gets a timer. Later ones are found by polling. */
const WAIT_MAX_MS = 2_000;

/** Timers for connections with deliveries that become due soon. */
export class RetryTimers {
  readonly #onDue: (connection: ConnectionKey) => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isStopped = false;

  constructor(onDue: (connection: ConnectionKey) => void) {
    this.#onDue = onDue;
  }

  set(connection: ConnectionKey, waitMs: number): void {
    if (this.#isStopped || waitMs > WAIT_MAX_MS) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#onDue(connection);
      },
      Math.max(0, waitMs),
    );
    this.#timers.add(timer);
  }

  /** Clears all timers, and sets no more. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
