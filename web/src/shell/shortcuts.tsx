import { Kbd, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../api/me.ts";
import { useGo } from "../ui/link.tsx";
import classes from "./layout.module.css";
import { navigationOf } from "./navigation.ts";

/** How long after `g` the letter of a page counts. */
const SEQUENCE_MS = 1_500;
/** A scanner types the next letter sooner: its codes contain letters of pages, and open none. */
const SCANNER_MS = 60;

/** The keys that work on every page, and their list by `?`. */
export function Shortcuts() {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure(false);
  const pages = navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .flatMap(({ name, to, key }) => (key === undefined ? [] : [{ name, to, key }]));
  usePageKeys(pages);
  useHotkeys([
    ["shift+?", open],
    ["?", open],
    ["/", () => document.querySelector<HTMLElement>("[data-search-filter]")?.focus()],
  ]);
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", t("shortcuts.palette")],
    ["/", t("shortcuts.search")],
    ["j", t("shortcuts.next")],
    ["k", t("shortcuts.previous")],
    ["Enter", t("shortcuts.open")],
    ...pages.map(({ name, key }) => [`g ${key}`, t(`navigation.${name}`)] as const),
    ["?", t("shortcuts.list")],
  ];
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t("shortcuts.title")}
      size="sm"
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      <Stack gap={6}>
        {keys.map(([key, what]) => (
          <div key={key} className={classes["shortcut"]}>
            <Text size="sm">{what}</Text>
            <span>
              {key.split(" ").map((part) => (
                <Kbd key={part} size="xs" ml={4}>
                  {part}
                </Kbd>
              ))}
            </span>
          </div>
        ))}
      </Stack>
    </Modal>
  );
}

/** `g` and then the letter of a page opens it. */
function usePageKeys(pages: readonly { readonly to: string; readonly key: string }[]): void {
  const go = useGo();
  const begunAtMs = useRef(Number.NEGATIVE_INFINITY);
  const current = useRef({ go, pages });
  current.current = { go, pages };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = (event: KeyboardEvent) => {
      clearTimeout(timer);
      const target = event.target as Element; // Keys are pressed on an element.
      if (target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isSequence = event.timeStamp - begunAtMs.current < SEQUENCE_MS;
      begunAtMs.current = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const page = current.current.pages.find(({ key }) => key === event.key);
      if (isSequence && page !== undefined)
        timer = setTimeout(() => void current.current.go(page.to), SCANNER_MS);
    };
    document.addEventListener("keydown", listen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("keydown", listen);
    };
  }, []);
}
