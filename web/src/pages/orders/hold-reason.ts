import { useTranslation } from "react-i18next";
import type { KnownHoldReason } from "../../api/schema.d.ts";

const KNOWN = [
  "payment_failed",
  "out_of_stock",
  "address_unserviceable",
  "merchant_request",
] as const satisfies readonly KnownHoldReason[];

/** A hold reason in words. The reasons are open: one that is not known is shown as it is. */
export function useHoldReason(): (reason: string) => string {
  const { t } = useTranslation();
  return (reason) => {
    const known = KNOWN.find((each) => each === reason);
    return known === undefined ? reason.replaceAll("_", " ") : t(`holdReasons.${known}`);
  };
}
