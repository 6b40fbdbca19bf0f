import { useTranslation } from "react-i18next";
import type { Order, OrderAction } from "../../../api/schema.d.ts";

export type ActionProps = {
  readonly order: Order;
  readonly action: OrderAction;
  /** The one that most people want now. */
  readonly isPrimary: boolean;
};

/** What an action does, and what the partner learns of it. */
export function useEffectText(): (action: Pick<OrderAction, "effect" | "eventTypes">) => string {
  const { t } = useTranslation();
  return ({ effect, eventTypes }) => {
    const sentence = t(`orderEffects.${effect}`);
    return eventTypes.length === 0
      ? sentence
      : `${sentence} ${t("orderActions.events", { events: eventTypes.join(", ") })}`;
  };
}
