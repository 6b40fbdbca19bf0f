import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "../../ui/announce.ts";
import { type ImportTarget, type Sent, type Stored, uploadFile } from "./upload-file.ts";

/** How far an import is: first the check of the file, then the import. */
export type ImportState<Result> =
  | { readonly phase: "choosing"; readonly isCanceled: boolean }
  | { readonly phase: "checking"; readonly sent: Sent }
  /** Null: the file is still being sent and checked. */
  | { readonly phase: "storing"; readonly sent: Sent; readonly stored: Stored | null }
  | { readonly phase: "checked" | "stored"; readonly result: Result }
  | { readonly phase: "failed"; readonly error: unknown };

export type Import<Result, Choice> = {
  readonly state: ImportState<Result>;
  readonly file: File | null;
  /** What the person has chosen beside the file. */
  readonly choice: Choice;
  /** Checks a file, or none. */
  choose(file: File | null, choice: Choice): void;
  store(): void;
  cancel(): void;
};

/** Checks the chosen file at once, and imports it when the person has seen what would change. */
export function useImport<Result extends object, Choice>({
  first,
  targetOf,
  done,
}: {
  readonly first: Choice;
  readonly targetOf: (choice: Choice, file: File, isDryRun: boolean) => ImportTarget;
  /** What is announced at the end. */
  readonly done: string;
}): Import<Result, Choice> {
  const queryClient = useQueryClient();
  const announce = useAnnounce();
  const [file, setFile] = useState<File | null>(null);
  const [choice, setChoice] = useState<Choice>(first);
  const [state, setState] = useState<ImportState<Result>>({ phase: "choosing", isCanceled: false });
  const current = useRef(new AbortController());
  const isStoring = state.phase === "storing";
  useWarning(isStoring);
  // A check ends with its page. An import continues, and its end is announced.
  useEffect(() => () => void (storing.has(current.current) || current.current.abort()), []);

  const run = async (chosen: File, how: Choice, isDryRun: boolean): Promise<void> => {
    const controller = begin();
    const update = (next: ImportState<Result>) => controller === current.current && setState(next);
    const onSent = (sent: Sent) =>
      update(isDryRun ? { phase: "checking", sent } : { phase: "storing", sent, stored: null });
    const onStored = (stored: Stored) =>
      update({ phase: "storing", sent: { sent: chosen.size, total: chosen.size }, stored });
    onSent({ sent: 0, total: chosen.size });
    if (!isDryRun) storing.add(controller);
    try {
      const { signal } = controller;
      const result = await uploadFile<Result>({
        ...targetOf(how, chosen, isDryRun),
        file: chosen,
        isDryRun,
        signal,
        onSent,
        onStored,
      });
      update({ phase: isDryRun ? "checked" : "stored", result });
      if (!isDryRun) announce.done(done);
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
    choice,
    choose: (chosen, how) => {
      setFile(chosen);
      setChoice(how);
      if (chosen !== null) return void run(chosen, how, true);
      begin();
      setState({ phase: "choosing", isCanceled: false });
    },
    // A second click may come before the button is gone: without SKUs to match, each import adds all products.
    store: () => file !== null && !storing.has(current.current) && void run(file, choice, false),
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
