import { type RefObject, useEffectEvent, useLayoutEffect } from "react";
import { isLetter, isModifier, isShortcut, isSuffix, Keys, PAUSE_MS, TAKES_TEXT } from "./keys.ts";
import type { Scan } from "./read-scan.ts";

/** What was scanned: `code` is `scan.code`, or empty if a person has pressed Enter alone in the field for scans. */
export type OnScan = (code: string, scan: Scan) => void;

/** Fewer letters in a field for something else are what a person has typed. */
const ELSEWHERE_MIN = 6;
/** A suffix that follows so soon is a second one of the scanner, such as LF after CR. No person presses a key so soon. */
const SECOND_SUFFIX_MS = 50;

/**
 * Notices what a scanner types on a page: many letters at once, then Enter, Tab or nothing.
 *
 * @param scanField takes what is typed where no other field has the focus. Typed by hand, it is a scan with Enter or Tab. Without
 *   such a field only a scanner is noticed.
 *
 * In another field, such as the search of a list, a scan is given back and is a scan as well: it would be added to what is there.
 * The fields of a dialog keep what is typed in them.
 */
export function useScans(onScan: OnScan, scanField?: RefObject<HTMLInputElement | null>): void {
  const scan = useEffectEvent(onScan);
  // Before the page is drawn: a scanner does not wait until an effect after the drawing has run.
  useLayoutEffect(() => {
    const keys = new Keys();
    let pause: ReturnType<typeof setTimeout> | undefined;
    let sentAtMs = Number.NEGATIVE_INFINITY;
    /** What another field had before the scan. */
    let before = "";

    const send = (text = keys.text) => {
      const read = keys.read(text);
      keys.clear();
      scan(read.code, read);
    };
    const sendField = (field: HTMLInputElement) => {
      const text = field.value;
      field.value = "";
      send(text);
    };
    const sendAfterPause = (sendNow: () => void) => {
      clearTimeout(pause);
      if (keys.isOfScanner()) pause = setTimeout(sendNow, PAUSE_MS);
    };
    const take = (event: KeyboardEvent) => {
      // The key neither presses what has the focus nor moves it.
      event.preventDefault();
      event.stopPropagation();
      sentAtMs = event.timeStamp;
    };

    const inScanField = (event: KeyboardEvent, field: HTMLInputElement) => {
      if (isSuffix(event)) {
        const isEmpty = field.value.trim() === "";
        const isSecond = isEmpty && event.timeStamp - sentAtMs <= SECOND_SUFFIX_MS;
        if (event.key === "Tab" && isEmpty && !isSecond) return;
        take(event);
        // A key that is held down is one Enter.
        if (!isSecond && !event.repeat) sendField(field);
      } else if (isLetter(event)) {
        event.stopPropagation(); // No shortcut sees it.
        keys.add(event);
        sendAfterPause(() => sendField(field));
      }
    };
    const inOtherField = (event: KeyboardEvent, target: Element) => {
      const other = target instanceof HTMLInputElement ? target : null;
      if (other !== null && isSuffix(event) && keys.text.length >= ELSEWHERE_MIN && keys.isOfScanner(event)) {
        take(event);
        write(other, before);
        send();
      } else if (isLetter(event)) {
        keys.add(event);
        if (keys.text.length === 1) before = other?.value ?? "";
      } else keys.clear();
    };
    const outside = (event: KeyboardEvent) => {
      if (isSuffix(event) && keys.isOfScanner(event)) {
        take(event);
        send();
      } else if (isLetter(event)) {
        keys.add(event);
        sendAfterPause(send);
      } else if (!isShortcut(event)) keys.clear(); // Scanners press one for the separator of GS1.
    };

    const listen = (event: KeyboardEvent) => {
      if (isModifier(event)) return;
      clearTimeout(pause);
      const target = event.target instanceof Element ? event.target : null;
      const field = scanField?.current ?? null;
      const takesText = target?.closest(TAKES_TEXT) != null;
      const isInDialog = target?.closest("[role=dialog]") != null;
      if (isInDialog && takesText) return keys.clear();
      if (field !== null && target === field) return inScanField(event, field);
      if (takesText) return inOtherField(event, target);
      if (field === null || isInDialog) return outside(event);
      // Something has taken the focus during the scan, such as a menu that opens.
      if (isSuffix(event) && keys.isOfScanner(event)) return inScanField(event, field);
      const presses =
        event.key === " " && target?.closest("button, a, [role=checkbox], [type=checkbox]") != null;
      if (!isLetter(event) || presses) return;
      field.focus(); // Before the browser inserts the letter.
      inScanField(event, field);
    };
    // A letter that a keyboard composes of two keys arrives without one of its own.
    const wait = (event: Event) => {
      const field = scanField?.current ?? null;
      if (field !== null && event.target === field) sendAfterPause(() => sendField(field));
    };
    window.addEventListener("keydown", listen, { capture: true });
    window.addEventListener("input", wait);
    return () => {
      clearTimeout(pause);
      window.removeEventListener("keydown", listen, { capture: true });
      window.removeEventListener("input", wait);
    };
  }, [scanField]);
}

/** Sets the value of a field as a person would: React compares it with what the browser's own setter has set. */
function write(field: HTMLInputElement, value: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
