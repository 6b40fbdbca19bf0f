import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ThingKind } from "./roles.ts";
import { thingQuery, thingsQuery } from "./things.ts";

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;
/** The service's limit for a role. */
const PICKED_MAX = 100;

type Props = {
  readonly kind: ThingKind;
  /** Ids. */
  readonly value: readonly string[];
  readonly onChange: (ids: string[]) => void;
  readonly error?: ReactNode;
};

/** Picks merchants, facilities or connections by a search for their names. */
export function ThingPicker({ kind, value, onChange, error }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({ ...thingsQuery(kind, q), placeholderData: keepPreviousData });
  const picked = useQueries({ queries: value.map((id) => thingQuery(kind, id)) });
  const names = new Map((found.data ?? []).map(({ id, name }) => [id, name]));
  const options = [
    ...value.map((id, index) => ({ value: id, label: picked[index]?.data?.name ?? names.get(id) ?? id })),
    ...(found.data ?? [])
      .filter(({ id }) => !value.includes(id))
      .map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <MultiSelect
      label={t(`access.things.${kind}`)}
      description={t(`access.thingsHelp.${kind}`)}
      placeholder={value.length === 0 ? t(`access.thingsSearch.${kind}`) : ""}
      data={options}
      value={[...value]}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options: all }) => all} // The service has searched.
      hidePickedOptions
      maxValues={PICKED_MAX}
      {...(typed !== "" && {
        nothingFoundMessage: t(found.isFetching ? "ui.loading" : "palette.nothing"),
      })}
      error={error}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
