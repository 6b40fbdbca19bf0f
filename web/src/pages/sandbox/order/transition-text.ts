import { useTranslation } from "react-i18next";
import type { PossibleTransition, TestOrder, TransitionRequest } from "../../../api/schema.d.ts";

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
