import type { Queryable } from "../database/database.ts";
import { inOneStep, type Service } from "../service.ts";
import {
  advanceLanes,
  type ClaimState,
  type EndedHead,
  insertAttempts,
  lockLanes,
  returnToLanes,
  settleDeliveries,
  stillOnRecord,
} from "./complete-sql.ts";
import type { Completion } from "./due-delivery.ts";
import type { EndpointHealth, HealthChange } from "./endpoint-health.ts";
import { pauseEndpoint, saveHealth } from "./endpoint-health-sql.ts";

/** What the outcomes of an endpoint, so far, say of it. */
export type HealthReport = {
  readonly connectionId: string;
  readonly endpointId: string;
  readonly health: EndpointHealth;
  readonly pause: HealthChange["pause"];
  readonly warning: HealthChange["warning"];
};

/** A claim's outcome, and what is to be noted of its endpoint, if anything. */
export type Reported = { readonly completion: Completion; readonly report: HealthReport | null };

/**
 * Makes outcomes true: attempts go on record, deliveries end or go back, lanes move on, and endpoints are noted as
 * healthy, failing or paused; all in one step. Answers the connections whose lanes have moved on. The outcome of a
 * claim that somebody else has taken over changes nothing.
 */
export async function completeDeliveries(
  service: Service,
  workerId: string,
  reported: readonly Reported[],
): Promise<string[]> {
  const completions = reported.map(({ completion }) => completion);
  return inOneStep(service, async (tx) => {
    const now = service.clock.now();
    const states = await lockLanes(tx, completions);
    const paused = new Set<string>();
    for (const report of newestReports(reported)) {
      await saveHealth(tx, workerId, report);
      if (report.pause === null && report.warning === null) continue;
      if (await pauseEndpoint(tx, service, report, now)) paused.add(report.endpointId);
    }
    // The outcome of a lost claim is still told, unless the delivery was erased: nothing of it may stay behind.
    const lost = completions.filter((completion) => !states.has(completion));
    await insertAttempts(tx, [...states.keys(), ...(await stillOnRecord(tx, lost))]);
    const live = [...states].map(([completion, state]) => ({
      completion,
      state: paused.has(completion.delivery.endpointId)
        ? { ...state, endpointStatus: "paused" as const }
        : state,
    }));
    return moveLanes(tx, live, now);
  });
}

/** Outcomes come in the order in which they were observed, so the last report of an endpoint holds them all. */
function newestReports(reported: readonly Reported[]): HealthReport[] {
  const newest = new Map<string, HealthReport>();
  for (const { report } of reported) {
    if (report === null) continue;
    const earlier = newest.get(report.endpointId);
    newest.set(report.endpointId, {
      ...report,
      pause: report.pause ?? earlier?.pause ?? null,
      warning: report.warning ?? earlier?.warning ?? null,
    });
  }
  return [...newest.values()].sort((a, b) => (a.endpointId < b.endpointId ? -1 : 1));
}

type Live = { readonly completion: Completion; readonly state: ClaimState };

async function moveLanes(tx: Queryable, live: readonly Live[], now: Date): Promise<string[]> {
  const settled = (status: "succeeded" | "failed") =>
    live
      .filter(({ completion, state }) => statusAfter(completion, state) === status)
      .map((one) => one.completion);
  await settleDeliveries(tx, "succeeded", settled("succeeded"));
  await settleDeliveries(tx, "failed", settled("failed"));
  const returned = live.filter((one) => staysInLane(one));
  await returnToLanes(
    tx,
    returned.map(({ completion }) => ({
      completion,
      dueAt: completion.verdict.is === "retry" ? completion.verdict.at : now,
      tries: completion.delivery.tries + (completion.verdict.is === "retry" ? 1 : 0),
    })),
  );
  return advanceLanes(tx, live.filter((one) => !staysInLane(one)).flatMap(endedHeads), now);
}

/** A try by hand that fails changes nothing: neither what was delivered before, nor the schedule that goes on. */
function statusAfter(
  { verdict, delivery }: Completion,
  { isPending }: ClaimState,
): "succeeded" | "failed" | null {
  if (verdict.is === "succeeded") return "succeeded";
  return verdict.is === "failed" && delivery.cause !== "manual" && isPending ? "failed" : null;
}

const staysInLane = ({ completion, state }: Live): boolean =>
  (completion.verdict.is === "retry" || completion.verdict.is === "returned") &&
  (state.isPending || completion.delivery.cause === "manual") &&
  state.endpointStatus === "active";

function endedHeads({ completion: { delivery, verdict }, state }: Live): EndedHead[] {
  const goesOn = state.endpointStatus === "active";
  const { connectionId, endpointId, laneId, deliveryId, claimId, ownLaneId } = delivery;
  const head = { connectionId, endpointId, laneId, deliveryId, claimId, goesOn };
  if (delivery.cause !== "manual") return [head];
  // A try by hand that succeeds makes the scheduled one needless, unless that is under way itself.
  return verdict.is === "succeeded" && ownLaneId !== laneId
    ? [
        { ...head, goesOn: false },
        { ...head, laneId: ownLaneId, claimId: null },
      ]
    : [{ ...head, goesOn: false }];
}
