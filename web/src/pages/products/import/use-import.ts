import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImportMatch, ImportResult } from "../../../api/schema.d.ts";
import { useAnnounce } from "../../../ui/announce.ts";
import { type Sent, type Stored, uploadFile } from "./upload-file.ts";

/** How far an import is: first the check of the file, then the import. */
export type ImportState =
  | { readonly phase: "choosing"; readonly isCanceled: boolean }
  | { readonly phase: "checking"; readonly sent: Sent }
  /** Null: the file is still being sent and checked. */
  | { readonly phase: "storing"; readonly sent: Sent; readonly stored: Stored | null }
  | { readonly phase: "checked" | "stored"; readonly result: ImportResult }
  | { readonly phase: "failed"; readonly error: unknown };

type Import = {
  readonly state: ImportState;
  readonly file: File | null;
  readonly match: ImportMatch;
  /** Checks a file, or none. */
  choose(file: File | null, match: ImportMatch): void;
  store(): void;
  cancel(): void;
};

/** Checks the chosen file at once, and imports it when the person has seen what would change. */
export function useImport(merchantId: string): Import {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const announce = useAnnounce();
  const [file, setFile] = useState<File | null>(null);
  const [match, setMatch] = useState<ImportMatch>("sku");
  const [state, setState] = useState<ImportState>({ phase: "choosing", isCanceled: false });
  const current = useRef(new AbortController());
  const isStoring = state.phase === "storing";
  useWarning(isStoring);
  // A check ends with its page. An import continues, and its end is announced.
  useEffect(() => () => void (storing.has(current.current) || current.current.abort()), []);

  const run = async (chosen: File, how: ImportMatch, isDryRun: boolean): Promise<void> => {
    const controller = begin();
    const update = (next: ImportState) => controller === current.current && setState(next);
    const onSent = (sent: Sent) =>
      update(isDryRun ? { phase: "checking", sent } : { phase: "storing", sent, stored: null });
    const onStored = (stored: Stored) =>
      update({ phase: "storing", sent: { sent: chosen.size, total: chosen.size }, stored });
    onSent({ sent: 0, total: chosen.size });
    if (!isDryRun) storing.add(controller);
    try {
      const { signal } = controller;
      const result = await uploadFile({
        merchantId,
        file: chosen,
        match: how,
        isDryRun,
        signal,
        onSent,
        onStored,
      });
      update({ phase: isDryRun ? "checked" : "stored", result });
      if (!isDryRun) announce.done(t("importing.done"));
    } catch (error) {
      update(
        controller.signal.aborted ? { phase: "choosing", isCanceled: true } : { phase: "failed", error },
      );
    }
    storing.delete(controller);
    if (!isDryRun) await queryClient.invalidateQueries();
  };

  const begin = (): AbortController => {
    current.current.abort();
    current.current = new AbortController();
    return current.current;
  };

  return {
    state,
    file,
    match,
    choose: (chosen, how) => {
      setFile(chosen);
      setMatch(how);
      if (chosen !== null) return void run(chosen, how, true);
      begin();
      setState({ phase: "choosing", isCanceled: false });
    },
    // A second click may come before the button is gone: without SKUs to match, each import adds all products.
    store: () => file !== null && !storing.has(current.current) && void run(file, match, false),
    cancel: () => current.current.abort(),
  };
}

/** The imports that are on their way. They outlive their page. */
const storing = new Set<AbortController>();

/** The browser asks before the tab is closed. */
function useWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isNeeded]);
}
