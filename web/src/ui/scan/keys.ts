import { isBurst, readScan, type Scan, SLOWEST_MS } from "./read-scan.ts";

// Which keys a scanner has pressed, and not a person. See docs/design/fulfilment.md, "What a scanner sends".

/** Elements that take letters themselves. */
export const TAKES_TEXT =
  "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]";

/** A scanner that sends nothing behind a code has ended it after this time without a key. */
export const PAUSE_MS = 250;

/** The letters that were pressed since the last pause. */
export class Keys {
  text = "";
  #timesMs: number[] = [];
  #isCapsLock = false;

  add(event: KeyboardEvent): void {
    const lastMs = this.#timesMs.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (event.timeStamp - lastMs > SLOWEST_MS || event.repeat) this.clear();
    this.text += event.key;
    this.#timesMs.push(event.timeStamp);
    this.#isCapsLock = event.getModifierState("CapsLock");
  }

  /** Whether a scanner has pressed them, and the key behind them. */
  isOfScanner(suffix?: KeyboardEvent): boolean {
    return suffix === undefined
      ? isBurst(this.#timesMs)
      : isBurst([...this.#timesMs, suffix.timeStamp], { isEnded: true });
  }

  /** What was typed, here or into a field. */
  read(text = this.text): Scan {
    return readScan(text, this.#isCapsLock);
  }

  clear(): void {
    this.text = "";
    this.#timesMs = [];
  }
}

/** A key that writes a letter, and is no shortcut. AltGr writes letters, too. */
export const isLetter = (event: KeyboardEvent): boolean =>
  event.key.length === 1 && !event.isComposing && !isShortcut(event);

/** A key that scanners send behind a code. */
export const isSuffix = (event: KeyboardEvent): boolean =>
  (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) &&
  !event.isComposing &&
  !isShortcut(event);

export const isShortcut = (event: KeyboardEvent): boolean =>
  (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");

/** Scanners press it for capitals, between the letters of a code. */
export const isModifier = ({ key }: KeyboardEvent): boolean =>
  ["Shift", "CapsLock", "AltGraph", "Alt", "Control"].includes(key);
