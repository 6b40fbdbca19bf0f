import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../../api/me.ts";
import type { Me } from "../../../api/schema.d.ts";
import { thingsQuery } from "../../access/things.ts";
import { changeableKinds, type OwnerKind } from "../owner.ts";

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;

const THINGS = { connection: "connections", merchant: "merchants", facility: "facilities" } as const;

/** A person of the warehouse sees all merchants, and may give endpoints to those of its other grants alone. */
const mayOwn = ({ grants }: Me, kind: OwnerKind, id: string): boolean =>
  kind !== "merchant" ||
  grants.some(({ role, merchantIds }) => role === "operator" || merchantIds.includes(id));

type Props = {
  readonly value: string;
  readonly onChange: (ownerId: string) => void;
  readonly error: ReactNode;
};

/** Whose endpoint it will be. With one owner alone there is nothing to choose, and no field. */
export function OwnerField({ value, onChange, error }: Props) {
  const { t } = useTranslation();
  const me = useMe();
  const kinds = changeableKinds(rolesOf(me));
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  const searched = q === chosen?.label ? "" : q; // The field shows the name of what is chosen.
  const found = useQueries({
    queries: kinds.map((kind) => ({
      ...thingsQuery(THINGS[kind], searched),
      placeholderData: keepPreviousData,
    })),
  });
  const groups = kinds.map((kind, index) => ({
    group: t(`endpoints.owners.${kind}`),
    items: (found[index]?.data ?? [])
      .filter(({ id }) => mayOwn(me, kind, id))
      .map(({ id, name }) => ({ value: id, label: name })),
  }));
  const all = groups.flatMap(({ items }) => items);
  const [only] = all;
  const isOnly = searched === "" && all.length === 1 && found.every(({ isSuccess }) => isSuccess);
  useEffect(() => {
    if (isOnly && only !== undefined && value === "") onChange(only.value);
  });
  if (isOnly && only?.value === value) return null;
  const isMissing = chosen !== null && !all.some((option) => option.value === chosen.value);
  return (
    <Select
      label={t("endpoints.owner")}
      description={t("endpoints.ownerHelp")}
      required
      data={[...(isMissing ? [{ group: t("endpoints.chosen"), items: [chosen] }] : []), ...groups]}
      value={value === "" ? null : value}
      onChange={(id, option) => {
        setChosen(option === null ? null : { value: option.value, label: option.label });
        onChange(id ?? "");
      }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options} // The service has searched.
      nothingFoundMessage={t("palette.nothing")}
      error={error}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
