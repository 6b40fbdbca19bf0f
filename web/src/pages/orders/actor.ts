import { useTranslation } from "react-i18next";
import type { Actor } from "../../api/schema.d.ts";

const KINDS = ["partner", "service", "operator", "warehouse", "merchant", "support"] as const;

/** Who did something: by name, or what it was. */
export function useActor(): (actor: Actor) => string {
  const { t } = useTranslation();
  return ({ kind, name }) => {
    const known = KINDS.find((each) => each === kind);
    const what = known === undefined ? kind : t(`actors.${known}`);
    return name === null || name === kind ? what : `${name} (${what})`;
  };
}
