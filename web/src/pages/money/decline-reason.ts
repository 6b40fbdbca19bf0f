import { useTranslation } from "react-i18next";

/** The codes of declines that have texts. The codes are the gateways' own, so others can occur. */
const KNOWN = [
  "credit_limit_exceeded",
  "card_declined",
  "insufficient_funds",
  "expired_card",
  "authentication_required",
] as const;

/** Why a payment was declined, in words. A code that is not known is shown as it is. */
export function useDeclineReason(): (code: string) => string {
  const { t } = useTranslation();
  return (code) => {
    const known = KNOWN.find((each) => each === code);
    return known === undefined ? code.replaceAll("_", " ") : t(`declineReasons.${known}`);
  };
}
