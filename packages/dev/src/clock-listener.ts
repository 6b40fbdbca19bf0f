import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { createListener } from "../../../src/http/listener.ts";
import { type Route, routeTable } from "../../../src/http/route.ts";
import type { Context } from "../../../src/platform/context.ts";
import { ensureDayPartitions } from "../../../src/platform/database/day-partitions.ts";
import { parseTime } from "../../../src/platform/time.ts";
import type { ValidationError } from "../../../src/platform/wire/problems.ts";
import { dateTime } from "../../../src/platform/wire/schemas.ts";
import type { MovedClock } from "./moved-clock.ts";

/** How long a move waits for receivers, before it and after it. */
const SETTLED_WITHIN_MS = 10_000;
/** Whole years that the clock may be ahead. */
const YEARS_AHEAD_MAX = 2;

type Service = {
  finishDueWork(): Promise<void>;
  /** Stores how far the clock is ahead, before it is. */
  keep(aheadMs: number): Promise<void>;
};
type Operations = {
  readonly clock: MovedClock;
  /** @param aheadOf how far the clock is to be ahead, from how far it is */
  move(aheadOf: (aheadMs: number) => number): Promise<boolean>;
};

const ClockSchema = Type.Object({
  now: dateTime("The time of the service."),
  aheadSeconds: Type.Number({ description: "How far it is ahead of the machine's clock." }),
});
const MovedSchema = Type.Object({
  ...ClockSchema.properties,
  isSettled: Type.Boolean({
    description: "Whether all that became due is done, and its webhooks have been sent.",
  }),
});
const MoveSchema = Type.Object({
  advanceSeconds: Type.Optional(
    Type.Number({ minimum: 0.001, description: "By how much the clock is moved." }),
  ),
  to: Type.Optional(dateTime("The time that it is moved to.")),
});
type Move = { readonly advanceSeconds?: unknown; readonly to?: unknown };

/** The routes below `/dev`, on a listener of their own, which no part of the service has. */
export function createClockListener(context: Context, clock: MovedClock, service: Service): FastifyInstance {
  const operations = { clock, move: mover(context, clock, service) };
  return createListener<Operations, object>({
    name: "back-office", // Its metrics are not kept.
    metrics: { observe: () => undefined },
    routes,
    operationsFor: () => operations,
    authenticate: () => ({}),
    errorsBaseUrl: context.config.errorsBaseUrl,
    log: context.log.child({ listener: "dev" }),
  });
}

const shown = ({ now, aheadMs }: MovedClock) => ({ now: now().toISOString(), aheadSeconds: aheadMs / 1_000 });

const route = routeTable<Operations, object>();
const routes: readonly Route<Operations>[] = [
  route({
    method: "GET",
    path: "/dev/clock",
    operationId: "getClock",
    tag: "Clock",
    summary: "Read the clock",
    responses: { 200: { description: "The clock.", schema: ClockSchema } },
    problems: [],
    handle: async (_input, { clock }) => ({ status: 200, body: shown(clock) }),
  }),
  route({
    method: "POST",
    path: "/dev/clock",
    operationId: "moveClock",
    tag: "Clock",
    summary: "Move the clock forwards",
    body: MoveSchema,
    responses: { 200: { description: "The clock after the move.", schema: MovedSchema } },
    problems: ["validation-failed"],
    bodyErrors: async ({ body }, { clock }) => moveErrors(body, clock.now()),
    handle: async ({ body: { advanceSeconds, to } }, { clock, move }) => {
      const isSettled = await move((aheadMs) =>
        to === undefined
          ? aheadMs + Math.round((advanceSeconds ?? 0) * 1_000)
          : parseTime(to).getTime() - Date.now(),
      );
      return { status: 200, body: { ...shown(clock), isSettled } };
    },
  }),
];

/** Errors that the schema cannot find. */
function moveErrors(body: unknown, now: Date): ValidationError[] {
  const { advanceSeconds = null, to = null } = (
    typeof body === "object" && body !== null ? body : {}
  ) as Move;
  const [minYear, maxYear] = [now.getUTCFullYear(), new Date().getUTCFullYear() + YEARS_AHEAD_MAX];
  const latest = new Date(Date.UTC(maxYear + 1, 0, 1));
  const maxSeconds = Math.floor((latest.getTime() - now.getTime()) / 1_000);
  if ((advanceSeconds === null) === (to === null))
    return [{ pointer: "/advanceSeconds", rule: "either", field: "to" }];
  if (typeof advanceSeconds === "number" && advanceSeconds > maxSeconds)
    return [{ pointer: "/advanceSeconds", rule: "maximum", max: maxSeconds }];
  const time = typeof to === "string" ? parseTime(to) : null;
  if (time === null || Number.isNaN(time.getTime())) return []; // The schema reports it.
  if (time >= latest) return [{ pointer: "/to", rule: "year", min: minYear, max: maxYear }];
  return time > now ? [] : [{ pointer: "/to", rule: "after", field: "now" }];
}

/**
 * Moves the clock, one move after the other. What is due is done before the move, so that no delivery is in flight whose lease the
 * move ends; and after it, so that the caller sees what the move has led to.
 * @returns whether all of it was done in time
 */
function mover(context: Context, clock: MovedClock, { finishDueWork, keep }: Service): Operations["move"] {
  const settle = (): Promise<boolean> =>
    Promise.race([finishDueWork().then(() => true), delay(SETTLED_WITHIN_MS, false, { ref: false })]);
  const moveNow: Operations["move"] = async (aheadOf) => {
    await settle();
    const nextMs = (): number => Math.max(clock.aheadMs, aheadOf(clock.aheadMs)); // Another move may have been further.
    await ensureDayPartitions(context.db, new Date(Date.now() + nextMs()));
    await keep(nextMs());
    clock.aheadMs = nextMs();
    return settle();
  };
  let last: Promise<unknown> = Promise.resolve();
  return (aheadOf) => {
    const moved = last.then(() => moveNow(aheadOf));
    last = moved.catch(() => undefined);
    return moved;
  };
}
