import { TextInput } from "@mantine/core";
import { IconBarcode } from "@tabler/icons-react";
import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

type Props = {
  /** What to scan or type now. */
  readonly label: string;
  readonly onScan: (code: string) => void;
  /** Whenever it changes, the field has the focus again: something that had it is gone. */
  readonly round?: number;
};

/** Elements that take letters themselves. */
export const TAKES_TEXT =
  "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]";

/**
 * A field for a scanner, which types fast and ends with Enter. Whatever has the focus, letters arrive here: they move the
 * focus before the browser inserts them, and no shortcut sees them. The field is not controlled by React, so that no
 * keystroke waits for a drawing.
 */
export function ScanField({ label, onScan, round = 0 }: Props) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  // Before the page is drawn: a scanner does not wait until an effect after the drawing has run.
  useLayoutEffect(() => {
    input.current?.focus();
  }, [label, round]);
  useLayoutEffect(() => {
    const catchKey = (event: globalThis.KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest("[role=dialog]") != null) return;
      if (target !== input.current && target?.closest(TAKES_TEXT) != null) return;
      if (event.key === " " && target?.closest("button, a, [role=checkbox], [type=checkbox]") != null) return;
      event.stopPropagation();
      input.current?.focus();
    };
    window.addEventListener("keydown", catchKey, { capture: true });
    return () => window.removeEventListener("keydown", catchKey, { capture: true });
  }, []);
  const send = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    const code = event.currentTarget.value.trim();
    event.currentTarget.value = "";
    onScan(code);
  };
  return (
    <TextInput
      ref={input}
      label={label}
      description={t("scan.help")}
      size="xl"
      autoComplete="off"
      autoCapitalize="off"
      autoCorrect="off"
      spellCheck={false}
      enterKeyHint="done"
      maxLength={255}
      leftSection={<IconBarcode size={26} stroke={1.6} aria-hidden />}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      onKeyDown={send}
    />
  );
}
