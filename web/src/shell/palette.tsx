import "@mantine/spotlight/styles.layer.css";
import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight } from "@mantine/spotlight";
import { type Icon, IconBuildingStore, IconPackage, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../api/me.ts";
import { read } from "../api/read.ts";
import { paths } from "../paths.ts";
import { useGo } from "../ui/link.tsx";
import { navigationOf } from "./navigation.ts";
import { paletteStore } from "./palette-store.ts";

/** Waits for the end of a word. */
const TYPING_MS = 200;
const QUERY_LENGTH_MIN = 2;
const SHOWN_MAX = 5;

/** Finds pages, orders and merchants. */
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
          <Text size="xs" c="dimmed">
            {about}
          </Text>
        )}
      </div>
    </Spotlight.Action>
  ));
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

/** Orders and merchants by the searches of their lists. A role that may not read one of them finds none. */
function useThings(query: string): FoundThing[] {
  const [q] = useDebouncedValue(query.trim(), TYPING_MS);
  const options = {
    enabled: q.length >= QUERY_LENGTH_MIN && query.trim() !== "",
    placeholderData: keepPreviousData,
    retry: false,
  };
  const search = { params: { query: { q, limit: SHOWN_MAX } } };
  const orders = useQuery({ ...read("/api/orders", search), ...options });
  const merchants = useQuery({ ...read("/api/merchants", search), ...options });
  if (!options.enabled) return [];
  return [
    ...(orders.data?.data ?? []).map(({ id, externalOrderId, shippingAddress: { name, city } }) => ({
      to: paths.order(id),
      label: externalOrderId ?? id,
      about: [name, city].filter(Boolean).join(", "),
      Icon: IconPackage,
    })),
    ...(merchants.data?.data ?? []).map(({ id, name }) => ({
      to: paths.merchant(id),
      label: name,
      Icon: IconBuildingStore,
    })),
  ];
}
