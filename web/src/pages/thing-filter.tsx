import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useSetFilters } from "../ui/list/filters.tsx";
import { type ThingKind, thingQuery, thingsQuery } from "./things.ts";

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;

type Props = {
  readonly kind: ThingKind;
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  /** The id. */
  readonly value: string | undefined;
};

/** One merchant, facility or connection, found by its name, or any. Nothing is read before it is opened. */
export function ThingFilter({ kind, label, name, value }: Props) {
  const { t } = useTranslation();
  const setFilters = useSetFilters();
  const [isOpened, setOpened] = useState(false);
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const chosenName = useThingName(kind, value);
  const found = useQuery({
    ...thingsQuery(kind, q === chosenName ? "" : q),
    enabled: isOpened,
    placeholderData: keepPreviousData,
  });
  const others = (found.data ?? []).filter(({ id }) => id !== value);
  const chosen = value === undefined ? [] : [{ value, label: chosenName ?? value }];
  return (
    <Select
      size="xs"
      w={190}
      aria-label={label}
      placeholder={label}
      data={[...chosen, ...others.map((thing) => ({ value: thing.id, label: thing.name }))]}
      value={value ?? null}
      onChange={(id) => setFilters({ [name]: id ?? undefined })}
      onDropdownOpen={() => setOpened(true)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options} // The service has searched.
      clearable
      nothingFoundMessage={t(found.isFetching ? "ui.loading" : "palette.nothing")}
      comboboxProps={{ withinPortal: true, width: "max-content", position: "bottom-start" }}
    />
  );
}

/** Undefined: none is given, or its name is not read yet. */
export function useThingName(kind: ThingKind, id: string | undefined): string | undefined {
  return useQuery({ ...thingQuery(kind, id ?? ""), enabled: id !== undefined }).data?.name;
}
