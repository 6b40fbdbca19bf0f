import { useTranslation } from "react-i18next";
import type { ReturnCondition, ReturnReason } from "../../api/schema.d.ts";

export const RETURN_REASONS = [
  "undeliverable",
  "refused",
  "unwanted",
  "damaged",
  "defective",
  "wrong_item",
  "not_as_described",
  "other",
] as const satisfies readonly ReturnReason[];

export const RETURN_CONDITIONS = [
  "unopened",
  "opened",
  "damaged",
  "defective",
] as const satisfies readonly ReturnCondition[];

/** A reason of a return in words. One that is not known is shown as it is. */
export function useReturnReason(): (reason: string) => string {
  const { t } = useTranslation();
  return (reason) => {
    const known = RETURN_REASONS.find((each) => each === reason);
    return known === undefined ? reason : t(`returnReasons.${known}`);
  };
}
