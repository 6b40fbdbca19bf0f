import type { Clock } from "../../../platform/clock.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { Throttle } from "../send/pace.ts";
import type { EndpointHost } from "./endpoint-host.ts";
import { FairShare } from "./fair-share.ts";
import { WaitingQueues } from "./rotation.ts";
import { UnprovenHosts } from "./unproven-hosts.ts";

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
  /** Whether a delivery of it could be sent now. */
  readonly hasNext: boolean;
};

type Options<Queue> = {
  readonly clock: Clock;
  /** Requests that may be in flight in this process. */
  readonly inFlightMax: number;
  /** Whether hosts that have never returned 2xx get few requests. */
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
 * those to one host, and those to hosts that have never returned 2xx (decision 0063). All begin at the rate at which responses
 * are read and outcomes are stored.
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
   * Whether a request of this queue may begin now. If not, the queue is resumed later. A queue with nothing to send waits for
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

  /** Whether it matters that a host has returned 2xx. */
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
