import { api, dataOf } from "../../api/client.ts";
import type { ExposureFilter, ExposureRequest } from "../../api/schema.d.ts";

export type ExposureChange = "expose" | "withdraw";

/** The connection whose exposure changes. */
export type Target = { readonly id: string; readonly name: string };

/** Products by their ids, or all that fit a filter. */
export type Products = { readonly ids: readonly string[] } | { readonly filter: ExposureFilter };

/** As the API takes them in one request. */
const PRODUCTS_MAX = 500;

type Run = {
  readonly change: ExposureChange;
  readonly products: Products;
  readonly targets: readonly Target[];
  /** Nothing is changed, only counted. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  /** A part is done: so many products were changed for the connection, or would be. */
  readonly onPart: (target: Target, changed: number) => void;
};

/**
 * Sends the requests of a change one after the other (docs/design/fulfilment.md, "Exposure"). Each is stored whole, and
 * repeating it changes nothing further: a run that was stopped is continued by starting it again.
 */
export async function runExposure({ targets, signal, onPart, ...run }: Run): Promise<void> {
  for (const target of targets)
    for await (const changed of changedParts(target, run)) {
      onPart(target, changed);
      // Between two requests: one that is on its way would be stored without being counted.
      signal.throwIfAborted();
    }
}

type Sent = Omit<Run, "targets" | "signal" | "onPart">;

async function* changedParts(target: Target, { change, products, isDryRun }: Sent): AsyncGenerator<number> {
  const send = (body: ExposureRequest) => sendChange(change, target, { ...body, dryRun: isDryRun });
  if ("ids" in products) {
    for (let start = 0; start < products.ids.length; start += PRODUCTS_MAX)
      yield (await send({ productIds: products.ids.slice(start, start + PRODUCTS_MAX) })).changed;
    return;
  }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const part = await send({ filter: products.filter, ...(cursor !== undefined && { cursor }) });
    yield part.changed;
    cursor = part.nextCursor;
  }
}

const sendChange = (change: ExposureChange, { id }: Target, body: ExposureRequest) => {
  const request = { params: { path: { id } }, body };
  return dataOf(
    change === "expose"
      ? api.POST("/api/connections/{id}/products/expose", request)
      : api.POST("/api/connections/{id}/products/withdraw", request),
  );
};
