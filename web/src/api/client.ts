import createClient from "openapi-fetch";
import { ApiProblem, unanswered } from "./problem.ts";
import type { paths } from "./schema.d.ts";
import { reloadIfPersonChanged, shownPersonHeaders, signInGate } from "./sign-in-gate.ts";

/**
 * The back office API. The browser sends the session's cookie with each request. If the session has expired, the person
 * signs in again in a dialog, and the request is sent again: what was typed into the page is not lost.
 */
export const api = createClient<paths>({ fetch: send });

/** The data of a response. @throws ApiProblem */
export async function dataOf<Data>(
  pending: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await pending;
  if (!response.ok) throw new ApiProblem(response.status, response.headers, error);
  return data as Data; // A success has data, or a type without any (204).
}

/** Fails unless the session is valid, and asks for no sign-in: the person may have signed in in another tab. */
export const checkSession = async (): Promise<void> => {
  await dataOf(api.GET("/api/me", { fetch: sendOnce }));
};

/** Sends a request that authenticates with the session. Nothing else in the console calls `fetch` for `/api`. */
async function send(request: Request): Promise<Response> {
  // A sign-in or a proof that fails must not ask for a sign-in.
  if (/^\/auth\/(sign-in|confirm)/.test(new URL(request.url).pathname)) return sendOnce(request);
  const again = request.clone();
  const response = await sendOnce(request);
  const need = await signInGate.needOf(response);
  if (need === null || !(await signInGate.open(need))) return response;
  return sendOnce(again);
}

/** A connection that was lost without a sign would keep a page waiting for minutes. A change may be the upload of a file. */
const READ_MS = 30_000;
const CHANGE_MS = 120_000;

async function sendOnce(request: Request): Promise<Response> {
  const isChange = request.method !== "GET";
  for (const [name, value] of Object.entries(shownPersonHeaders())) request.headers.set(name, value);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), isChange ? CHANGE_MS : READ_MS);
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, deadline.signal]) });
    if (isStream(response)) return response;
    const read = await whole(response);
    await reloadIfPersonChanged(read);
    return read;
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw unanswered(deadline.signal.aborted ? "timed-out" : "unreachable", { isChange });
  } finally {
    clearTimeout(timer);
  }
}

/** It has no end, and its reader notices a silence (`updates/messages.ts`). */
const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/**
 * The response with its body, which the deadline is for as well: a proxy may pass on the header and then nothing. What is
 * read here is bounded: files are downloaded by the browser, not here.
 */
async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, response);
}
