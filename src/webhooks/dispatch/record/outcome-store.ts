import { isNodeDown, processReachable } from "../../../distribution/reachable-merchants.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { Context } from "../../../platform/context.ts";
import { isNodeLost, isUnavailable, UnavailableError } from "../../../platform/database/database.ts";
import { groupCalls } from "../../../platform/database/group.ts";
import { retried } from "../../../platform/database/retry.ts";
import { completeDeliveries, type RecordedCompletion } from "./complete-deliveries.ts";
import { endStreams, type Success } from "./succeed-sql.ts";

export type OutcomeStore = {
  /** Resolves when the outcome is stored, or when its lease has expired, so that the delivery will be sent again. */
  store(recorded: RecordedCompletion): Promise<void>;
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
const RETRY_EVERY_MS = 250;

/**
 * Stores outcomes in groups. A success that ends its stream takes one statement, every other outcome a transaction.
 * Calls `onAdvanced` with the connections whose streams have a new head.
 */
export function createOutcomeStore(
  context: Context,
  workerId: string,
  onAdvanced: (connections: readonly ConnectionKey[]) => void,
): OutcomeStore {
  let isGivenUp = false;
  const { db, clock } = context;
  const succeed = groupCalls<Success, boolean>({
    name: "store successes",
    run: async (successes) => {
      // The statement needs all nodes of Citus (decision 0171). While one is down, the transaction stores them.
      if (isNodeDown(db)) return successes.map(() => false);
      try {
        return await retried(db, clock, () => endStreams(db, successes));
      } catch (error) {
        if (!isNodeLost(error)) throw error;
        return successes.map(() => false);
      }
    },
    sizeMax: GROUP_MAX,
    concurrencyMax: SUCCESS_GROUPS,
    besideMin: SECOND_GROUP_MIN,
    spacing: SPACING,
  });
  // Null: the node of the merchant is down, and nothing is stored yet.
  const complete = groupCalls<RecordedCompletion, true | null>({
    name: "store outcomes",
    run: (recorded) =>
      processReachable(
        db,
        recorded,
        ({ completion }) => completion.delivery.merchantId,
        async (reachable) => {
          onAdvanced(await completeDeliveries(context, workerId, reachable));
          return reachable.map(() => true);
        },
      ),
    sizeMax: GROUP_MAX,
    concurrencyMax: 1, // The health of an endpoint must be stored in the order of its outcomes.
  });

  /** While the database is not available the outcome is kept, until its lease expires and another worker may send again. */
  async function store(recorded: RecordedCompletion): Promise<void> {
    for (;;) {
      try {
        const success = plainSuccess(recorded);
        if (success !== null && (await succeed(success))) return;
        if ((await complete(recorded)) !== null) return;
        throw new UnavailableError("The node of the merchant is down.");
      } catch (err) {
        const isOver = context.clock.now() >= recorded.completion.delivery.leasedUntil;
        if (!isUnavailable(err) || isOver || isGivenUp) {
          context.log.error(
            { err },
            "outcome not stored, its delivery will be sent again when the lease expires",
          );
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS));
      }
    }
  }

  return {
    store,
    giveUp: () => {
      isGivenUp = true;
    },
  };
}

/** Null unless the outcome is a success that changes nothing but its own stream. */
function plainSuccess({ completion, health, wasPaused }: RecordedCompletion): Success | null {
  const { delivery, attempt, outcome } = completion;
  const isPlain =
    outcome.is === "succeeded" && health === null && !wasPaused && delivery.trigger !== "manual";
  return isPlain && attempt !== null ? { delivery, attempt } : null;
}
