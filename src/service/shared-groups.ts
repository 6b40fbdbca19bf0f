import { deserialize, serialize } from "node:v8";
import type { SharedGroups } from "../orders/creation/create-order.ts";
import type { Placement } from "../orders/creation/place-orders.ts";
import { isUnavailable, UnavailableError } from "../platform/database/database.ts";
import { within } from "../platform/run-in-turn.ts";
import { type Problem, ProblemError } from "../platform/wire/problems.ts";

/** A statement of a creation may take two. After that the process that stores groups hangs, or has too much to do. */
const STORED_MS = 3_000;

/** Orders for the process that stores them, and what has come of them, for the process `to`. The supervisor fills in `from`. */
export type GroupMessage =
  | { readonly is: "group"; readonly number: number; readonly from: string; readonly data: Uint8Array }
  | { readonly is: "outcomes"; readonly number: number; readonly to: string; readonly data: Uint8Array }
  | { readonly is: "storing"; readonly state: "ready" | "leaving" | "gone" };

/** What comes of an order in another process: what its `Placed` would be, or why there is none. */
type Outcome<T> =
  | { readonly placed: T }
  | { readonly problem: Problem }
  | { readonly message: string; readonly isUnavailable: boolean };

/**
 * The part of a process in storing orders with the other `api` processes of its command
 * (docs/design/performance.md, "One process stores small groups"). The supervisor passes the messages on.
 * @param isStoring this process stores the orders of the others
 */
export function shareGroups(
  isStoring: boolean,
  send: (message: GroupMessage) => void,
): SharedGroups & { receive(message: GroupMessage): void; leave(): void } {
  type Placed = Awaited<ReturnType<Parameters<SharedGroups["serve"]>[0]>>;
  const sent = new Map<number, PromiseWithResolvers<Outcome<Placed>[]>>();
  let count = 0;
  let isReady = false;
  let place: ((placement: Placement) => Promise<Placed>) | null = null;

  async function store({ number, from, data }: Extract<GroupMessage, { is: "group" }>): Promise<void> {
    const placements = deserialize(data) as Placement[]; // Of `send` below.
    const outcomes = await Promise.all(placements.map((placement) => outcomeOf(() => place?.(placement))));
    send({ is: "outcomes", number, to: from, data: serialize(outcomes) });
  }

  async function sendGroup(placements: readonly Placement[]): Promise<(Placed | Error)[]> {
    const number = ++count;
    const response = Promise.withResolvers<Outcome<Placed>[]>();
    sent.set(number, response);
    send({ is: "group", number, from: "", data: serialize(placements) });
    try {
      return (await within(STORED_MS, response.promise)).map(placedOrError);
    } finally {
      sent.delete(number);
    }
  }

  return {
    send: (placements) => (isReady ? sendGroup(placements) : null),
    serve(placeOne) {
      if (isStoring) place = placeOne;
      return isStoring;
    },
    receive(message) {
      if (message.is === "group") void store(message);
      if (message.is === "outcomes")
        sent.get(message.number)?.resolve(deserialize(message.data) as Outcome<Placed>[]); // Of `store` above.
      if (message.is !== "storing") return;
      isReady = message.state === "ready" && !isStoring;
      if (message.state !== "gone") return;
      // What it has stored is found by its key when its orders are placed once more, each alone.
      for (const { reject } of sent.values()) reject(new Error("The process that stores groups has ended."));
    },
    leave() {
      isReady = false;
      if (isStoring) send({ is: "storing", state: "leaving" });
    },
  };
}

async function outcomeOf<T>(work: () => Promise<T> | undefined): Promise<Outcome<T>> {
  try {
    const placed = await work();
    if (placed === undefined) throw new UnavailableError("This process stores no groups.");
    return { placed };
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem };
    const message = error instanceof Error ? error.message : String(error);
    return { message, isUnavailable: isUnavailable(error) };
  }
}

function placedOrError<T>(outcome: Outcome<T>): T | Error {
  if ("placed" in outcome) return outcome.placed;
  if ("problem" in outcome) return new ProblemError(outcome.problem);
  return outcome.isUnavailable ? new UnavailableError(outcome.message) : new Error(outcome.message);
}
