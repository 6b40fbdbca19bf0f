import { type Context, inTransaction } from "../../platform/context.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import type { Completion } from "../delivery/claimed-delivery.ts";
import { keptText, type SendResult } from "../delivery/exchange.ts";
import { completionOf } from "../delivery/send-delivery.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import { readEndpoint } from "../endpoints/endpoints-sql.ts";
import { pullProblem } from "./lease-deliveries.ts";
import { type AttemptNumber, listPullLeases, type PullLease, readNumberedAttempts } from "./pull-sql.ts";
import { type EndedLease, endLeases, LEASE_ENDED, lockPull, nameOf, noteMade } from "./record-pulled.ts";

/** How the receiver of a client has responded to a delivery that it had leased. */
export type Acknowledgement = AttemptNumber & {
  /** Null if it could not be reached. */
  readonly status: number | null;
  readonly responseBody: string | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly retryAfterSeconds: number | null;
};

export type AcknowledgementResult = "recorded" | "lease-ended" | "not-found";

/**
 * Records what clients have done with leased deliveries, as attempts. An acknowledgement that is repeated has no further effect. One
 * that arrives late is recorded if nothing has ended the lease yet.
 * @returns a result for each, in the same order
 */
export async function acknowledgeDeliveries(
  context: Context,
  key: EndpointKey,
  acknowledgements: readonly Acknowledgement[],
): Promise<readonly AcknowledgementResult[] | Problem> {
  let made: readonly Completion[] = [];
  const results = await inTransaction(context, async (tx) => {
    const pull = await lockPull(tx, key);
    made = pull?.made ?? [];
    const problem = pullProblem(await readEndpoint(tx, key, key.id));
    if (problem !== null || pull === null) return problem ?? [];
    const leases = new Map((await listPullLeases(tx, key)).map((lease) => [nameOf(lease), lease]));
    const ended = new Map<string, EndedLease>();
    for (const acknowledgement of acknowledgements) {
      const name = nameOf(acknowledgement);
      const lease = leases.get(name);
      if (lease !== undefined && !ended.has(name))
        ended.set(name, { lease, completion: completionFor(context, lease, acknowledgement) });
    }
    await endLeases(tx, context, pull, [...ended.values()]);
    const others = acknowledgements.filter((acknowledgement) => !ended.has(nameOf(acknowledgement)));
    const known = new Map(
      (await readNumberedAttempts(tx, key, others, context.clock.now())).map((attempt) => [
        nameOf(attempt),
        attempt,
      ]),
    );
    return acknowledgements.map((acknowledgement): AcknowledgementResult => {
      const lease = ended.get(nameOf(acknowledgement));
      if (lease !== undefined) return lease.completion === null ? "not-found" : "recorded";
      const attempt = known.get(nameOf(acknowledgement));
      if (attempt === undefined) return "not-found";
      return attempt.isMade && attempt.error !== LEASE_ENDED ? "recorded" : "lease-ended";
    });
  });
  noteMade(context, made);
  if (!isProblem(results)) context.signals.send("leases_ended", [key]);
  return results;
}

/** Null if the delivery was erased. */
function completionFor(
  context: Context,
  { delivery, leasedAt }: PullLease,
  { status, responseBody, durationMs, error, retryAfterSeconds }: Acknowledgement,
): Completion | null {
  if (delivery === null) return null;
  const result: SendResult = {
    durationMs: durationMs ?? Math.max(0, context.clock.now().getTime() - leasedAt.getTime()),
    responseStatus: status,
    responseBody: status === null ? null : keptText([Buffer.from(responseBody ?? "")]),
    error: error ?? (status === null ? NOT_REACHED : null),
    retryAfter: retryAfterSeconds === null ? null : String(retryAfterSeconds),
  };
  return completionOf({ ...context, random: Math.random }, delivery, leasedAt, result);
}

/** The error of an attempt for which the client gives none. */
const NOT_REACHED = "receiver not reached";
