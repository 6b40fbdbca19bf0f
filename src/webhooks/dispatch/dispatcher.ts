import type { ConnectionKey } from "../../platform/connection-key.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { retried } from "../../platform/database/retry.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import type { WebhookContext } from "../context.ts";
import {
  claimDeliveries,
  leaseEndpoints,
  listConnectionsWithDueDeliveries,
  type Room,
  releaseEndpoints,
  type Taker,
} from "./claim/claim-sql.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "./claimed-delivery.ts";
import { EndpointQueue } from "./endpoint-queue.ts";
import { Pace } from "./pace.ts";
import type { Reported } from "./record/complete-deliveries.ts";
import { createOutcomeStore } from "./record/outcome-store.ts";
import { firstDelayMs, isSuccess, sendDelivery } from "./send/send-delivery.ts";
import type { Sender } from "./send/sender.ts";

/** Sends what is due. Any number of dispatchers may run, in as many processes. */
export type Dispatcher = {
  /** Looks at these connections at once. */
  wake(connections: Iterable<ConnectionKey>): void;
  /**
   * Gives back what has been claimed ahead of these connections: their endpoints are no longer as they were, so what
   * is claimed next goes by what they are now.
   */
  takeBack(connections: Iterable<ConnectionKey>): void;
  /** Looks for itself what is due. */
  poll(): Promise<void>;
  /** Resolves when nothing is under way and nothing is left to look at. */
  idle(): Promise<void>;
  /** Sends nothing new, gives back what it has not begun, waits a little for what it has, and lets go of the rest. */
  stop(): Promise<void>;
};

const LEASE_MS = MINUTE_MS;
/** Claims and requests that one process holds at most. */
const CLAIMED_MAX = 16_384;
/** Of these, endpoints that are failing may hold so many: the others are not to wait for them. */
const CLAIMED_UNHEALTHY_MAX = 2_048;
const CLAIMS_AT_ONCE = 4;
/** A retry that is due within this time is waited for; later ones are found by polling. */
const TIMER_MAX_MS = 2_000;
/** How long requests under way may take when the process is asked to end. */
const STOP_MS = 4_000;

export function createDispatcher(
  context: WebhookContext,
  sender: Sender,
  metrics?: Pick<Metrics, "attemptMade">,
): Dispatcher {
  const { db, clock, config, log } = context;
  const workerId = context.newId();
  const leaseMs = Math.max(LEASE_MS, 3 * config.webhookTimeoutMs);
  /** By connection and endpoint. */
  const queues = new Map<string, Map<string, EndpointQueue>>();
  /** Connections to look at, in turn. */
  const wanted = new Map<string, ConnectionKey>();
  const beingClaimed = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let stopping = false;
  let claimed = 0;
  let claimedUnhealthy = 0;
  let releasing = 0;
  let idleWaiters: (() => void)[] = [];

  const pace = new Pace(sendWaiting);
  const outcomes = createOutcomeStore(context, workerId, wake);

  const release = groupCalls<{ merchantId: string; endpointId: string }, void>({
    run: async (endpoints) => {
      await releaseEndpoints(db, workerId, endpoints);
      return endpoints.map(() => undefined);
    },
    sizeMax: 256,
    concurrencyMax: 1,
  });

  function wake(connections: Iterable<ConnectionKey>): void {
    if (stopping) return;
    for (const connection of connections) wanted.set(connection.connectionId, connection);
    pump();
  }

  /** A connection at a time, in turn: one that has come round goes to the end of the line when it comes again. */
  function pump(): void {
    for (const [connectionId, connection] of wanted) {
      if (stopping || beingClaimed.size >= CLAIMS_AT_ONCE || claimed >= CLAIMED_MAX) return;
      if (beingClaimed.has(connectionId)) continue;
      wanted.delete(connectionId);
      beingClaimed.add(connectionId);
      void claim(connection)
        .catch((err: unknown) => log.error({ err }, "deliveries could not be claimed; they are found again"))
        .finally(() => {
          beingClaimed.delete(connectionId);
          for (const queue of queuesOf(connection).values()) letGoIfDone(queue);
          pump();
          tellIdle();
        });
    }
  }

  async function claim(connection: ConnectionKey): Promise<void> {
    const now = clock.now();
    const taker: Taker = { workerId, now, leasedUntil: new Date(now.getTime() + leaseMs) };
    const known = [...queuesOf(connection).values()];
    const full = known.filter((queue) => !queue.wantsMore(now));
    const wanting = known.filter((queue) => queue.wantsMore(now) && queue.mayHaveMore);
    for (const queue of full) queue.mayHaveMore = true;
    const leased = await retried(db, clock, () =>
      leaseEndpoints(db, connection, taker, {
        wanting: wanting.map(({ endpointId }) => endpointId),
        except: full.map(({ endpointId }) => endpointId),
        healthyOnly: claimedUnhealthy >= CLAIMED_UNHEALTHY_MAX,
      }),
    );
    if (leased.length === 0) return;
    const rooms = leased.flatMap((endpoint) => makeRoom(endpoint) ?? []);
    const ids = { scheduled: context.newId(), manual: context.newId() };
    const deliveries = await retried(db, clock, () => claimDeliveries(db, connection, ids, taker, rooms));
    const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
    for (const endpoint of leased)
      if (rooms.some(({ endpointId }) => endpointId === endpoint.id))
        take(queueOf(endpoint), byEndpoint.get(endpoint.id) ?? []);
  }

  /** Null when a secret of the endpoint cannot be opened: it alone has to wait, until the key is there. */
  function makeRoom(endpoint: LeasedEndpoint): Room | null {
    try {
      return queueOf(endpoint).roomFor(endpoint, (sealed) => context.secrets.open(sealed, endpoint.id));
    } catch (err) {
      log.error(
        { err, endpoint: endpoint.id },
        "an endpoint's secret cannot be opened; nothing is sent to it",
      );
      return null;
    }
  }

  const queuesOf = ({
    connectionId,
  }: Pick<ConnectionKey, "connectionId">): ReadonlyMap<string, EndpointQueue> =>
    queues.get(connectionId) ?? new Map();

  function queueOf(endpoint: LeasedEndpoint): EndpointQueue {
    const ofConnection = queues.get(endpoint.connectionId) ?? new Map<string, EndpointQueue>();
    const queue = ofConnection.get(endpoint.id) ?? new EndpointQueue(endpoint);
    queues.set(endpoint.connectionId, ofConnection.set(endpoint.id, queue));
    return queue;
  }

  function take(queue: EndpointQueue, deliveries: readonly ClaimedDelivery[]): void {
    claimed += deliveries.length;
    if (queue.health.consecutiveFailures > 0) claimedUnhealthy += queue.addUnhealthy(deliveries.length);
    queue.add(deliveries);
    sendWaiting(queue);
  }

  function sendWaiting(queue: EndpointQueue): void {
    if (stopping || queue.isBackingOff(clock.now())) {
      for (const waiting of queue.takeWaiting()) void giveBack(queue, waiting);
      return;
    }
    while (pace.admits(queue)) {
      const next = queue.next();
      if (next === null) return;
      pace.begun();
      void sendOne(queue, next);
    }
  }

  async function sendOne(queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> {
    const { completion, responseStatus } = await sendDelivery(context, sender, delivery, queue.destination);
    const { attempt, verdict } = completion;
    if (attempt !== null)
      metrics?.attemptMade(isSuccess(attempt) ? "succeeded" : "failed", firstDelayMs(completion));
    const report =
      attempt === null || verdict.is === "returned"
        ? null
        : queue.note(isSuccess(attempt), responseStatus === 410, clock.now(), config.webhookRetryMs);
    queue.sent();
    sendWaiting(queue);
    askForMore(queue);
    await store(queue, { completion, report, wasPaused: queue.isPaused });
    if (verdict.is === "retry") wakeAt(queue, verdict.at);
    if (report?.health.backoffUntil != null) wakeAt(queue, report.health.backoffUntil);
  }

  function askForMore(queue: EndpointQueue): void {
    if (queue.mayHaveMore && queue.runsLow(clock.now())) wake([queue]);
  }

  const giveBack = (queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> =>
    store(queue, {
      completion: { delivery, attempt: null, verdict: { is: "returned" } },
      report: null,
      wasPaused: queue.isPaused,
    });

  async function store(queue: EndpointQueue, reported: Reported): Promise<void> {
    pace.ended();
    await outcomes.store(reported);
    claimed -= 1;
    claimedUnhealthy -= queue.completed();
    pace.stored();
    letGoIfDone(queue);
    askForMore(queue);
    pump();
    tellIdle();
  }

  /** Not while something is being claimed for it: the claim needs the lease. */
  function letGoIfDone(queue: EndpointQueue): void {
    if (queue.claimed > 0 || queue.isReleasing || beingClaimed.has(queue.connectionId)) return;
    queue.isReleasing = true;
    queue.mayHaveMore = queue.mayHaveMore && !queue.isBackingOff(clock.now());
    releasing += 1;
    release(queue)
      .catch((err: unknown) => log.warn({ err }, "an endpoint could not be released; its lease runs out"))
      .finally(() => {
        releasing -= 1;
        forget(queue);
        if (queue.mayHaveMore) wake([queue]);
        tellIdle();
      });
  }

  function forget(queue: EndpointQueue): void {
    const ofConnection = queues.get(queue.connectionId);
    ofConnection?.delete(queue.endpointId);
    if (ofConnection?.size === 0) queues.delete(queue.connectionId);
  }

  function wakeAt(connection: ConnectionKey, at: Date): void {
    const waitMs = at.getTime() - clock.now().getTime();
    if (stopping || waitMs > TIMER_MAX_MS) return;
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        wake([connection]);
      },
      Math.max(0, waitMs),
    );
    timers.add(timer);
  }

  function cutOff(): void {
    sender.cancelAll();
    outcomes.giveUp();
  }

  const isIdle = (): boolean =>
    claimed === 0 && releasing === 0 && beingClaimed.size === 0 && (wanted.size === 0 || stopping);

  function tellIdle(): void {
    if (!isIdle()) return;
    for (const tell of idleWaiters) tell();
    idleWaiters = [];
  }

  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      idleWaiters.push(resolve);
      tellIdle();
    });

  function takeBack(connections: Iterable<ConnectionKey>): void {
    for (const connection of connections)
      for (const queue of queuesOf(connection).values()) {
        for (const waiting of queue.takeWaiting()) void giveBack(queue, waiting);
        wake([connection]);
      }
  }

  return {
    wake,
    takeBack,
    async poll() {
      wake(await listConnectionsWithDueDeliveries(db, workerId, clock.now()));
    },
    idle,
    async stop() {
      stopping = true;
      wanted.clear();
      for (const timer of timers) clearTimeout(timer);
      for (const ofConnection of queues.values())
        for (const queue of ofConnection.values()) sendWaiting(queue);
      const timer = setTimeout(cutOff, STOP_MS);
      await idle();
      clearTimeout(timer);
    },
  };
}
