import { ApiProblem, unanswered } from "../../../api/problem.ts";
import type { ImportMatch, ImportResult } from "../../../api/schema.d.ts";
import { signInGate } from "../../../api/sign-in-gate.ts";
import { stringifySearch } from "../../../routing/search.ts";

/** How much of the file the browser has sent, in bytes. */
export type Sent = { readonly sent: number; readonly total: number };

type Upload = {
  readonly merchantId: string;
  readonly file: File;
  readonly match: ImportMatch;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onSent: (sent: Sent) => void;
};

/** The file cannot be read any more, such as after a change in a spreadsheet. */
export class UnreadableFile extends Error {}

/** The connection was lost: the products may be stored. */
export class UnknownOutcome extends Error {}

/**
 * Sends a file whole (decision 0153). Only `XMLHttpRequest` reports how much is sent; `fetch` does not. As in all other
 * requests, an expired session is renewed in a dialog, and the file is sent again.
 * @throws ApiProblem, UnreadableFile, UnknownOutcome; the reason of the signal
 */
export async function uploadFile(upload: Upload): Promise<ImportResult> {
  const response = await send(upload);
  const need = await signInGate.needOf(response);
  const last = need !== null && (await signInGate.open(need)) ? await send(upload) : response;
  const body: unknown = await last.json().catch(() => null);
  if (!last.ok) throw new ApiProblem(last.status, last.headers.get("x-request-id"), body);
  return body as ImportResult; // The description of the route says so.
}

async function send({ merchantId, file, match, isDryRun, signal, onSent }: Upload): Promise<Response> {
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const query = stringifySearch({ match, dryRun: isDryRun || undefined });
  request.open("POST", `/api/merchants/${encodeURIComponent(merchantId)}/products/import${query}`);
  request.setRequestHeader("content-type", "text/csv");
  request.upload.onprogress = ({ loaded, total }) => onSent({ sent: loaded, total });
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
