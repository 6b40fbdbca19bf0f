import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { lazy, Suspense, useEffect, useRef } from "react";
import { rolesOf, useMe } from "../api/me.ts";
import { useGo } from "../ui/link.tsx";
import { navigationOf } from "./navigation.ts";

const ShortcutList = lazy(async () => ({ default: (await import("./shortcut-list.tsx")).ShortcutList }));

/** How long after `g` the letter of a page counts. */
const SEQUENCE_MS = 1_500;
/** A scanner types the next letter sooner: its codes contain letters of pages and actions, and do nothing. */
const SCANNER_MS = 60;

/** The keys that work on every page, and their list by `?`. */
export function Shortcuts() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const pages = navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .flatMap(({ name, to, key }) => (key === undefined ? [] : [{ name, to, key }]));
  useKeys(pages);
  useHotkeys([
    ["shift+?", open],
    ["?", open],
    ["/", () => document.querySelector<HTMLElement>("[data-search-filter]")?.focus()],
  ]);
  return (
    isOpen && (
      <Suspense>
        <ShortcutList pages={pages} close={close} />
      </Suspense>
    )
  );
}

/** `g` and then the letter of a page opens it. The letter of a button of the page presses the button. */
function useKeys(pages: readonly { readonly to: string; readonly key: string }[]): void {
  const go = useGo();
  const begunAtMs = useRef(Number.NEGATIVE_INFINITY);
  const current = useRef({ go, pages });
  current.current = { go, pages };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = (event: KeyboardEvent) => {
      clearTimeout(timer);
      const target = event.target as Element; // Keys are pressed on an element.
      if (target.closest("input, textarea, select, [contenteditable], dialog, [role=dialog]") !== null)
        return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const isSequence = event.timeStamp - begunAtMs.current < SEQUENCE_MS;
      begunAtMs.current = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const page = isSequence ? current.current.pages.find(({ key }) => key === event.key) : undefined;
      timer = setTimeout(() => {
        if (page !== undefined) void current.current.go(page.to);
        else if (!isSequence) pressByKey(event.key);
      }, SCANNER_MS);
    };
    document.addEventListener("keydown", listen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("keydown", listen);
    };
  }, []);
}

/** The letter of a button, which it says in `aria-keyshortcuts`. Null: it has none. */
export const shortcutOf = (button: HTMLElement): string | null => button.getAttribute("aria-keyshortcuts");

/** A letter that several buttons have means none of them. */
function pressByKey(key: string): void {
  const buttons = buttonsOfPage().filter(({ button }) => shortcutOf(button) === key);
  if (buttons.length === 1) buttons[0]?.button.click();
}

type PageButton = { readonly label: string; readonly button: HTMLButtonElement };

/** The buttons of the page that open a dialog: its actions. A label that several have, as those of rows, is left out. */
export function buttonsOfPage(): PageButton[] {
  const buttons = [
    ...document.querySelectorAll<HTMLButtonElement>("#main button[aria-haspopup=dialog]:enabled"),
  ].map((button) => ({ label: button.textContent.trim(), button }));
  return buttons.filter(
    ({ label }) => label !== "" && buttons.filter((other) => other.label === label).length === 1,
  );
}

/** A page shows its buttons when it has its data. */
const PAGE_MS = 10_000;

/** Presses the button with this label once the page shows it. Of several, it gets the first into view. */
export function pressOnPage(label: string): void {
  const main = document.getElementById("main");
  if (main === null) return;
  const press = (): boolean => {
    const [first, ...others] = [
      ...main.querySelectorAll<HTMLButtonElement>("button[aria-haspopup=dialog]:enabled"),
    ].filter((button) => button.textContent.trim() === label);
    if (first === undefined) return false;
    if (others.length === 0) first.click();
    else {
      first.scrollIntoView({ block: "center" });
      first.focus();
    }
    return true;
  };
  if (press()) return;
  const observer = new MutationObserver(() => press() && stop());
  const timer = setTimeout(() => stop(), PAGE_MS);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  observer.observe(main, { childList: true, subtree: true });
}
