import { isNodeDown, processReachable } from "../../../distribution/reachable-merchants.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { Context } from "../../../platform/context.ts";
import { isNodeLost, isOutOfReach, isUnavailable } from "../../../platform/database/database.ts";
import { type Grouped, groupCalls } from "../../../platform/database/group.ts";
import { retried } from "../../../platform/database/retry.ts";
import { atMostEvery } from "../../../platform/log.ts";
import { pause } from "../../../platform/pause.ts";
import { SECOND_MS } from "../../../platform/time.ts";
import { completeDeliveries, type RecordedCompletion } from "./complete-deliveries.ts";
import { storeInOrder } from "./outcomes-in-order.ts";
import { RETRY_EVERY_MS } from "./outcomes-set-aside.ts";
import { endStreams, type Success } from "./succeed-sql.ts";

export type OutcomeStore = {
  /**
   * Resolves when the outcome is stored, or when its lease has expired, so that the delivery will be sent again.
   * @param onSetAside called if it takes longer than for those of other endpoints
   */
  store(recorded: RecordedCompletion, onSetAside: () => void): Promise<void>;
  /** Whether outcomes of the endpoint wait longer than those of others. */
  isSetAside(endpointId: string): boolean;
  /** Stops waiting for a database that is not available. */
  giveUp(): void;
};

/** Outcomes that are stored together, at most. */
const GROUP_MAX = 256;
/** Groups of successes that are stored concurrently: while one waits for its commit, another is processed. */
const SUCCESS_GROUPS = 2;
/** The size from which a second group pays for its own commit. A statement costs as much as a dozen outcomes. */
const SECOND_GROUP_MIN = 192;
/** Only the next delivery of a stream waits for an outcome, so a few of them wait for others (decision 0177). */
const SPACING = { ms: 15, unlessWaiting: SECOND_GROUP_MIN };
/** The longest wait for a lock in a transaction with outcomes that are set aside. */
const LOCK_WAIT_MS = 100;

/**
 * Stores outcomes in groups. A success that ends its stream takes one statement, every other outcome a transaction.
 * Calls `onAdvanced` with the connections whose streams have a new head.
 */
export function createOutcomeStore(
  context: Context,
  workerId: string,
  onAdvanced: (connections: readonly ConnectionKey[]) => void,
): OutcomeStore {
  const { db, clock, log } = context;
  const givenUp = new AbortController();
  const onFailed = atMostEvery<unknown>(SECOND_MS, (err, count) =>
    log.warn({ err, count }, "groups of outcomes not stored, each outcome will be stored apart"),
  );
  const onLost = atMostEvery<unknown>(SECOND_MS, (err, count) =>
    log.error(
      { err, count },
      "outcomes not stored, their deliveries will be sent again when the lease expires",
    ),
  );
  const succeed = groupSuccesses(context, onFailed);
  const inOrder = storeInOrder(GROUP_MAX, {
    store: (recorded, isApart) =>
      processReachable(
        db,
        recorded,
        ({ completion }) => completion.delivery.merchantId,
        async (reachable) => {
          onAdvanced(
            await completeDeliveries(context, workerId, reachable, isApart ? LOCK_WAIT_MS : undefined),
          );
          return reachable.map(() => true as const);
        },
      ),
    isLost,
    onFailed,
    givenUp: givenUp.signal,
  });

  /** While the database is not available the outcome is kept, until its lease expires and another worker may send again. */
  function isLost({ completion: { delivery } }: RecordedCompletion, err: unknown): boolean {
    const isOver = clock.now() >= delivery.leasedUntil;
    if (isUnavailable(err) && !isOver && !givenUp.signal.aborted) return false;
    onLost(err);
    return true;
  }

  async function store(recorded: RecordedCompletion, onSetAside: () => void): Promise<void> {
    const success = plainSuccess(recorded);
    for (;;) {
      try {
        const isApart = inOrder.isSetAside(recorded.completion.delivery.endpointId);
        const result = success === null || isApart ? "not-ended" : await succeed(success);
        if (result === "ended") return;
        const { promise: ended, resolve: end } = Promise.withResolvers<void>();
        const unstored = { recorded, onSetAside, end };
        if (result === "failed") inOrder.setAside(unstored);
        else if ((await inOrder.store(unstored)) === "ended") return;
        return await ended;
      } catch (err) {
        if (isLost(recorded, err)) return;
        await pause(RETRY_EVERY_MS, givenUp.signal);
      }
    }
  }

  return { store, isSetAside: inOrder.isSetAside, giveUp: () => givenUp.abort() };
}

/** Whether a success has ended its stream. If not, nothing has changed. */
type StreamEnd = "ended" | "not-ended" | "failed";

function groupSuccesses(
  { db, clock }: Context,
  onFailed: (error: unknown) => void,
): Grouped<Success, StreamEnd> {
  return groupCalls<Success, StreamEnd>({
    name: "store successes",
    run: async (successes) => {
      // The statement needs all nodes of Citus (decision 0171). While one is down, the transaction stores them.
      if (isNodeDown(db)) return successes.map(() => "not-ended");
      try {
        const ended = await retried(db, clock, () => endStreams(db, successes));
        return ended.map((isEnded) => (isEnded ? "ended" : "not-ended"));
      } catch (error) {
        if (isOutOfReach(error)) throw error;
        if (isNodeLost(error)) return successes.map(() => "not-ended");
        onFailed(error);
        return successes.map(() => "failed");
      }
    },
    sizeMax: GROUP_MAX,
    concurrencyMax: SUCCESS_GROUPS,
    besideMin: SECOND_GROUP_MIN,
    spacing: SPACING,
  });
}

/** Null unless the outcome is a success that changes nothing but its own stream. */
function plainSuccess({ completion, health, wasPaused }: RecordedCompletion): Success | null {
  const { delivery, attempt, outcome } = completion;
  const isPlain =
    outcome.is === "succeeded" && health === null && !wasPaused && delivery.trigger !== "manual";
  return isPlain && attempt !== null ? { delivery, attempt } : null;
}
