import { MINUTE_MS } from "../../../platform/time.ts";
import type { EndpointHost } from "./endpoint-host.ts";

/** Requests to the name of unproven hosts: so many at once, and so many in each minute. Together at most 60 in a minute. */
const AT_ONCE_MAX = 30;
const PER_MINUTE = 30;
const NAMES_MAX = 10_000;
const PROVEN_MAX = 100_000;

/** The requests that a name has left at a time. */
type TokenBucket = { readonly left: number; readonly at: Date };

/**
 * Limits the requests to hosts that have never returned 2xx, so that no one can use the service to flood or to scan
 * others (decision 0063). A host is a name with a port; the ports of a name share its token bucket.
 */
export class UnprovenHosts {
  /** Origins, those first that were seen longest ago. */
  readonly #proven = new Set<string>();
  readonly #buckets = new Map<string, TokenBucket>();

  /** The host has returned 2xx to an endpoint. */
  prove({ origin }: EndpointHost): void {
    if (this.#proven.has(origin)) return;
    this.#proven.add(origin);
    dropOldest(this.#proven, PROVEN_MAX);
  }

  /** How long a request to the host has to wait, 0 if it need not. */
  waitMs(host: EndpointHost, now: Date): number {
    if (this.#proven.has(host.origin)) return 0;
    const missing = 1 - this.#left(host, now);
    return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / PER_MINUTE);
  }

  /** A request to the host begins. */
  take(host: EndpointHost, now: Date): void {
    if (this.#proven.has(host.origin)) return;
    const left = this.#left(host, now) - 1;
    this.#buckets.delete(host.name);
    this.#buckets.set(host.name, { left, at: now });
    dropOldest(this.#buckets, NAMES_MAX);
  }

  #left({ name }: EndpointHost, now: Date): number {
    const last = this.#buckets.get(name);
    if (last === undefined) return AT_ONCE_MAX;
    const elapsedMs = Math.max(0, now.getTime() - last.at.getTime());
    return Math.min(AT_ONCE_MAX, last.left + (elapsedMs * PER_MINUTE) / MINUTE_MS);
  }
}

function dropOldest(entries: Set<string> | Map<string, unknown>, sizeMax: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= sizeMax) return;
    entries.delete(oldest);
  }
}
