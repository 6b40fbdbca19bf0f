import "@mantine/spotlight/styles.layer.css";
import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight } from "@mantine/spotlight";
import {
  type Icon,
  IconBuildingStore,
  IconPackage,
  IconPlugConnected,
  IconSearch,
  IconUser,
} from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useHasRole, useMe } from "../api/me.ts";
import { read } from "../api/read.ts";
import type { PersonPage, SearchResult } from "../api/schema.d.ts";
import { paths } from "../paths.ts";
import { useGo } from "../ui/link.tsx";
import { navigationOf } from "./navigation.ts";
import { palette, paletteStore } from "./palette-store.ts";

/** Waits for the end of a word. */
const TYPING_MS = 120;
const QUERY_LENGTH_MIN = 2;
const PEOPLE_MAX = 5;

/** Finds pages, orders, connections, merchants and people. */
export function Palette() {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
  const pages = usePages(query);
  const { things, isComplete } = useThings(query);
  const found = [...pages, ...things];
  const enter = useEnter(query, found, isComplete);
  return (
    <Spotlight.Root
      store={paletteStore}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      maxHeight={420}
      attributes={{ content: { "aria-label": t("palette.search") } }}
    >
      <SearchField query={query} found={found} onEnter={enter} />
      <Spotlight.ActionsList
        id={LIST_ID}
        {...(found.length > 0 && { role: "listbox", "aria-label": t("palette.found") })}
      >
        {found.length === 0 && isComplete && <Spotlight.Empty>{t("palette.nothing")}</Spotlight.Empty>}
        {found.map((thing) => (
          <Action key={thing.to} of={thing} />
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

type SearchFieldProps = {
  readonly query: string;
  readonly found: readonly FoundThing[];
  /** Returns whether the selected action is not to be triggered. */
  readonly onEnter: () => boolean;
};

function SearchField({ query, found, onEnter }: SearchFieldProps) {
  const { t } = useTranslation();
  const field = useRef<HTMLInputElement>(null);
  const shown = found.map(({ to }) => to).join(" ");
  useSelectedFirst(query.trim() === "" ? "" : shown);
  useSpokenSelection(field);
  return (
    // Before the field itself handles the key.
    <div
      onKeyDownCapture={(event) => {
        if (event.key !== "Enter" || event.nativeEvent.isComposing || !onEnter()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <Spotlight.Search
        ref={field}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-autocomplete="list"
        {...(found.length > 0 && { "aria-controls": LIST_ID })}
        placeholder={t("palette.search")}
        aria-label={t("palette.search")}
        leftSection={<IconSearch size={18} stroke={1.6} />}
      />
    </div>
  );
}

function Action({ of: { to, label, about, Icon } }: { of: FoundThing }) {
  const go = useGo();
  return (
    <Spotlight.Action
      role="option"
      onClick={() => void go(to)}
      leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
    >
      <div>
        <Text size="sm">{label}</Text>
        {about !== undefined && (
          <Text size="xs" c="var(--action-description-color, var(--mantine-color-dimmed))">
            {about}
          </Text>
        )}
      </div>
    </Spotlight.Action>
  );
}

/**
 * Enter right behind a text, as a scanner sends it, opens what is found for this text, once it is. What the person chooses by
 * an arrow key, and pages, which are found at once, are opened at once.
 */
function useEnter(query: string, found: readonly FoundThing[], isComplete: boolean): () => boolean {
  const go = useGo();
  const [awaited, setAwaited] = useState<string | null>(null);
  const [first] = found;
  const isFirstKnown = isComplete || first?.isPage === true;
  useEffect(() => {
    if (awaited === null) return;
    if (awaited === query && !isComplete) return;
    setAwaited(null);
    if (awaited !== query || first === undefined) return;
    palette.close();
    void go(first.to);
  }, [awaited, query, isComplete, first, go]);
  return () => {
    if (isFirstKnown || paletteStore.getState().selected > 0) return false;
    setAwaited(query);
    return true;
  };
}

type FoundThing = {
  readonly to: string;
  readonly label: string;
  readonly about?: string;
  readonly Icon: Icon;
  readonly isPage?: boolean;
};

/** The pages of the navigation whose names contain the text. */
function usePages(query: string): FoundThing[] {
  const { t } = useTranslation();
  const wanted = query.trim().toLowerCase();
  return navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .map(({ name, to, icon: Icon }) => ({ to, label: t(`navigation.${name}`), Icon, isPage: true }))
    .filter(({ label }) => label.toLowerCase().includes(wanted));
}

/**
 * What the service finds among orders, connections, merchants and people. Its search leaves no trace in the audit log. What
 * was found for an older text stays until the search is complete.
 */
function useThings(query: string): { things: readonly FoundThing[]; isComplete: boolean } {
  const thingsOf = useThingsOf();
  const [q] = useDebouncedValue(query.trim(), TYPING_MS);
  const wanted = query.trim();
  const isEnabled = q.length >= QUERY_LENGTH_MIN && wanted !== "";
  const search = useQuery({
    ...read("/api/search", { params: { query: { q } } }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const seesPeople = useHasRole("operator", "merchant", "support");
  const people = useQuery({
    ...read("/api/people", { params: { query: { q, limit: PEOPLE_MAX } } }),
    enabled: isEnabled && seesPeople,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (wanted.length < QUERY_LENGTH_MIN) return { things: [], isComplete: true };
  const isPending = [search, ...(seesPeople ? [people] : [])].some(
    (each) => each.isPending || each.isPlaceholderData,
  );
  return {
    things: isEnabled ? thingsOf(search.data, people.data) : [],
    isComplete: q === wanted && !isPending,
  };
}

/** The items of the palette for what was found. */
function useThingsOf(): (found: SearchResult | undefined, people: PersonPage | undefined) => FoundThing[] {
  const { t } = useTranslation();
  return (found, people) => [
    ...(found?.orders ?? []).map(({ id, externalOrderId, status, connectionName }) => ({
      to: paths.order(id),
      label: externalOrderId ?? id,
      about: [t(`status.order.${status}`), connectionName].join(" · "),
      Icon: IconPackage,
    })),
    ...(found?.connections ?? []).map(({ id, name, merchantName }) => ({
      to: paths.connection(id),
      label: name,
      about: merchantName,
      Icon: IconPlugConnected,
    })),
    ...(found?.merchants ?? []).map(({ id, name }) => ({
      to: paths.merchant(id),
      label: name,
      Icon: IconBuildingStore,
    })),
    ...(people?.data ?? []).map(({ id, name, email }) => ({
      to: paths.person(id),
      label: name,
      about: email,
      Icon: IconUser,
    })),
  ];
}

/** Of the list. Mantine sets one of its own too late for the field to name it. */
const LIST_ID = "palette-found";

const list = (): HTMLElement | null => document.getElementById(LIST_ID);

/** Mantine selects the first action when the text changes, but what the service finds is shown later. */
function useSelectedFirst(found: string): void {
  useEffect(() => {
    if (found === "" || list() === null || list()?.querySelector("[data-selected]") !== null) return;
    list()?.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    paletteStore.updateState((state) => ({ ...state, selected: 0 }));
  }, [found]);
}

/**
 * Mantine marks the selected action for the eye alone. The focus stays in the field, so the field names the action that is
 * selected: screen readers say it when an arrow key moves there.
 */
function useSpokenSelection(field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const actions = list();
    if (actions === null) return;
    const name = () => {
      const options = [...actions.querySelectorAll("[data-action]")];
      for (const [index, option] of options.entries()) {
        option.id = `${actions.id}-${index}`;
        option.setAttribute("aria-selected", String(option.hasAttribute("data-selected")));
      }
      const selected = options.find((option) => option.hasAttribute("data-selected"));
      if (selected === undefined) field.current?.removeAttribute("aria-activedescendant");
      else field.current?.setAttribute("aria-activedescendant", selected.id);
    };
    const observer = new MutationObserver(name);
    observer.observe(actions, { attributeFilter: ["data-selected"], childList: true, subtree: true });
    name();
    return () => observer.disconnect();
  }, [field]);
}
