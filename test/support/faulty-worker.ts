import type { Database } from "../../src/platform/database/database.ts";
import { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import type { SendResult } from "../../src/webhooks/delivery/exchange.ts";
import type { Sender, SendRequest } from "../../src/webhooks/delivery/sender.ts";
import type { TestService } from "./test-service.ts";

/** What is in progress in all faulty workers of a test: statements, and responses on their way. */
export type Activity = { count: number };

/** A request that a worker has sent and the receiver has not answered yet. */
export type InFlight = SendRequest & {
  readonly sentAt: Date;
  /** False if it was answered before. */
  answer(outcome: SendResult): boolean;
};

/** A dispatcher that can be killed between any two of its statements. */
export type FaultyWorker = {
  readonly dispatcher: Dispatcher;
  /** Nothing that it still does reaches the database or a receiver. */
  readonly isDead: () => boolean;
  readonly inFlight: InFlight[];
  /**
   * Ends it after the given number of statements or transactions; with `applied` the last one takes effect, and only
   * its response is lost.
   */
  killAfter(statements: number, applied: boolean): void;
};

/** @param onSent is called when a request goes out, at the moment at which it does */
export function startFaultyWorker(
  { context, db, clock }: TestService,
  activity: Activity,
  onSent: (request: InFlight) => void,
): FaultyWorker {
  let isDead = false;
  let statementsLeft: number | null = null;
  let lastApplies = false;
  const inFlight: InFlight[] = [];

  async function call<T>(run: () => Promise<T>): Promise<T> {
    if (isDead) throw new Error("The worker is dead.");
    const isLast = statementsLeft === 0;
    if (statementsLeft !== null) statementsLeft -= 1;
    activity.count += 1;
    try {
      if (isLast) isDead = true;
      const answer = isLast && !lastApplies ? null : await run();
      if (isDead || answer === null) throw new Error("The worker is dead.");
      return answer;
    } finally {
      activity.count -= 1;
    }
  }

  const cuttable: Database = {
    ...db,
    query: (statement) => call(() => db.query(statement)),
    transaction: (work) => call(() => db.transaction(work)),
    runScript: (sql) => call(() => db.runScript(sql)),
  };
  const sender: Sender = {
    send: (request) =>
      new Promise((resolve) => {
        if (isDead) return;
        const sent: InFlight = {
          ...request,
          sentAt: clock.now(),
          answer: (outcome) => {
            const index = inFlight.indexOf(sent);
            if (index === -1) return false;
            inFlight.splice(index, 1);
            if (!isDead) resolve(outcome);
            return true;
          },
        };
        inFlight.push(sent);
        onSent(sent);
      }),
    originCount: () => 0,
    close: async () => undefined,
    cancelAll: () => undefined,
  };
  return {
    dispatcher: new Dispatcher({ ...context, db: cuttable }, sender, { random: () => 0.5 }),
    isDead: () => isDead,
    inFlight,
    killAfter(statements, applied) {
      if (statements === 0 && !applied) isDead = true;
      statementsLeft = statements;
      lastApplies = applied;
    },
  };
}

/**
 * Resolves when nothing is in progress and nothing will start: each worker waits for responses or has nothing to do.
 */
export async function quiet(activity: Activity): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1) {
    await new Promise(setImmediate);
    if (activity.count > 0) turns = 0;
  }
}
