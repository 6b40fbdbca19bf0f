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
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useHasRole, useMe } from "../api/me.ts";
import { read } from "../api/read.ts";
import { paths } from "../paths.ts";
import { useGo } from "../ui/link.tsx";
import { navigationOf } from "./navigation.ts";
import { paletteStore } from "./palette-store.ts";

/** Waits for the end of a word. */
const TYPING_MS = 120;
const QUERY_LENGTH_MIN = 2;
const PEOPLE_MAX = 5;

/** Finds pages, orders, connections, merchants and people. */
export function Palette() {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
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
      <Spotlight.Search
        placeholder={t("palette.search")}
        aria-label={t("palette.search")}
        leftSection={<IconSearch size={18} stroke={1.6} />}
      />
      <Spotlight.ActionsList aria-label={t("palette.found")}>
        <Found query={query} />
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function Found({ query }: { query: string }) {
  const { t } = useTranslation();
  const pages = usePages(query);
  const things = useThings(query);
  const go = useGo();
  const found = [...pages, ...things];
  useSelectedFirst(query.trim() === "" ? "" : found.map(({ to }) => to).join(" "));
  if (found.length === 0) return <Spotlight.Empty>{t("palette.nothing")}</Spotlight.Empty>;
  return found.map(({ to, label, about, Icon }) => (
    <Spotlight.Action
      key={to}
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
  ));
}

/** Mantine selects the first action when the text changes, but what the service finds is shown later. */
function useSelectedFirst(found: string): void {
  useEffect(() => {
    const list = document.getElementById(paletteStore.getState().listId);
    if (found === "" || list === null || list.querySelector("[data-selected]") !== null) return;
    list.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    paletteStore.updateState((state) => ({ ...state, selected: 0 }));
  }, [found]);
}

type FoundThing = { to: string; label: string; about?: string; Icon: Icon };

/** The pages of the navigation whose names contain the text. */
function usePages(query: string): FoundThing[] {
  const { t } = useTranslation();
  const wanted = query.trim().toLowerCase();
  return navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .map(({ name, to, icon: Icon }) => ({ to, label: t(`navigation.${name}`), Icon }))
    .filter(({ label }) => label.toLowerCase().includes(wanted));
}

/** What the service finds among orders, connections, merchants and people. Its search leaves no trace in the audit log. */
function useThings(query: string): FoundThing[] {
  const { t } = useTranslation();
  const [q] = useDebouncedValue(query.trim(), TYPING_MS);
  const isEnabled = q.length >= QUERY_LENGTH_MIN && query.trim() !== "";
  const { data } = useQuery({
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
  if (!isEnabled || data === undefined) return [];
  return [
    ...data.orders.map(({ id, externalOrderId, status, connectionName }) => ({
      to: paths.order(id),
      label: externalOrderId ?? id,
      about: [t(`status.order.${status}`), connectionName].join(" · "),
      Icon: IconPackage,
    })),
    ...data.connections.map(({ id, name, merchantName }) => ({
      to: paths.connection(id),
      label: name,
      about: merchantName,
      Icon: IconPlugConnected,
    })),
    ...data.merchants.map(({ id, name }) => ({
      to: paths.merchant(id),
      label: name,
      Icon: IconBuildingStore,
    })),
    ...(people.data?.data ?? []).map(({ id, name, email }) => ({
      to: paths.person(id),
      label: name,
      about: email,
      Icon: IconUser,
    })),
  ];
}
