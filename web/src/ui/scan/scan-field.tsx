import IconBarcode from "icon:barcode";
import { Loader, TextInput } from "@mantine/core";
import { useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import classes from "./scan-field.module.css";
import { type OnScan, useScans } from "./use-scans.ts";

type Props = {
  /** What to scan or type now. */
  readonly label: string;
  readonly onScan: OnScan;
  /** Whenever it changes, the field has the focus again: something that had it is gone. */
  readonly round?: number;
  /** What was scanned waits for the service. */
  readonly isBusy?: boolean;
};

/**
 * A field for a scanner, which types fast and ends with Enter, with Tab or with nothing. Whatever has the focus, letters arrive
 * here, and no shortcut sees them. The field is not controlled by React, so that no keystroke waits for a drawing. Tab leaves the
 * field when it is empty.
 */
export function ScanField({ label, onScan, round = 0, isBusy = false }: Props) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    input.current?.focus();
  }, [label, round]);
  useScans(onScan, input);
  return (
    <TextInput
      ref={input}
      label={label}
      description={t("scan.help")}
      size="lg"
      autoComplete="off"
      autoCapitalize="off"
      autoCorrect="off"
      spellCheck={false}
      enterKeyHint="done"
      leftSection={<IconBarcode size={26} stroke={1.6} aria-hidden />}
      rightSection={isBusy && <Loader size={22} className={classes["busy"] ?? ""} />}
      styles={{
        input: { fontFamily: "var(--mantine-font-family-monospace)" },
        description: { fontSize: "var(--mantine-font-size-sm)" },
      }}
    />
  );
}
