import { useTranslation } from "react-i18next";
import type { PossibleTransition, TestOrder, TransitionRequest } from "../../../api/schema.d.ts";
import type { PartnerRequest } from "../code/partner-request.ts";
import { useMemory } from "../memory.ts";

export type TransitionName = PossibleTransition["transition"];

/** Applies a transition; returns the order as it is afterwards. */
export type ApplyTransition = (body: TransitionRequest) => Promise<TestOrder>;

/** The rules of the sandbox. Another one is shown in the service's own words. */
const RULES = [
  "order_on_hold",
  "unshipped_lines",
  "order_settled",
  "no_shipment_out",
  "nothing_to_ship",
] as const;

/** What a transition does now, or why it is not possible. */
export function useTransitionText(): (transition: PossibleTransition) => string {
  const { t } = useTranslation();
  return ({ transition, rule, detail, changes }) => {
    if (rule !== null) {
      const known = RULES.find((each) => each === rule);
      return known === undefined ? (detail ?? rule) : t(`sandbox.rules.${known}`);
    }
    return changes ? t(`sandbox.effects.${transition}`) : t("sandbox.noChange");
  };
}

/** The id of the sentence about a transition, which describes its button. */
export const sentenceId = (transition: TransitionName): string => `transition-${transition}`;

/** What was done to a test order in this tab. */
export type Step = { readonly name: TransitionName; readonly at: string; readonly request: PartnerRequest };

const STEPS_MAX = 100;

export function useSteps(orderId: string): readonly [readonly Step[], (step: Step) => void] {
  const [steps, change] = useMemory<readonly Step[]>(["sandbox-steps", orderId], []);
  return [steps, (step) => change((before) => [...before, step].slice(-STEPS_MAX))];
}
