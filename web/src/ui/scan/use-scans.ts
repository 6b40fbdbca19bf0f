import { useEffect, useEffectEvent } from "react";
import { TAKES_TEXT } from "./scan-field.tsx";

/** A scanner types a character within milliseconds, and a person does not. */
const GAP_MS = 60;
/** Fewer are keys that were pressed by chance. */
const CODE_MIN = 6;

/**
 * Notices a scan on a page without a field for it: many letters at once, and Enter. Where a field or a dialog has the focus,
 * the scan is text.
 */
export function useScans(onScan: (code: string) => void): void {
  const scan = useEffectEvent(onScan);
  useEffect(() => {
    let typed = "";
    let lastMs = Number.NEGATIVE_INFINITY;
    const listen = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target?.closest(`${TAKES_TEXT}, [role=dialog]`) != null) return;
      if (event.timeStamp - lastMs > GAP_MS) typed = "";
      lastMs = event.timeStamp;
      if (event.key.length === 1) typed += event.key;
      if (event.key !== "Enter") return;
      const code = typed;
      typed = "";
      if (code.length < CODE_MIN) return;
      // This Enter does not press what has the focus.
      event.preventDefault();
      event.stopPropagation();
      scan(code);
    };
    window.addEventListener("keydown", listen, { capture: true });
    return () => window.removeEventListener("keydown", listen, { capture: true });
  }, []);
}
