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
import { type OutcomeSetAside, OutcomesInOrder, RETRY_EVERY_MS, type Stored } from "./outcomes-in-order.ts";
import { endStreams, type Success } from "./succeed-sql.ts";

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

/** Whether a success has ended its stream. If not, nothing has changed. */
type StreamEnd = "ended" | "not-ended" | "failed";

/** Stores outcomes in groups. A success that ends its stream takes one statement, every other outcome a transaction. */
export class OutcomeStore {
  readonly #context: Context;
  readonly #workerId: string;
  readonly #onAdvanced: (connections: readonly ConnectionKey[]) => void;
  readonly #givenUp = new AbortController();
  readonly #endStream: Grouped<Success, StreamEnd>;
  readonly #inOrder: OutcomesInOrder;
  readonly #logFailed: (error: unknown) => void;
  readonly #logLost: (error: unknown) => void;

  /** @param onAdvanced is called with the connections whose streams have a new head */
  constructor(
    context: Context,
    workerId: string,
    onAdvanced: (connections: readonly ConnectionKey[]) => void,
  ) {
    const { log } = context;
    this.#context = context;
    this.#workerId = workerId;
    this.#onAdvanced = onAdvanced;
    this.#logFailed = atMostEvery<unknown>(SECOND_MS, (err, count) =>
      log.warn({ err, count }, "groups of outcomes not stored, each outcome will be stored apart"),
    );
    this.#logLost = atMostEvery<unknown>(SECOND_MS, (err, count) =>
      log.error(
        { err, count },
        "outcomes not stored, their deliveries will be sent again when the lease expires",
      ),
    );
    this.#endStream = groupCalls<Success, StreamEnd>({
      name: "store successes",
      run: (successes) => this.#endStreams(successes),
      sizeMax: GROUP_MAX,
      concurrencyMax: SUCCESS_GROUPS,
      besideMin: SECOND_GROUP_MIN,
      spacing: SPACING,
    });
    this.#inOrder = new OutcomesInOrder(GROUP_MAX, {
      store: (recorded, isApart) => this.#complete(recorded, isApart),
      isLost: (recorded, error) => this.#isLost(recorded, error),
      onFailed: this.#logFailed,
      givenUp: this.#givenUp.signal,
    });
  }

  /**
   * Resolves with null when the outcome is stored, or when its lease has expired, so that the delivery will be sent again. One
   * that takes longer than those of other endpoints is set aside.
   */
  async store(recorded: RecordedCompletion): Promise<OutcomeSetAside | null> {
    const success = plainSuccess(recorded);
    for (;;) {
      try {
        if (success === null || this.isSetAside(success.delivery.endpointId))
          return await this.#inOrder.store(recorded);
        const end = await this.#endStream(success);
        if (end === "ended") return null;
        return end === "failed" ? this.#inOrder.setAside(recorded) : await this.#inOrder.store(recorded);
      } catch (err) {
        if (this.#isLost(recorded, err)) return null;
        await pause(RETRY_EVERY_MS, this.#givenUp.signal);
      }
    }
  }

  /** Whether outcomes of the endpoint wait longer than those of others. */
  isSetAside(endpointId: string): boolean {
    return this.#inOrder.isSetAside(endpointId);
  }

  /** Stops waiting for a database that is not available. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #endStreams(successes: readonly Success[]): Promise<StreamEnd[]> {
    const { db, clock } = this.#context;
    // The statement needs all nodes of Citus (decision 0171). While one is down, the transaction stores them.
    if (isNodeDown(db)) return successes.map(() => "not-ended");
    try {
      const ended = await retried(db, clock, () => endStreams(db, successes));
      return ended.map((isEnded) => (isEnded ? "ended" : "not-ended"));
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      if (isNodeLost(error)) return successes.map(() => "not-ended");
      this.#logFailed(error);
      return successes.map(() => "failed");
    }
  }

  #complete(recorded: readonly RecordedCompletion[], isApart: boolean): Promise<readonly Stored[]> {
    const merchantIdOf = ({ completion }: RecordedCompletion): string => completion.delivery.merchantId;
    const lockWaitMs = isApart ? LOCK_WAIT_MS : undefined;
    return processReachable(this.#context.db, recorded, merchantIdOf, async (reachable) => {
      this.#onAdvanced(await completeDeliveries(this.#context, this.#workerId, reachable, lockWaitMs));
      return reachable.map(() => true as const);
    });
  }

  /** While the database is not available the outcome is kept, until its lease expires and another worker may send again. */
  #isLost({ completion: { delivery } }: RecordedCompletion, err: unknown): boolean {
    const isOver = this.#context.clock.now() >= delivery.leasedUntil;
    if (isUnavailable(err) && !isOver && !this.#givenUp.signal.aborted) return false;
    this.#logLost(err);
    return true;
  }
}

/** Null unless the outcome is a success that changes nothing but its own stream. */
function plainSuccess({ completion, health, wasPaused }: RecordedCompletion): Success | null {
  const { delivery, attempt, outcome } = completion;
  const isPlain =
    outcome.is === "succeeded" && health === null && !wasPaused && delivery.trigger !== "manual";
  return isPlain && attempt !== null ? { delivery, attempt } : null;
}
