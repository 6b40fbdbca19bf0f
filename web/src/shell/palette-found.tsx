import IconArrowRight from "icon:arrow-right";
import IconBolt from "icon:bolt";
import IconBuildingStore from "icon:building-store";
import IconPackage from "icon:package";
import IconPlugConnected from "icon:plug-connected";
import IconPlus from "icon:plus";
import IconSend from "icon:send";
import IconTag from "icon:tag";
import IconUser from "icon:user";
import { Kbd } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useEffectEvent, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { type Role, rolesOf, useHasRole, useMe } from "../api/me.ts";
import { read } from "../api/read.ts";
import type { PersonPage, SearchResult } from "../api/schema.d.ts";
import { paths } from "../paths.ts";
import { folded } from "../text/folded.ts";
import type { Icon } from "../ui/icon.tsx";
import { useGo } from "../ui/link.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { navigationOf } from "./navigation.ts";
import classes from "./palette.module.css";
import { buttonsOfPage, pressOnPage, shortcutOf } from "./shortcuts.tsx";

/** Waits for the end of a word. */
const TYPING_MS = 120;
const QUERY_LENGTH_MIN = 2;
const PEOPLE_MAX = 5;

type Group =
  | "actions"
  | "pages"
  | "orders"
  | "order"
  | "deliveries"
  | "products"
  | "connections"
  | "merchants"
  | "people";

type Item = {
  readonly key: string;
  readonly group: Group;
  readonly label: string;
  /** Beside the label, in grey. */
  readonly about?: string;
  /** At the end of the row: the state, the age, the key. */
  readonly end?: ReactNode;
  readonly Icon: Icon;
  readonly run: () => void;
  /** Known without the service, so Enter opens it at once. */
  readonly isAtOnce?: boolean;
};

type Props = {
  readonly listId: string;
  readonly query: string;
  readonly selected: number;
  /** The text behind which Enter was pressed. Null: none. */
  readonly entered: string | null;
  readonly onEntered: () => void;
  readonly onCount: (count: number) => void;
  readonly close: () => void;
};

/** What the palette finds: actions, pages, and things of the service. */
export function Found({ listId, query, selected, entered, onEntered, onCount, close }: Props) {
  const { t } = useTranslation();
  const { items, isComplete } = useFound(query);
  useEffect(() => onCount(items.length), [onCount, items.length]);
  useEnter({ query, items, isComplete, selected, entered, onEntered, close });
  useEffect(() => document.getElementById(`${listId}-${selected}`)?.scrollIntoView({ block: "nearest" }));
  if (items.length === 0)
    return isComplete ? <div className={classes["empty"]}>{t("palette.nothing")}</div> : null;
  const numbered = items.map((item, index) => ({ ...item, index }));
  return (
    <div id={listId} role="listbox" aria-label={t("palette.found")} className={classes["list"]}>
      {[...Map.groupBy(numbered, ({ group }) => group)].map(([group, ofGroup]) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form.
        <div key={group} role="group" aria-label={t(`palette.groups.${group}`)}>
          <div className={classes["group"]} aria-hidden>
            {t(`palette.groups.${group}`)}
          </div>
          {ofGroup.map(({ key, index, label, about, end, Icon, run }) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: as above.
            <div
              key={key}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === selected}
              className={classes["option"]}
              onMouseDown={(event) => event.preventDefault()} // The field keeps the focus.
              onClick={() => {
                close();
                run();
              }}
            >
              <Icon size={18} stroke={1.6} aria-hidden style={{ flex: "none" }} />
              <span className={classes["label"]} dir="auto">
                {label}
              </span>
              {about !== undefined && (
                <span className={classes["about"]} dir="auto">
                  {about}
                </span>
              )}
              {end !== undefined && <span className={classes["end"]}>{end}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

type EnterProps = Pick<Props, "query" | "selected" | "entered" | "onEntered" | "close"> & {
  readonly items: readonly Item[];
  readonly isComplete: boolean;
};

/**
 * Enter right behind a text, as a scanner sends it, opens what is found for this text, once it is. What the person chooses by
 * an arrow key, and what is known without the service, is opened at once.
 */
function useEnter({ query, items, isComplete, selected, entered, onEntered, close }: EnterProps): void {
  const item = items[selected];
  const isKnown = isComplete || item?.isAtOnce === true || selected > 0;
  const open = useEffectEvent(() => {
    onEntered();
    if (entered !== query || item === undefined) return;
    close();
    item.run();
  });
  useEffect(() => {
    if (entered !== null && (entered !== query || isKnown)) open();
  }, [entered, query, isKnown]);
}

/** What a text finds. It is complete when the service has answered for exactly this text. */
function useFound(query: string): { items: readonly Item[]; isComplete: boolean } {
  const { verb, rest } = useVerb(query.trim());
  const { found, people, isComplete } = useSearch(rest);
  const pages = usePages(query.trim());
  const ofPage = useActionsOfPage(query.trim());
  const ofThings = useActionsOfThings(verb, found);
  const creations = useCreations(query.trim());
  const things = useThings(found, people);
  const actions = [...ofPage, ...(verb === null ? [] : ofThings), ...creations];
  // A page is meant by the beginning of its name, also where an action of the page below contains the word.
  const isPageMeant = pages.some(({ label }) => folded(label).startsWith(folded(query.trim())));
  return {
    items: [
      ...(isPageMeant && query.trim() !== "" ? [...pages, ...actions] : [...actions, ...pages]),
      ...things,
      ...(verb === null ? ofThings.map((item) => ({ ...item, group: "order" as const })) : []),
    ],
    isComplete,
  };
}

/** All words of a text occur in a label. */
const fits = (label: string, text: string): boolean =>
  folded(text)
    .split(/\s+/)
    .every((word) => folded(label).includes(word));

/** What one does with a thing, by the first or the last word of the text: "hold 1002", "1002 anhalten". */
const VERBS = ["hold", "releaseHold", "approve", "cancel", "rotate"] as const;
type Verb = (typeof VERBS)[number];

const VERB_LENGTH_MIN = 3;

function useVerb(text: string): { verb: Verb | null; rest: string } {
  const { t } = useTranslation();
  const words = text.split(/\s+/);
  const verbOf = (word: string | undefined) =>
    VERBS.find((verb) =>
      t(`palette.verbs.${verb}`)
        .split(" ")
        .some((each) => (word?.length ?? 0) >= VERB_LENGTH_MIN && each.startsWith(word?.toLowerCase() ?? "")),
    );
  const first = verbOf(words[0]);
  if (first !== undefined) return { verb: first, rest: words.slice(1).join(" ") };
  const last = words.length > 1 ? verbOf(words.at(-1)) : undefined;
  return last === undefined ? { verb: null, rest: text } : { verb: last, rest: words.slice(0, -1).join(" ") };
}

/** Pages of the navigation. */
function usePages(text: string): Item[] {
  const { t } = useTranslation();
  const go = useGo();
  return navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .map(({ name, to, icon, key }) => ({ to, label: t(`navigation.${name}`), Icon: icon, key }))
    .filter(({ label }) => fits(`${t("palette.goTo")} ${label}`, text))
    .map(({ to, label, Icon, key }) => ({
      key: to,
      group: "pages",
      label,
      ...(key !== undefined && { end: <Keys of={`g ${key}`} /> }),
      Icon,
      run: () => void go(to),
      isAtOnce: true,
    }));
}

const Keys = ({ of }: { of: string }) =>
  of.split(" ").map((key) => (
    <Kbd key={key} size="xs">
      {key}
    </Kbd>
  ));

const ACTIONS_OF_PAGE_MAX = 8;

/** The actions for which the page below has a button. So they are those that the person may do now. */
function useActionsOfPage(text: string): Item[] {
  // What the page shows when the palette opens: it lies above the page.
  const buttons = useMemo(() => buttonsOfPage(), []);
  return buttons
    .filter(({ label }) => fits(label, text))
    .slice(0, ACTIONS_OF_PAGE_MAX)
    .map(({ label, button }) => {
      const shortcut = shortcutOf(button);
      return {
        key: `button ${label}`,
        group: "actions" as const,
        label,
        ...(shortcut !== null && { end: <Keys of={shortcut} /> }),
        Icon: IconBolt,
        run: () => button.click(),
        isAtOnce: true,
      };
    });
}

type FoundOrder = SearchResult["orders"][number];

const HOLDABLE: readonly FoundOrder["status"][] = ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"];

/** On which orders a person in these roles may do it. The page decides at last. */
const ORDER_VERBS: Readonly<
  Record<Exclude<Verb, "rotate">, { roles: readonly Role[]; isPossible: (order: FoundOrder) => boolean }>
> = {
  hold: {
    roles: ["operator", "warehouse", "merchant"],
    isPossible: ({ status, onHold }) => HOLDABLE.includes(status) && !onHold,
  },
  releaseHold: { roles: ["operator", "warehouse", "merchant"], isPossible: ({ onHold }) => onHold },
  approve: { roles: ["operator", "warehouse"], isPossible: ({ status }) => status === "PROCESSING" },
  cancel: {
    roles: ["operator", "merchant"],
    isPossible: ({ status }) => HOLDABLE.includes(status) && status !== "IN_PROGRESS",
  },
};

/** Actions on the things that were found: all that the verb means; without a verb, those of a single order. */
function useActionsOfThings(verb: Verb | null, found: SearchResult | undefined): Item[] {
  const { t } = useTranslation();
  const go = useGo();
  const roles = rolesOf(useMe());
  const mayRotate = useHasRole("operator", "merchant", "partner");
  if (found === undefined) return [];
  const openThenPress = (to: string, label: string) => () => void go(to).then(() => pressOnPage(label));
  const ofOrder = (order: FoundOrder): Item[] =>
    (["approve", "hold", "releaseHold", "cancel"] as const)
      .filter((name) => verb === null || verb === name)
      .filter((name) => ORDER_VERBS[name].roles.some((role) => roles.includes(role)))
      .filter((name) => ORDER_VERBS[name].isPossible(order) && !order.testMode)
      .map((name) => ({
        key: `${name} ${order.id}`,
        group: "actions",
        label: t("palette.onOrder", {
          action: t(`orderActions.${name}`),
          order: order.externalOrderId ?? order.id,
        }),
        about: order.recipientName,
        end: <StatusBadge of="order" status={order.status} />,
        Icon: IconBolt,
        run: openThenPress(paths.order(order.id), t(`orderActions.${name}`)),
      }));
  const shownOrders = verb === null && found.orders.length > 1 ? [] : found.orders;
  const rotations =
    verb === "rotate" && mayRotate
      ? found.connections.map(
          ({ id, name }): Item => ({
            key: `rotate ${id}`,
            group: "actions",
            label: t("palette.rotateKey", { connection: name }),
            Icon: IconBolt,
            run: openThenPress(paths.connection(id), t("keys.rotate")),
          }),
        )
      : [];
  return [...(verb === "rotate" ? [] : shownOrders.flatMap(ofOrder)), ...rotations];
}

/** What a person in these roles can create, where, and by which button there. */
function useCreations(text: string): Item[] {
  const { t } = useTranslation();
  const go = useGo();
  const roles = rolesOf(useMe());
  const me = useMe();
  const [merchantId] = me.grants.flatMap((grant) => (grant.role === "merchant" ? grant.merchantIds : []));
  const hasOneMerchant = merchantId !== undefined && roles.length === 1;
  const all: readonly { label: string; to: string; press: string | null; roles: readonly Role[] }[] = [
    {
      label: t("merchants.create"),
      to: paths.merchants(),
      press: t("merchants.create"),
      roles: ["operator"],
    },
    {
      label: t("connections.create"),
      to: hasOneMerchant ? paths.merchant(merchantId) : paths.merchants(),
      press: hasOneMerchant ? t("connections.create") : null,
      roles: ["operator", "merchant"],
    },
    {
      label: t("product.create"),
      to: hasOneMerchant ? paths.merchantProducts(merchantId) : paths.products(),
      press: hasOneMerchant ? t("product.create") : null,
      roles: ["operator", "merchant"],
    },
    {
      label: t("people.invite"),
      to: paths.people(),
      press: t("people.invite"),
      roles: ["operator", "merchant"],
    },
    {
      label: t("tokens.create"),
      to: paths.tokens(),
      press: t("tokens.create"),
      roles: ["operator", "merchant"],
    },
    {
      label: t("facilities.create"),
      to: paths.facilities(),
      press: t("facilities.create"),
      roles: ["operator"],
    },
    {
      label: t("sandbox.create"),
      to: paths.sandbox(),
      press: t("sandbox.create"),
      roles: ["operator", "partner"],
    },
    {
      label: t("palette.rotateAny"),
      to: paths.connections(),
      press: null,
      roles: ["operator", "merchant", "partner"],
    },
  ];
  if (text === "") return [];
  return all
    .filter((each) => each.roles.some((role) => roles.includes(role)) && fits(each.label, text))
    .map(({ label, to, press }) => ({
      key: `create ${label}`,
      group: "actions",
      label: `${label}…`,
      Icon: press === null ? IconArrowRight : IconPlus,
      run: () => void go(to).then(() => press !== null && pressOnPage(press)),
      isAtOnce: true,
    }));
}

/** What the service finds. What was found for an older text stays until the search is complete. */
function useSearch(text: string) {
  const [q] = useDebouncedValue(text, TYPING_MS);
  const isEnabled = q.length >= QUERY_LENGTH_MIN && text.length >= QUERY_LENGTH_MIN;
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
  if (text.length < QUERY_LENGTH_MIN) return { found: undefined, people: undefined, isComplete: true };
  const isPending = [search, ...(seesPeople ? [people] : [])].some(
    (each) => each.isPending || each.isPlaceholderData,
  );
  return {
    found: isEnabled && search.data !== undefined ? exactFirst(search.data, q) : undefined,
    people: isEnabled ? people.data : undefined,
    isComplete: q === text && !isPending,
  };
}

/** What has exactly this id comes before what begins with it. */
function exactFirst({ orders, products, ...others }: SearchResult, text: string): SearchResult {
  const isOther = (...ids: readonly (string | null)[]) =>
    Number(ids.every((id) => id?.toLowerCase() !== text.toLowerCase()));
  return {
    ...others,
    orders: orders.toSorted(
      (one, other) => isOther(one.externalOrderId, one.id) - isOther(other.externalOrderId, other.id),
    ),
    products: products.toSorted((one, other) => isOther(one.sku, one.id) - isOther(other.sku, other.id)),
  };
}

/** The rows of what was found. */
function useThings(found: SearchResult | undefined, people: PersonPage | undefined): Item[] {
  const go = useGo();
  const to = (address: string) => ({ key: address, run: () => void go(address) });
  return [
    ...(found?.orders ?? []).map(
      ({ id, externalOrderId, recipientName, status, connectionName, createdAt }): Item => ({
        ...to(paths.order(id)),
        group: "orders",
        label: externalOrderId ?? id,
        about: `${recipientName} · ${connectionName}`,
        end: (
          <>
            <StatusBadge of="order" status={status} />
            <Time at={createdAt} as="relative" />
          </>
        ),
        Icon: IconPackage,
      }),
    ),
    ...(found?.deliveries ?? []).map(
      ({ id, eventType, ownerId, ownerName, status, createdAt }): Item => ({
        ...to(paths.delivery(ownerId, id)),
        group: "deliveries",
        label: eventType,
        about: ownerName,
        end: (
          <>
            <StatusBadge of="delivery" status={status} />
            <Time at={createdAt} as="relative" />
          </>
        ),
        Icon: IconSend,
      }),
    ),
    ...(found?.products ?? []).map(
      ({ id, sku, name, merchantName }): Item => ({
        ...to(paths.product(id)),
        ...{ group: "products", label: name, about: `${sku} · ${merchantName}`, Icon: IconTag },
      }),
    ),
    ...(found?.connections ?? []).map(
      ({ id, name, merchantName }): Item => ({
        ...to(paths.connection(id)),
        ...{ group: "connections", label: name, about: merchantName, Icon: IconPlugConnected },
      }),
    ),
    ...(found?.merchants ?? []).map(
      ({ id, name }): Item => ({
        ...to(paths.merchant(id)),
        ...{ group: "merchants", label: name, Icon: IconBuildingStore },
      }),
    ),
    ...(people?.data ?? []).map(
      ({ id, name, email }): Item => ({
        ...to(paths.person(id)),
        ...{ group: "people", label: name, about: email, Icon: IconUser },
      }),
    ),
  ];
}
