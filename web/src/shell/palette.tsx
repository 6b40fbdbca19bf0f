import IconSearch from "icon:search";
import { Button, Kbd, Text, VisuallyHidden } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type KeyboardEvent, lazy, Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import classes from "./palette.module.css";

const Found = lazy(async () => ({ default: (await import("./palette-found.tsx")).Found }));

/** The list of what was found. The field names it. */
const LIST_ID = "palette-found";

/**
 * The palette: its button, and its field, which has the focus before the next key. What it finds is code that is loaded with
 * the first opening; until then the field keeps what is typed, and the Enter behind it
 * (docs/design/console.md, "Palette").
 */
export function Palette() {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState(0);
  const [count, setCount] = useState(0);
  const [entered, setEntered] = useState<string | null>(null);
  const open = () => {
    // A dialog of the page has the keys until it is closed.
    if (document.querySelector("[role=dialog][aria-modal=true]") !== null) return;
    setOpen(true);
    if (dialog.current?.open === false) dialog.current.showModal();
    field.current?.focus();
  };
  const reset = () => {
    setOpen(false);
    setQuery("");
    setSelected(0);
    setEntered(null);
  };
  useHotkeys([["mod+K", open]], []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setSelected((present) => (count === 0 ? 0 : (present + step + count) % count));
    else if (event.key === "Enter") setEntered(query);
    else return;
    event.preventDefault();
  };
  const list = count > 0 && {
    "aria-controls": LIST_ID,
    "aria-activedescendant": `${LIST_ID}-${selected}`,
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        c="dimmed"
        flex="none"
        leftSection={<IconSearch size={14} />}
        onClick={open}
      >
        <VisuallyHidden hiddenFrom="sm">{t("palette.open")}</VisuallyHidden>
        <Text size="xs" visibleFrom="sm" pr={24}>
          {t("palette.open")}
        </Text>
        <Kbd size="xs" visibleFrom="sm">
          Ctrl K
        </Kbd>
      </Button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, as the browser has it. */}
      <dialog
        ref={dialog}
        className={classes["dialog"]}
        aria-label={t("palette.search")}
        onClose={reset}
        onClick={(event) => event.target === dialog.current && dialog.current?.close()}
      >
        <div className={classes["content"]}>
          <div className={classes["field"]}>
            <IconSearch size={18} stroke={1.6} aria-hidden />
            <input
              ref={field}
              role="combobox"
              aria-expanded={count > 0}
              aria-autocomplete="list"
              {...list}
              aria-label={t("palette.search")}
              placeholder={t("palette.placeholder")}
              autoComplete="off"
              spellCheck={false}
              value={query}
              onChange={({ target }) => {
                setQuery(target.value);
                setSelected(0);
              }}
              onKeyDown={onKeyDown}
            />
          </div>
          {isOpen && (
            <Suspense>
              <Found
                listId={LIST_ID}
                query={query}
                selected={selected}
                entered={entered}
                onEntered={() => setEntered(null)}
                onCount={setCount}
                close={() => dialog.current?.close()}
              />
            </Suspense>
          )}
        </div>
      </dialog>
    </>
  );
}
