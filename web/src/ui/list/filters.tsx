import { CloseButton, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

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

export const Filters = ({ children }: { children: ReactNode }) => (
  <Group gap="xs" role="search">
    {children}
  </Group>
);

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
      w={170}
      aria-label={label}
      placeholder={label}
      data={[...options]}
      value={value ?? null}
      onChange={(chosen) => setFilters({ [name]: chosen ?? undefined })}
      clearable
      comboboxProps={{ withinPortal: true }}
    />
  );
}

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
      w={{ base: "100%", xs: 300 }}
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
