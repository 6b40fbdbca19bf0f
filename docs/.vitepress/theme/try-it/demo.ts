import { withBase } from "vitepress";

/** The demo that serves this site. Without a key, nothing can be tried: the site is that of another host. */
type Demo = { readonly key: string | null; readonly productId: string | null };

let demo: Promise<Demo> | undefined;

/** Asked once for all forms of a page. A host of files has the file, with nulls. */
export function findDemo(): Promise<Demo> {
  demo ??= fetch(withBase("/try.json")).then(
    (response) => response.json(),
    () => ({ key: null, productId: null }),
  );
  return demo;
}

export type TriedRequest = {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly idempotencyKey?: string;
  readonly body?: string;
};

export type TriedResponse = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends a request to the partner API of the demo. @throws Error with a message for people */
export async function sendToDemo(request: TriedRequest): Promise<TriedResponse> {
  const response = await fetch(withBase("/try"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  }).catch(() => {
    throw new Error("The demo cannot be reached. Start it again with npm start.");
  });
  const answer = await response.json();
  if (response.ok) return answer;
  const [error] = answer.errors ?? [];
  throw new Error(error === undefined ? answer.detail : `${error.pointer.slice(1)} ${error.detail}`);
}
