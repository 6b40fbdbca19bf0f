import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Type } from "typebox";
import type { RouteResponse } from "../http/route.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { SECOND_MS } from "../platform/time.ts";
import { isProblem, type Problem, validationFailed } from "../platform/wire/problems.ts";
import { described } from "../platform/wire/schemas.ts";

/** What can go wrong with a request, as a partner can ask for it (docs/design/lifecycle.md, "Rehearsed faults"). */
const FAULTS = {
  "lost-response": "The request is carried out, and the connection is cut instead of a response.",
  "503": "Nothing is carried out, and the response is 503 `unavailable`.",
  "429": "Nothing is carried out, and the response is 429 `rate-limited`.",
  slow: "The request is carried out, and the response arrives ten seconds later.",
} as const;
type Fault = keyof typeof FAULTS;

const SLOW_MS = 10 * SECOND_MS;

export const faultHeader = {
  "test-fault": Type.Optional(
    Type.Unsafe<Fault>({
      type: "string",
      enum: Object.keys(FAULTS),
      description: `A fault to rehearse with a test order. It happens to the first request, and its retry, the same request, gets its usual response. ${described(FAULTS)}`,
    }),
  ),
};
export const FaultHeaders = Type.Object(faultHeader);

/** Of a request that asks for a fault. */
export type FaultyRequest = {
  readonly caller: ConnectionKey;
  readonly fault: Fault | undefined;
  /** What makes a request the same one: its operation, its path, its key and its body. */
  readonly sameIf: readonly unknown[];
  /** Whether the order is a test order. Null if there is none. */
  isTestOrder(): boolean | Promise<boolean | null>;
};

export type RehearseFault = (
  request: FaultyRequest,
  carryOut: () => Promise<RouteResponse | Problem>,
) => Promise<RouteResponse | Problem>;

/** Requests whose retry gets no fault. Without the oldest ones, some retries get the fault once more. */
const REHEARSED_MAX = 10_000;

/**
 * Carries requests out with the faults that they ask for. Never on a real order: its request is rejected before anything
 * happens. The retries that are due are in memory, so each process shows the fault once.
 * @param stopping ends slow responses
 */
export function faultRehearsal(stopping?: AbortSignal): RehearseFault {
  const rehearsed = new Set<string>();
  /** True for the first of each two requests that are the same. */
  const isFirst = ({ caller, fault, sameIf }: FaultyRequest): boolean => {
    const text = JSON.stringify([caller.connectionId, fault, ...sameIf]);
    const key = createHash("sha256").update(text).digest("base64");
    if (rehearsed.delete(key)) return false;
    rehearsed.add(key);
    for (const oldest of rehearsed) {
      if (rehearsed.size <= REHEARSED_MAX) break;
      rehearsed.delete(oldest);
    }
    return true;
  };

  async function rehearse(
    fault: Fault,
    request: FaultyRequest,
    carryOut: () => Promise<RouteResponse | Problem>,
  ): Promise<RouteResponse | Problem> {
    const isTestOrder = await request.isTestOrder();
    if (isTestOrder === null) return carryOut(); // It says what is missing.
    if (!isTestOrder) return validationFailed([{ header: "test-fault", rule: "test_orders_only" }]);
    if (!isFirst(request)) return carryOut();
    if (fault === "503" || fault === "429") return REHEARSED[fault];
    const answer = await carryOut();
    if (isProblem(answer)) return answer;
    if (fault === "lost-response") return { ...answer, isLost: true };
    await wait(SLOW_MS, undefined, { signal: stopping }).catch(() => undefined);
    return answer;
  }

  // Nearly every request asks for none, and is carried out without a further promise.
  return (request, carryOut) =>
    request.fault === undefined ? carryOut() : rehearse(request.fault, request, carryOut);
}

const headers = { "retry-after": "1" };
const REHEARSED: Readonly<Record<"503" | "429", Problem>> = {
  "503": {
    code: "unavailable",
    detail:
      "This is the rehearsal that Test-Fault asks for. Nothing was carried out: retry the same request.",
    headers,
  },
  "429": {
    code: "rate-limited",
    detail:
      "This is the rehearsal that Test-Fault asks for. Nothing was carried out: retry the same request.",
    headers,
  },
};
