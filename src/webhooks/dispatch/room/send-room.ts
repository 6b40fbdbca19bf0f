import type { Clock } from "../../../platform/clock.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { EndpointHost } from "./endpoint-host.ts";
import { FairShare } from "./fair-share.ts";
import { Rotation } from "./rotation.ts";
import { UnprovenHosts } from "./unproven-hosts.ts";

/**
 * Requests in flight to one host, of all its endpoints. A connection alone gets eight ninths of them, which is more than
 * one endpoint may have.
 */
const TO_HOST_MAX = 128;
/** A request counts once for each 16 KiB of its body, because its bytes stay in memory until they are sent. */
const BYTES_OF_ONE = 16 * 1_024;

const costOf = (bodyBytes: number): number => 1 + Math.floor(bodyBytes / BYTES_OF_ONE);

/** What has something to send. */
type Sending = { readonly connection: ConnectionKey; readonly host: EndpointHost };

type Options<Queue> = {
  /** Requests that may be in flight in this process. */
  readonly inFlightMax: number;
  /** Whether hosts that have never returned 2xx get few requests. */
  readonly limitsUnproven: boolean;
  /** Called with a queue that was not admitted, once it may be. */
  readonly resume: (queue: Queue) => void;
};

/**
 * Decides whether a request may begin, and divides what is possible fairly among connections: the requests of the process,
 * those to one host, and those to hosts that have never returned 2xx (decision 0063).
 */
export class SendRoom<Queue extends Sending> {
  readonly #process: FairShare;
  readonly #unproven: UnprovenHosts | null;
  readonly #resume: (queue: Queue) => void;
  readonly #hosts = new Map<string, FairShare>();
  readonly #waitForProcess = new Rotation<Queue>(connectionOf);
  /** By origin. */
  readonly #waitForHost = new Map<string, Rotation<Queue>>();
  /** By name. */
  readonly #waitForAllowance = new Map<string, Rotation<Queue>>();
  #isStopped = false;

  constructor({ inFlightMax, limitsUnproven, resume }: Options<Queue>) {
    this.#process = new FairShare(inFlightMax);
    this.#unproven = limitsUnproven ? new UnprovenHosts() : null;
    this.#resume = resume;
  }

  /** Whether a request of this queue may begin now. If not, the queue is resumed later. */
  admits(queue: Queue, clock: Clock): boolean {
    const { host } = queue;
    const id = connectionOf(queue);
    if (!this.#process.hasRoomFor(id)) {
      this.#waitForProcess.add(queue);
      return false;
    }
    if (this.#hosts.get(host.origin)?.hasRoomFor(id) === false) {
      rotationOf(this.#waitForHost, host.origin).add(queue);
      return false;
    }
    const waitMs = this.#unproven?.waitMs(host, clock.now()) ?? 0;
    if (waitMs > 0) this.#wait(queue, waitMs);
    return waitMs === 0;
  }

  /** A request of an admitted queue begins. Returns what to call when it has ended. */
  begin(queue: Queue, bodyBytes: number, clock: Clock): () => void {
    const { origin } = queue.host;
    const id = connectionOf(queue);
    const cost = costOf(bodyBytes);
    const host = this.#hosts.get(origin) ?? new FairShare(TO_HOST_MAX);
    this.#hosts.set(origin, host);
    this.#unproven?.take(queue.host, clock.now());
    this.#process.take(id, cost);
    host.take(id, 1);
    return () => {
      this.#process.giveBack(id, cost);
      host.giveBack(id, 1);
      if (host.isUnused) this.#hosts.delete(origin);
      this.#resumeWithin(this.#process, this.#waitForProcess);
      const waiting = this.#waitForHost.get(origin);
      if (waiting === undefined) return;
      this.#resumeWithin(host, waiting);
      if (waiting.size === 0) this.#waitForHost.delete(origin);
    };
  }

  /** Whether it matters that a host has returned 2xx. */
  get limitsUnproven(): boolean {
    return this.#unproven !== null;
  }

  /** The host has returned 2xx to an endpoint. */
  prove(host: EndpointHost): void {
    this.#unproven?.prove(host);
    this.#resumeAllowed(host.name);
  }

  /** Resumes no queue any more. */
  stop(): void {
    this.#isStopped = true;
  }

  #wait(queue: Queue, waitMs: number): void {
    const { name } = queue.host;
    const isFirst = !this.#waitForAllowance.has(name);
    rotationOf(this.#waitForAllowance, name).add(queue);
    if (isFirst) setTimeout(() => this.#resumeAllowed(name), waitMs).unref();
  }

  #resumeAllowed(name: string): void {
    const waiting = this.#waitForAllowance.get(name);
    if (waiting === undefined) return;
    this.#waitForAllowance.delete(name);
    for (let left = waiting.size; left > 0; left -= 1) this.#resumeNext(waiting);
  }

  /** Each at most once, as a queue that is not admitted again waits again. */
  #resumeWithin(share: FairShare, waiting: Rotation<Queue>): void {
    for (let left = waiting.size; left > 0 && !share.isFull; left -= 1)
      if (!this.#resumeNext(waiting, (key) => share.hasRoomFor(key))) return;
  }

  /** Returns false if no queue was admitted. */
  #resumeNext(waiting: Rotation<Queue>, admits?: (key: string) => boolean): boolean {
    const queue = this.#isStopped ? null : waiting.next(admits);
    if (queue !== null) this.#resume(queue);
    return queue !== null;
  }
}

const connectionOf = ({ connection }: Sending): string => connection.connectionId;

function rotationOf<Queue extends Sending>(
  rotations: Map<string, Rotation<Queue>>,
  key: string,
): Rotation<Queue> {
  const rotation = rotations.get(key) ?? new Rotation<Queue>(connectionOf);
  rotations.set(key, rotation);
  return rotation;
}
