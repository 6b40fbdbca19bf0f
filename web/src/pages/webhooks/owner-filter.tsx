import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../api/me.ts";
import { SelectFilter } from "../../ui/list/filters.tsx";
import { seenKinds } from "./owner.ts";

/** Endpoints of one kind of owner. Nothing, for a person who sees those of one kind alone. */
export function OwnerFilter({ value }: { value: string | undefined }) {
  const { t } = useTranslation();
  const kinds = seenKinds(rolesOf(useMe()));
  if (kinds.length < 2) return null;
  return (
    <SelectFilter
      label={t("endpoints.owner")}
      name="owner"
      value={value}
      options={kinds.map((kind) => ({ value: kind, label: t(`endpoints.ofOwners.${kind}`) }))}
    />
  );
}
