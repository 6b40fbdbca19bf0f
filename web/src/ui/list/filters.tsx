import IconAdjustmentsHorizontal from "icon:adjustments-horizontal";
import IconSearch from "icon:search";
import { Button, CloseButton, Group, Select, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Children, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import classes from "./filters.module.css";

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 250;

/** Changes filters in the address. The list then starts at its first page. A change of a filter is no page of history. */
export function useSetFilters(): (filters: Readonly<Record<string, unknown>>) => void {
  const navigate = useNavigate();
  return (filters) =>
    void navigate({
      to: ".",
      search: (search: object) => ({ ...search, ...filters, cursor: undefined }),
      replace: true,
    } as never); // The route of the page reads the names; this function works on every list.
}

type FiltersProps = {
  /** The fields that are used most: a search first. */
  readonly children: ReactNode;
  /** The other fields, behind a button. Those of them that are set are shown as `ActiveFilters`. */
  readonly more?: ReactNode;
};

/** The filters of a list, on one line. On a phone all but the first are behind a button. */
export function Filters({ children, more }: FiltersProps) {
  const { t } = useTranslation();
  const [isOpen, { toggle }] = useDisclosure(false);
  const moreId = useId();
  const [first, ...others] = Children.toArray(children);
  const hasOthers = others.length > 0 || more !== undefined;
  return (
    <search className={classes["filters"]} data-open={isOpen || undefined}>
      {first}
      {others.length > 0 && <div className={classes["others"]}>{others}</div>}
      {hasOthers && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={14} />}
          aria-expanded={isOpen}
          aria-controls={moreId}
          data-phone-only={more === undefined || undefined}
          onClick={toggle}
        >
          {t(more === undefined ? "ui.filters" : "ui.moreFilters")}
        </Button>
      )}
      <div id={moreId} className={classes["more"]} hidden={!isOpen || more === undefined}>
        {more}
      </div>
    </search>
  );
}

type SelectProps = {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

/** One of several values, or any. */
export function SelectFilter({ label, name, value, options }: SelectProps) {
  const setFilters = useSetFilters();
  return (
    <Select
      size="xs"
      className={classes["field"] ?? ""}
      aria-label={label}
      placeholder={label}
      data={[...options]}
      comboboxProps={FULL_OPTIONS}
      value={value ?? null}
      onChange={(chosen) => setFilters({ [name]: chosen ?? undefined })}
      clearable
    />
  );
}

/** An option is shown whole, however narrow its field is. */
const FULL_OPTIONS = { withinPortal: true, width: "max-content", position: "bottom-start" } as const;

/** Yes, no, or any. */
export function FlagFilter({
  value,
  yes,
  no,
  ...rest
}: Omit<SelectProps, "value" | "options"> & { value: boolean | undefined; yes: string; no: string }) {
  return (
    <SelectFilter
      {...rest}
      value={value === undefined ? undefined : String(value)}
      options={[
        { value: "true", label: yes },
        { value: "false", label: no },
      ]}
    />
  );
}

type SearchProps = { readonly label: string; readonly name?: string; readonly value: string | undefined };

/** A text to search for. `/` focuses it. */
export function SearchFilter({ label, name = "q", value }: SearchProps) {
  const { t } = useTranslation();
  const setFilters = useSetFilters();
  const [typed, setTyped] = useState(value ?? "");
  const sent = useRef(value ?? "");
  const send = useDebouncedCallback((text: string) => {
    sent.current = text;
    setFilters({ [name]: text.trim() === "" ? undefined : text.trim() });
  }, TYPING_MS);
  useEffect(() => {
    // The address changed for another reason, such as the back button.
    if ((value ?? "") !== sent.current.trim()) {
      sent.current = value ?? "";
      setTyped(sent.current);
    }
  }, [value]);
  const change = (text: string) => {
    setTyped(text);
    send(text);
  };
  return (
    <TextInput
      size="xs"
      className={classes["search"] ?? ""}
      type="search"
      aria-label={label}
      placeholder={label}
      data-search-filter
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      leftSection={<IconSearch size={14} />}
      rightSection={
        typed !== "" && <CloseButton size="xs" aria-label={t("ui.clear")} onClick={() => change("")} />
      }
    />
  );
}

/** A filter that has no field of its own, because only links set it. */
export type ActiveFilter = {
  /** The parameter of the address. */
  readonly name: string;
  /** What it shows, in words. Undefined: the filter is not set. */
  readonly label: string | undefined;
};

/** The filters of the address that have no field: one sees that the list is filtered, and removes them. */
export function ActiveFilters({ of }: { of: readonly ActiveFilter[] }) {
  const { t } = useTranslation();
  const setFilters = useSetFilters();
  const set = of.filter(({ label }) => label !== undefined);
  if (set.length === 0) return null;
  return (
    <Group gap={6} w="100%">
      {set.map(({ name, label = "" }) => (
        <span key={name} className={classes["filter"]}>
          <Text span size="xs">
            {label}
          </Text>
          <CloseButton
            size="xs"
            aria-label={t("ui.removeFilter", { filter: label })}
            onClick={() => setFilters({ [name]: undefined })}
          />
        </span>
      ))}
    </Group>
  );
}

type DayProps = {
  readonly label: string;
  /** A day in the person's zone, such as `2026-11-22`. */
  readonly value: string | undefined;
} & (
  | {
      /** The parameter of the address. */
      readonly name: string;
      readonly onDay?: never;
    }
  | { readonly name?: never; readonly onDay: (day: string | undefined) => void }
);

/** A day. The browser's own field: it works by keyboard and screen reader, and speaks the person's language. */
export function DayFilter({ label, name, value, onDay }: DayProps) {
  const setFilters = useSetFilters();
  const set = onDay ?? ((day: string | undefined) => setFilters({ [name]: day }));
  return (
    <TextInput
      size="xs"
      type="date"
      className={classes["field"] ?? ""}
      leftSection={
        <Text span size="xs" c="dimmed" aria-hidden>
          {label}
        </Text>
      }
      leftSectionWidth={44}
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => set(event.currentTarget.value || undefined)}
    />
  );
}
