import type { PartnerRequest } from "../code/partner-request.ts";
import { useMemory } from "../memory.ts";
import type { TransitionName } from "./transition-text.ts";

/** What was done to a test order in this tab. */
export type Step = { readonly name: TransitionName; readonly at: string; readonly request: PartnerRequest };

const STEPS_MAX = 100;

export function useSteps(orderId: string): readonly [readonly Step[], (step: Step) => void] {
  const [steps, change] = useMemory<readonly Step[]>(["sandbox-steps", orderId], []);
  return [steps, (step) => change((before) => [...before, step].slice(-STEPS_MAX))];
}
