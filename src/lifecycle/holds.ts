import { type Actor, SERVICE, type TimelineEntry } from "./applied-transition.ts";
import { MERCHANT_REQUEST, PAYMENT_FAILED } from "./hold-reasons.ts";
import type { Order } from "./order.ts";

/** A reason for which an order is on hold. */
export type Hold = {
  readonly reason: string;
  /** When the reason was placed that has been present since without interruption. */
  readonly since: Date;
  /** Who placed it then. */
  readonly placedBy: Actor;
};

/**
 * The holds of an order, with who placed each reason: the timeline remembers it.
 * @param timeline all entries of the order, oldest first
 */
export const holdsOf = (
  order: Pick<Order, "holdReasons" | "updatedAt">,
  timeline: readonly TimelineEntry[],
): Hold[] =>
  order.holdReasons.map((reason) => {
    const newestWithout = timeline.findLastIndex((entry) => !entry.holdReasons.includes(reason));
    const placement = timeline[newestWithout + 1];
    return {
      reason,
      since: placement?.createdAt ?? order.updatedAt,
      placedBy: placement?.actor ?? SERVICE,
    };
  });

/**
 * Whether a person of this kind may release the reason (decision 0093): the operator may release any, others what their
 * own kind has placed. A merchant's request is always the merchant's. This does not
 * apply to payments and routing, which release their own reasons.
 */
export function mayRelease({ reason, placedBy }: Hold, kind: Actor["kind"]): boolean {
  if (kind === "operator") return true;
  if (reason === PAYMENT_FAILED) return false;
  return kind === placedBy.kind || (kind === "merchant" && reason === MERCHANT_REQUEST);
}

/** What a person of one kind may release of an order. */
export type ReleasableReasons = {
  /** What a request without names releases. */
  readonly released: readonly string[];
  /** What a request must name: a failed payment, because its release waives the charge. */
  readonly toName: readonly string[];
};

export function releasableReasons(holds: readonly Hold[], kind: Actor["kind"]): ReleasableReasons {
  const releasable = holds.filter((hold) => mayRelease(hold, kind)).map(reasonOf);
  return {
    released: releasable.filter((reason) => reason !== PAYMENT_FAILED),
    toName: releasable.filter((reason) => reason === PAYMENT_FAILED),
  };
}

/** The reasons that a request releases: the named ones, or all that the caller may release without naming them. */
export function reasonsToRelease(
  holds: readonly Hold[],
  named: readonly string[] | undefined,
  kind: Actor["kind"],
): { readonly released: readonly string[]; readonly forbidden: readonly string[] } {
  if (named === undefined) return { released: releasableReasons(holds, kind).released, forbidden: [] };
  const wanted = holds.filter(({ reason }) => named.includes(reason));
  const forbidden = wanted.filter((hold) => !mayRelease(hold, kind));
  return { released: wanted.map(reasonOf), forbidden: forbidden.map(reasonOf) };
}

const reasonOf = ({ reason }: Hold): string => reason;
