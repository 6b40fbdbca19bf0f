import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiProblem, unanswered } from "../../api/problem.ts";
import { reloadIfPersonChanged, shownPersonHeaders, signInGate } from "../../api/sign-in-gate.ts";
import { useAnnounce } from "../../ui/announce.ts";

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

/** How much of the file the browser has sent, in bytes. */
type Sent = { readonly sent: number; readonly total: number };

/** How many rows the service has stored. */
type Stored = { readonly stored: number; readonly total: number };

/** Where a file goes. */
type ImportTarget = { readonly address: string; readonly mediaType: string };

type Upload = ImportTarget & {
  readonly file: File;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onSent: (sent: Sent) => void;
  readonly onStored: (stored: Stored) => void;
};

/** The file cannot be read any more, such as after a change in a spreadsheet. */
export class UnreadableFile extends Error {}

/** The connection was lost: the rows may be stored. */
export class UnknownOutcome extends Error {}

/**
 * Sends a file whole (docs/design/console.md, "Imports in the console"). Only `XMLHttpRequest` reports how much is sent;
 * `fetch` does not. As in all other requests, an expired session is renewed in a dialog, and the file is sent again.
 * @throws ApiProblem, UnreadableFile, UnknownOutcome; the reason of the signal
 */
async function uploadFile<Result extends object>(upload: Upload): Promise<Result> {
  const response = await send(upload);
  await reloadIfPersonChanged(response);
  const need = await signInGate.needOf(response);
  const last = need !== null && (await signInGate.open(need)) ? await send(upload) : response;
  const text = await last.text();
  if (!last.ok) throw new ApiProblem(last.status, last.headers, parsed(text));
  return resultIn<Result>(text, last.headers);
}

/** @throws ApiProblem, UnknownOutcome if the end of the response is missing */
function resultIn<Result extends object>(text: string, headers: Headers): Result {
  // A file that changes nothing has no progress: the response is the result itself. The description says so.
  const body = parsed(text.trimEnd().split("\n").at(-1) ?? "") as LastLine<Result> | null;
  if (body === null || "stored" in body) throw new UnknownOutcome();
  if ("problem" in body) throw new ApiProblem(body.problem.status, headers, body.problem);
  return "result" in body ? body.result : (body as Result);
}

type LastLine<Result> =
  | Result
  | Stored
  | { readonly result: Result }
  | { readonly problem: { readonly status: number } };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The progress in the part of a response that has arrived. The last line may not be complete. */
function progressIn(text: string): Stored | null {
  const line = parsed(text.slice(0, text.lastIndexOf("\n")).split("\n").at(-1) ?? "");
  const isProgress = typeof line === "object" && line !== null && "stored" in line;
  return isProgress ? (line as Stored) : null; // The description of the route says so.
}

async function send({
  address,
  mediaType,
  file,
  isDryRun,
  signal,
  onSent,
  onStored,
}: Upload): Promise<Response> {
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  request.open("POST", address);
  request.setRequestHeader("content-type", mediaType);
  for (const [name, value] of Object.entries(shownPersonHeaders())) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onSent({ sent: loaded, total });
  request.onprogress = () => {
    const progress = progressIn(request.responseText);
    if (progress !== null) onStored(progress);
  };
  signal.addEventListener("abort", () => request.abort(), { once: true });
  const ended = Promise.withResolvers<void>();
  request.onloadend = () => ended.resolve();
  request.send(file);
  await ended.promise;
  signal.throwIfAborted();
  if (request.status !== 0) return toResponse(request);
  if (!(await isReadable(file))) throw new UnreadableFile();
  throw isDryRun ? unanswered("unreachable", { isChange: false }) : new UnknownOutcome();
}

const toResponse = (request: XMLHttpRequest): Response =>
  new Response(request.responseText, {
    status: request.status,
    headers: { "x-request-id": request.getResponseHeader("x-request-id") ?? "" },
  });

const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(() => true)
    .catch(() => false);
