import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Clock, MINUTE_MS } from "../../platform/time.ts";

/** Where an endpoint is. */
export type EndpointHost = {
  /** The name or address. */
  readonly name: string;
  /** With the port. */
  readonly origin: string;
};

/** @param url an accepted URL of an endpoint */
export function hostOf({
  hostname,
  protocol,
  port,
}: Pick<URL, "hostname" | "protocol" | "port">): EndpointHost {
  return { name: hostname, origin: `${hostname}:${port === "" ? DEFAULT_PORTS[protocol] : port}` };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };

/** How many times what is free one key may hold. A key alone may hold eight ninths of all; the rest is a reserve. */
const TIMES_FREE = 8;

/**
 * Divides a capacity among keys, mostly connections. A key may hold eight times as much as is free
 * (docs/design/deliveries.md, "Shared sending"). So one that is alone gets nearly all, and a newcomer finds some of it free at
 * once. What it takes makes the limit of all others lower: they get nothing more until they are below it, so that several end
 * with equal shares. Nothing is taken away.
 */
export class FairShare {
  readonly #capacity: number;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#free = capacity;
  }

  get isUnused(): boolean {
    return this.#free === this.#capacity;
  }

  /** True if nothing is free for any key. */
  get isFull(): boolean {
    return this.#free <= 0;
  }

  /** How much more a key may take. */
  freeFor(key: string): number {
    const held = this.#held.get(key) ?? 0;
    if (held === 0 && this.#free > 0)
      return Math.max(1, Math.floor((TIMES_FREE * this.#free) / (TIMES_FREE + 1)));
    return Math.max(0, Math.floor((TIMES_FREE * this.#free - held) / (TIMES_FREE + 1)));
  }

  admits(key: string): boolean {
    return this.freeFor(key) > 0;
  }

  /** True if a key holds anything. */
  holds(key: string): boolean {
    return this.#held.has(key);
  }

  take(key: string, size: number): void {
    this.#free -= size;
    this.#held.set(key, (this.#held.get(key) ?? 0) + size);
  }

  giveBack(key: string, size: number): void {
    this.#free += size;
    const left = (this.#held.get(key) ?? 0) - size;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
  }
}

/** Keys that `next` looks at. More of them, of which none is admitted, would make each call cost more than its benefit. */
const LOOKED_AT_MAX = 128;

/** Items that wait, each with a key. The keys take turns, so that one with many items delays no other. */
export class WaitingQueues<Thing> {
  readonly #keyOf: (thing: Thing) => string;
  readonly #waiting = new Map<string, Set<Thing>>();
  #size = 0;

  constructor(keyOf: (thing: Thing) => string) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#size;
  }

  /** An item that already waits keeps its position. */
  add(thing: Thing): void {
    const key = this.#keyOf(thing);
    const things = this.#waiting.get(key) ?? new Set<Thing>();
    if (!things.has(thing)) this.#size += 1;
    this.#waiting.set(key, things.add(thing));
  }

  /**
   * Removes and returns the next item of a key that is admitted. Null when none of the first keys is; they are then the
   * last ones, so that further calls reach every key.
   */
  next(admits: (key: string) => boolean = () => true): Thing | null {
    let left = Math.min(LOOKED_AT_MAX, this.#waiting.size);
    for (const [key, things] of this.#waiting) {
      if (left === 0) return null;
      left -= 1;
      const thing = admits(key) ? this.#take(things) : null;
      if (things.size === 0) this.#waiting.delete(key);
      else this.#moveBehind(key, things);
      if (thing !== null) return thing;
    }
    return null;
  }

  #take(things: Set<Thing>): Thing | null {
    for (const thing of things) {
      things.delete(thing);
      this.#size -= 1;
      return thing;
    }
    return null;
  }

  #moveBehind(key: string, things: Set<Thing>): void {
    if (this.#waiting.size === 1) return;
    this.#waiting.delete(key);
    this.#waiting.set(key, things);
  }
}

/**
 * Requests in flight to one host, of all its endpoints. A connection alone gets eight ninths of them, which is more than
 * one endpoint may have.
 */
const TO_HOST_MAX = 128;
/** A request counts once for each 16 KiB of its body, because its bytes stay in memory until they are sent. */
const BYTES_OF_ONE = 16 * 1_024;

/** What has something to send. */
type Sending = {
  readonly connection: ConnectionKey;
  readonly host: EndpointHost;
  /** True if a delivery of it could be sent now. */
  readonly hasNext: boolean;
};

type Options<Queue> = {
  readonly clock: Clock;
  /** Requests that may be in flight in this process. */
  readonly inFlightMax: number;
  /** True if hosts that have never returned 2xx get few requests. */
  readonly limitsUnproven: boolean;
  /** Called with a queue that was not admitted, once it may be. */
  readonly resume: (queue: Queue) => void;
};

/** A request that has begun, and what it counts. */
export type AdmittedRequest = {
  readonly connectionId: string;
  readonly host: EndpointHost;
  readonly cost: number;
};

/**
 * Decides whether a request may begin, and divides what is possible fairly among connections: the requests of the process,
 * those to one host, and those to hosts that have never returned 2xx (docs/design/deliveries.md, "Shared sending"). All begin
 * at the rate at which responses are read and outcomes are stored.
 */
export class SendAdmission<Queue extends Sending> {
  readonly #clock: Clock;
  readonly #throttle: Throttle<Queue>;
  readonly #process: FairShare;
  readonly #unproven: UnprovenHosts | null;
  readonly #resume: (queue: Queue) => void;
  readonly #hosts = new Map<string, FairShare>();
  readonly #waitForProcess = new WaitingQueues<Queue>(connectionOf);
  /** By origin. */
  readonly #waitForHost = new Map<string, WaitingQueues<Queue>>();
  /** By name. */
  readonly #waitForToken = new Map<string, WaitingQueues<Queue>>();
  #isStopped = false;

  constructor({ clock, inFlightMax, limitsUnproven, resume }: Options<Queue>) {
    this.#clock = clock;
    this.#throttle = new Throttle(resume, connectionOf);
    this.#process = new FairShare(inFlightMax);
    this.#unproven = limitsUnproven ? new UnprovenHosts() : null;
    this.#resume = resume;
  }

  /**
   * True if a request of this queue may begin now. If not, the queue is resumed later. A queue with nothing to send waits for
   * no share.
   */
  admits(queue: Queue): boolean {
    if (!this.#throttle.admits(queue)) return false;
    if (!queue.hasNext) return true;
    const { host } = queue;
    const id = connectionOf(queue);
    if (!this.#process.admits(id)) {
      this.#waitForProcess.add(queue);
      return false;
    }
    if (this.#hosts.get(host.origin)?.admits(id) === false) {
      queueOf(this.#waitForHost, host.origin).add(queue);
      return false;
    }
    const waitMs = this.#unproven?.waitMs(host, this.#clock.now()) ?? 0;
    if (waitMs > 0) this.#wait(queue, waitMs);
    return waitMs === 0;
  }

  /** A request of an admitted queue begins. Call `end` with what is returned. */
  begin(queue: Queue, bodyBytes: number): AdmittedRequest {
    const { host } = queue;
    const request = {
      connectionId: connectionOf(queue),
      host,
      cost: 1 + Math.floor(bodyBytes / BYTES_OF_ONE),
    };
    const share = this.#hosts.get(host.origin) ?? new FairShare(TO_HOST_MAX);
    this.#hosts.set(host.origin, share);
    this.#throttle.begun();
    this.#unproven?.take(host, this.#clock.now());
    this.#process.take(request.connectionId, request.cost);
    share.take(request.connectionId, 1);
    return request;
  }

  /** The request has ended. */
  end({ connectionId, host: { origin }, cost }: AdmittedRequest): void {
    this.#process.giveBack(connectionId, cost);
    const share = this.#hosts.get(origin);
    share?.giveBack(connectionId, 1);
    if (share?.isUnused) this.#hosts.delete(origin);
    this.#resumeWithin(this.#process, this.#waitForProcess);
    const waiting = this.#waitForHost.get(origin);
    if (share === undefined || waiting === undefined) return;
    this.#resumeWithin(share, waiting);
    if (waiting.size === 0) this.#waitForHost.delete(origin);
  }

  /** An outcome is to be stored. */
  storing(): void {
    this.#throttle.ended();
  }

  /** An outcome is stored, or is set aside, so that it slows down no others. */
  stored(): void {
    this.#throttle.stored();
  }

  /** True if it matters that a host has returned 2xx. */
  get limitsUnproven(): boolean {
    return this.#unproven !== null;
  }

  /** The host has returned 2xx to an endpoint. */
  prove(host: EndpointHost): void {
    this.#unproven?.prove(host);
    this.#resumeAllowed(host.name);
  }

  /** Resumes no queue any more that waits for its share. */
  stop(): void {
    this.#isStopped = true;
  }

  #wait(queue: Queue, waitMs: number): void {
    const { name } = queue.host;
    const isFirst = !this.#waitForToken.has(name);
    queueOf(this.#waitForToken, name).add(queue);
    if (isFirst) setTimeout(() => this.#resumeAllowed(name), waitMs).unref();
  }

  #resumeAllowed(name: string): void {
    const waiting = this.#waitForToken.get(name);
    if (waiting === undefined) return;
    this.#waitForToken.delete(name);
    for (let left = waiting.size; left > 0; left -= 1) this.#resumeNext(waiting);
  }

  /** Each at most once, as a queue that is not admitted again waits again. */
  #resumeWithin(share: FairShare, waiting: WaitingQueues<Queue>): void {
    for (let left = waiting.size; left > 0 && !share.isFull; left -= 1)
      if (!this.#resumeNext(waiting, (key) => share.admits(key))) return;
  }

  /** Returns false if no queue was admitted. */
  #resumeNext(waiting: WaitingQueues<Queue>, admits?: (key: string) => boolean): boolean {
    const queue = this.#isStopped ? null : waiting.next(admits);
    if (queue !== null) this.#resume(queue);
    return queue !== null;
  }
}

const connectionOf = ({ connection }: Sending): string => connection.connectionId;

function queueOf<Queue extends Sending>(
  queues: Map<string, WaitingQueues<Queue>>,
  key: string,
): WaitingQueues<Queue> {
  const queue = queues.get(key) ?? new WaitingQueues<Queue>(connectionOf);
  queues.set(key, queue);
  return queue;
}

/** Requests to the name of unproven hosts: so many at once, and so many in each minute. Together at most 60 in a minute. */
const AT_ONCE_MAX = 30;
const PER_MINUTE = 30;
const NAMES_MAX = 10_000;
const PROVEN_MAX = 100_000;

/** The requests that a name has left at a time. */
type TokenBucket = { readonly left: number; readonly at: Date };

/**
 * Limits the requests to hosts that have never returned 2xx, so that no one can use the service to flood or to scan others
 * (docs/design/deliveries.md, "Shared sending"). A host is a name with a port; the ports of a name share its token bucket.
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

/**
 * Requests that begin before the event loop reads responses. Hundreds begun at once would need as many sockets and be
 * slower. With so few, the responses that arrive in between free sockets for reuse.
 */
const BEGUN_MAX = 32;
/** Outcomes that may wait to be stored before further requests begin, so that the database sets the pace. */
const UNSTORED_MAX = 512;

/**
 * Keeps sending requests, reading responses and storing outcomes at the same rate. It does not count requests that wait
 * for a receiver, so receivers that never respond slow down no others.
 */
export class Throttle<Queue> {
  readonly #resume: (queue: Queue) => void;
  /** Queues that were not admitted, in the order in which they are resumed. */
  readonly #heldBack: WaitingQueues<Queue>;
  #begun = 0;
  #unstored = 0;

  /**
   * @param resume is called with a queue that was not admitted, once another request may be admitted
   * @param keyOf whose queue it is; these take turns
   */
  constructor(resume: (queue: Queue) => void, keyOf: (queue: Queue) => string = String) {
    this.#resume = resume;
    this.#heldBack = new WaitingQueues(keyOf);
  }

  /** True if a request of this queue may begin now. */
  admits(queue: Queue): boolean {
    if (this.#isOpen) return true;
    this.#heldBack.add(queue);
    return false;
  }

  /** A request has begun. */
  begun(): void {
    if (this.#begun === 0)
      setImmediate(() => {
        this.#begun = 0;
        this.#resumeQueues();
      });
    this.#begun += 1;
  }

  /** A request has ended, and its outcome is to be stored. */
  ended(): void {
    this.#unstored += 1;
  }

  /** An outcome is stored. */
  stored(): void {
    this.#unstored -= 1;
    this.#resumeQueues();
  }

  get #isOpen(): boolean {
    return this.#unstored < UNSTORED_MAX && this.#begun < BEGUN_MAX;
  }

  /** A queue that is not admitted again goes behind all others. */
  #resumeQueues(): void {
    while (this.#isOpen) {
      const queue = this.#heldBack.next();
      if (queue === null) return;
      this.#resume(queue);
    }
  }
}
