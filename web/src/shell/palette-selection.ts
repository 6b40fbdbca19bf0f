import { type RefObject, useEffect } from "react";
import { paletteStore } from "./palette-store.ts";

/** Of the list. Mantine sets one of its own too late for the field to name it. */
export const LIST_ID = "palette-found";

const list = (): HTMLElement | null => document.getElementById(LIST_ID);

/** Mantine selects the first action when the text changes, but what the service finds is shown later. */
export function useSelectedFirst(found: string): void {
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
export function useSpokenSelection(field: RefObject<HTMLInputElement | null>): void {
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
