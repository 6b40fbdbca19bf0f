import { useTranslation } from "react-i18next";
import type { Actor } from "../../api/schema.d.ts";

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
