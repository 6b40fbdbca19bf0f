import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, type RefObject, Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import { focusHeading } from "../page.tsx";
import type { ConfirmDialog, ConfirmProps } from "./confirm-dialog.tsx";

/**
 * A button that says what it will do before it does it. A button with another label is another action, also in the same place:
 * the dialog of the first one ends, and never becomes that of its opposite (docs/design/console.md, "Dialogs").
 */
export const ConfirmAction = <Values extends object = object>(props: ConfirmProps<Values>) => (
  <Action key={props.label} {...props} />
);

// Dialogs and forms have much code, and the first page needs none of it.
const loadDialog = async () => ({ default: (await import("./confirm-dialog.tsx")).ConfirmDialog });
const LoadedDialog = lazy(loadDialog) as unknown as typeof ConfirmDialog; // `lazy` knows no generic components.

function Action<Values extends object>(props: ConfirmProps<Values>) {
  const { label, icon, shortcut, isDanger = false, isPrimary = false } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  const [isLoaded, setLoaded] = useState(false);
  const button = useFocusAfterRemoval(isOpen);
  const preload = () => void loadDialog().catch(() => undefined); // What fails now is loaded when it opens.
  return (
    <>
      <Button
        ref={button}
        size="xs"
        variant={isPrimary ? "filled" : "default"}
        leftSection={icon}
        aria-haspopup="dialog"
        aria-keyshortcuts={shortcut}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => {
          setLoaded(true);
          open();
        }}
        data-danger={(isDanger && !isPrimary) || undefined}
      >
        {label}
      </Button>
      {isLoaded && (
        <Suspense>
          <LoadedDialog {...props} button={button} isOpen={isOpen} close={close} />
        </Suspense>
      )}
    </>
  );
}

/**
 * An action may remove its own button, such as that of an order that has shipped. The browser then forgets where the person
 * was, and the next Tab is at the top of the page. The heading of the page gets the focus instead.
 * @param isOpen whether the dialog of the button is open
 */
function useFocusAfterRemoval(isOpen: boolean): RefObject<HTMLButtonElement | null> {
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
