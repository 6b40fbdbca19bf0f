import fc from "fast-check";
import type { Transition } from "../../src/lifecycle/order.ts";
import type { SendResult } from "../../src/webhooks/delivery/exchange.ts";

/** How long a test order lives in a history. */
export const LIFETIME_MS = 600_000;

export const OUTCOMES = {
  ok: { responseStatus: 200 },
  failed: { responseStatus: 500 },
  busy: { responseStatus: 429, retryAfter: "20" },
  hangUp: { error: "connection closed" },
  gone: { responseStatus: 410 },
} as const satisfies Record<string, Partial<SendResult>>;
export type OutcomeName = keyof typeof OUTCOMES;

const MOVES = [
  { name: "hold", reasons: ["out_of_stock"] },
  { name: "releaseHold" },
  { name: "cancel" },
] as const satisfies Transition[];

export type Command =
  | { name: "place"; isTest: boolean }
  /** A transition of an order, by its position in the list; a rejected transition does nothing. */
  | { name: "move"; order: number; transition: (typeof MOVES)[number] }
  | { name: "look"; worker: number }
  | { name: "answer"; which: number; as: OutcomeName }
  | { name: "advance"; ms: number }
  | { name: "kill"; worker: number; statements: number; applied: boolean }
  | { name: "redeliver"; delivery: number }
  | { name: "resume"; endpoint: number }
  | { name: "recover"; endpoint: number }
  | { name: "pause"; endpoint: number }
  | { name: "delete"; endpoint: number }
  /** Removes one row of what is due at an endpoint that was paused or deleted. */
  | { name: "clear"; endpoint: number }
  | { name: "work" };

const position = fc.nat(5);
const worker = fc.nat(1);
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant("place" as const), isTest: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant("move" as const),
      order: position,
      transition: fc.constantFrom(...MOVES),
    }),
  },
  { weight: 8, arbitrary: fc.record({ name: fc.constant("look" as const), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constant("answer" as const),
      which: position,
      as: fc.constantFrom<OutcomeName>("ok", "ok", "failed", "busy", "hangUp", "gone"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 4_000, 6_000, 20_000, 61_000, LIFETIME_MS / 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant("kill" as const),
      worker,
      statements: fc.nat(4),
      applied: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant("redeliver" as const), delivery: position }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("resume" as const), endpoint: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("recover" as const), endpoint: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant("pause" as const), endpoint: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("delete" as const), endpoint: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ name: fc.constant("clear" as const), endpoint: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant<Command>({ name: "work" }) },
);
/** Commands that happen at the same time, usually one alone. */
export const anyCommands = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(anyCommand) },
  { weight: 1, arbitrary: fc.array(anyCommand, { minLength: 2, maxLength: 4 }) },
);
/**
 * The default responses of the receivers, request after request; "hold" leaves a response to a later command, or to the
 * deadline.
 */
export const anyManner = fc.array(
  fc.constantFrom<OutcomeName | "hold">("ok", "ok", "hold", "failed", "hangUp"),
  {
    minLength: 1,
    maxLength: 6,
  },
);
