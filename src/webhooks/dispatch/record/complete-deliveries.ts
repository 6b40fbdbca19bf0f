import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../../platform/context.ts";
import type { Queryable } from "../../../platform/database/database.ts";
import type { HealthReport } from "../../health/endpoint-health.ts";
import { pauseEndpoint, saveHealth } from "../../health/endpoint-health-sql.ts";
import { warnMerchant } from "../../health/warn-merchant.ts";
import type { Completion } from "../claimed-delivery.ts";
import {
  advanceStreams,
  type DeliveryState,
  type EndedHead,
  finishDeliveries,
  insertAttempts,
  lockClaimedStreams,
  readStatuses,
  returnToStreams,
} from "./complete-sql.ts";

/** A claim's outcome, and what is to be noted of its endpoint, if anything. */
export type Reported = {
  readonly completion: Completion;
  readonly report: HealthReport | null;
  /** Whether the endpoint had been paused when the outcome came in. */
  readonly wasPaused: boolean;
};

/**
 * Makes outcomes true: attempts go on record, deliveries end or go back, streams move on, and endpoints are noted as
 * healthy, failing or paused; all in one step. Answers the connections whose streams have moved on. The outcome of a
 * claim that somebody else has taken over goes on record, and changes nothing.
 */
export async function completeDeliveries(
  context: Context,
  workerId: string,
  reported: readonly Reported[],
): Promise<ConnectionKey[]> {
  const completions = reported.map(({ completion }) => completion);
  return inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const live = await lockClaimedStreams(tx, completions);
    for (const report of newestReports(reported)) {
      await saveHealth(tx, workerId, report);
      const isNews = report.pause === null || (await pauseEndpoint(tx, report, report.pause, now));
      if (report.warning !== null && isNews)
        await warnMerchant(tx, report, report.warning, { id: context.newId(), now });
    }
    // Only what did not go as it mostly does needs a look at the delivery and the endpoint.
    const unusual = reported
      .filter(
        ({ completion, wasPaused }) =>
          !live.has(completion) || completion.verdict.is !== "succeeded" || wasPaused,
      )
      .map(({ completion }) => completion);
    const statusOf = await readStatuses(tx, unusual);
    await insertAttempts(
      tx,
      completions.filter((one) => live.has(one) || statusOf(one) !== null), // Nothing stays behind of one that was erased.
    );
    const streams = reported
      .filter(({ completion }) => live.has(completion))
      .map(({ completion }) => ({ completion, ...(statusOf(completion) ?? USUAL) }));
    return moveStreams(tx, streams, now);
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

type Live = { readonly completion: Completion } & DeliveryState;

const USUAL: DeliveryState = { isPending: true, endpointStatus: "active" };

async function moveStreams(tx: Queryable, live: readonly Live[], now: Date): Promise<ConnectionKey[]> {
  const settled = (status: "succeeded" | "failed") =>
    live.filter((one) => statusAfter(one) === status).map(({ completion }) => completion);
  await finishDeliveries(tx, "succeeded", settled("succeeded"));
  await finishDeliveries(tx, "failed", settled("failed"));
  const returned = live.filter((one) => staysInStream(one));
  await returnToStreams(
    tx,
    returned.map(({ completion }) => ({
      completion,
      dueAt: completion.verdict.is === "retry" ? completion.verdict.at : now,
      attemptCount: completion.delivery.attemptCount + (completion.verdict.is === "retry" ? 1 : 0),
    })),
  );
  return advanceStreams(tx, live.filter((one) => !staysInStream(one)).flatMap(endedHeads), now);
}

/** A try by hand that fails changes nothing: neither what was delivered before, nor the schedule that goes on. */
function statusAfter({
  completion: { verdict, delivery },
  isPending,
  endpointStatus,
}: Live): "succeeded" | "failed" | null {
  if (verdict.is === "succeeded") return "succeeded";
  const isGivenUp = verdict.is === "failed" || endpointStatus === "deleted";
  return isGivenUp && delivery.trigger !== "manual" && isPending ? "failed" : null;
}

const staysInStream = ({ completion: { verdict, delivery }, isPending, endpointStatus }: Live): boolean =>
  (verdict.is === "retry" || verdict.is === "returned") &&
  endpointStatus === "active" &&
  (isPending || delivery.trigger === "manual");

function endedHeads({ completion: { delivery, verdict }, endpointStatus }: Live): EndedHead[] {
  const { merchantId, endpointId, streamId, deliveryId, claimId, ownStreamId } = delivery;
  const head = { merchantId, endpointId, streamId, deliveryId, claimId, goesOn: endpointStatus === "active" };
  if (delivery.trigger !== "manual") return [head];
  const ended = { ...head, goesOn: false };
  // A try by hand that succeeds makes the scheduled one needless, unless that is under way itself.
  return verdict.is === "succeeded" ? [ended, { ...head, streamId: ownStreamId, claimId: null }] : [ended];
}
