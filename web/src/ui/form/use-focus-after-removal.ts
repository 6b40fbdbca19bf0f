import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { focusHeading } from "../page.tsx";

/**
 * An action may remove its own button, such as that of an order that has shipped. The browser then forgets where the person
 * was, and the next Tab is at the top of the page. The heading of the page gets the focus instead.
 * @param isOpen whether the dialog of the button is open
 */
export function useFocusAfterRemoval(isOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpened = useRef(false);
  useEffect(() => {
    if (isOpen) wasOpened.current = true;
  }, [isOpen]);
  useLayoutEffect(() => {
    const opener = button.current;
    return () => {
      const focused = document.activeElement;
      // A dialog that has just closed is about to give the focus back to the button.
      const isOfDialog = focused === document.body || focused?.closest("[role=dialog]") != null;
      if (focused === opener || (wasOpened.current && isOfDialog)) focusHeading();
    };
  }, []);
  return button;
}
