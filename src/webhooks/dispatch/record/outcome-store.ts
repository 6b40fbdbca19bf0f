import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { Context } from "../../../platform/context.ts";
import { isUnavailable } from "../../../platform/database/database.ts";
import { groupCalls } from "../../../platform/database/group.ts";
import { retried } from "../../../platform/database/retry.ts";
import { completeDeliveries, type Reported } from "./complete-deliveries.ts";
import { endStreams, type Success } from "./succeed-sql.ts";

export type OutcomeStore = {
  /** Resolves when the outcome is stored, or when it is lost with its lease: then somebody else sends again. */
  store(reported: Reported): Promise<void>;
  /** Gives up what waits for a database that is away. */
  giveUp(): void;
};

/** Outcomes of about so many deliveries are stored together. */
const TOGETHER_MAX = 256;
/** Groups of successes that may be at the database: while one waits for the log, another is being worked on. */
const SUCCESSES_AT_ONCE = 2;
/** A second group is not worth its own wait for the log with less: each statement costs as much as a dozen outcomes. */
const BESIDE_MIN = 192;
const AGAIN_MS = 250;

/** Stores outcomes that come in together in one step. Calls `onMoved` with the connections whose streams have moved on. */
export function createOutcomeStore(
  context: Context,
  workerId: string,
  onMoved: (connections: readonly ConnectionKey[]) => void,
): OutcomeStore {
  let isGivenUp = false;
  const succeed = groupCalls<Success, boolean>({
    run: (successes) => retried(context.db, context.clock, () => endStreams(context.db, successes)),
    sizeMax: TOGETHER_MAX,
    concurrencyMax: SUCCESSES_AT_ONCE,
    besideMin: BESIDE_MIN,
  });
  const complete = groupCalls<Reported, void>({
    run: async (reported) => {
      onMoved(await completeDeliveries(context, workerId, reported));
      return reported.map(() => undefined);
    },
    sizeMax: TOGETHER_MAX,
    concurrencyMax: 1, // Reports of an endpoint's health must be stored in their order.
  });

  /** While the database is away the outcome is kept, until the lease is over and somebody else may send again. */
  async function store(reported: Reported): Promise<void> {
    for (;;) {
      try {
        const success = plainSuccess(reported);
        if (success === null || !(await succeed(success))) await complete(reported);
        return;
      } catch (err) {
        const isOver = context.clock.now() >= reported.completion.delivery.leasedUntil;
        if (!isUnavailable(err) || isOver || isGivenUp) {
          context.log.error(
            { err },
            "an outcome could not be stored; its delivery is sent again after its lease",
          );
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
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

/** Null for what is no success, says something of its endpoint, or was sent by hand: that changes more than its stream. */
function plainSuccess({ completion, report, wasPaused }: Reported): Success | null {
  const { delivery, attempt, verdict } = completion;
  const isPlain =
    verdict.is === "succeeded" && report === null && !wasPaused && delivery.trigger !== "manual";
  return isPlain && attempt !== null ? { delivery, attempt } : null;
}
