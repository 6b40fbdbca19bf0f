import { ROUTING_HOLD_REASONS } from "../../lifecycle/hold-reasons.ts";
import type { Transition } from "../../lifecycle/transition.ts";
import type { WantedHold } from "./plan-routes.ts";

const PLACED_BY_ROUTING: readonly string[] = ROUTING_HOLD_REASONS;

/** An order's hold reasons, without those that routing sets and releases. */
export const withoutRoutingHolds = ({ holdReasons }: WantedHold["order"]): string[] =>
  holdReasons.filter((reason) => !PLACED_BY_ROUTING.includes(reason));

/** The transition that sets the hold that the order needs. Null if it already has it, or needs none. */
export const placementOf = ({
  order,
  reason,
}: WantedHold): Extract<Transition, { name: "addHold" }> | null =>
  reason === null || order.holdReasons.includes(reason) ? null : { name: "addHold", reasons: [reason] };

/** The transition that releases the routing holds that the order no longer needs. Null if it has none. */
export function releaseOf({
  order,
  reason,
}: WantedHold): Extract<Transition, { name: "releaseHold" }> | null {
  const reasons = PLACED_BY_ROUTING.filter((known) => known !== reason && order.holdReasons.includes(known));
  return reasons.length === 0 ? null : { name: "releaseHold", reasons };
}
