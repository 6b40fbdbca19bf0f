import { useTranslation } from "react-i18next";
import type { Actor, KnownHoldReason } from "../../api/schema.d.ts";

const KINDS = ["partner", "service", "operator", "warehouse", "merchant", "support"] as const;

/** What someone was who did something. */
export function useActorKind(): (kind: string) => string {
  const { t } = useTranslation();
  return (kind) => {
    const known = KINDS.find((each) => each === kind);
    return known === undefined ? kind : t(`actors.${known}`);
  };
}

/** Who did something: by name, or what it was. */
export function useActor(): (actor: Actor) => string {
  const kindText = useActorKind();
  return ({ kind, name }) => {
    const what = kindText(kind);
    return name === null || name === kind ? what : `${name} (${what})`;
  };
}

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
