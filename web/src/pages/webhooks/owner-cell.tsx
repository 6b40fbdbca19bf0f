import { useTranslation } from "react-i18next";
import { Below } from "../../ui/list/below.tsx";
import { type Owned, ownerKindOf, ownerNameOf, ownerOf } from "./owner.ts";

/** Whose something is; of a connection, with its merchant. */
export function OwnerCell({ of: owned }: { of: Owned }) {
  const { t } = useTranslation();
  const kind = ownerKindOf(ownerOf(owned));
  const below = kind === "connection" ? owned.merchantName : null;
  return <Below text={below ?? t(`endpoints.owners.${kind}`)}>{ownerNameOf(owned)}</Below>;
}
