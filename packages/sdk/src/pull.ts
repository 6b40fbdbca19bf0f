import { isProblem } from "./errors.ts";
import { passes } from "./follow.ts";
import type {
  AcknowledgementOutcomes,
  DeliveryAcknowledgement,
  LeasedDeliveries,
  LeasedDelivery,
} from "./generated/types.ts";
import { pause, type RequestOptions, type Transport } from "./transport.ts";
import { knownEvent, type WebhookEvent } from "./webhooks.ts";

/** What a handler may return instead of nothing, which is 200: how another program has responded, for the delivery log. */
export type HandlerResponse = Pick<DeliveryAcknowledgement, "status" | "responseBody" | "retryAfterSeconds">;

/**
 * Processes an event. The delivery has the request that a push endpoint would get, and the time until which it is leased. An error
 * fails the attempt, which is repeated as for a push endpoint. Of a test order, `delivery.fault` names what the attempt rehearses:
 * `two-at-once` calls the handler twice at the same time; a handler that forwards to another program performs `cut-body`.
 */
export type DeliveryHandler = (
  event: WebhookEvent,
  delivery: LeasedDelivery,
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing.
) => Promise<HandlerResponse | void> | HandlerResponse | void;

/** How to consume. */
export type ConsumeOptions = {
  /** Ends it. What is being processed is finished and acknowledged. */
  readonly signal?: AbortSignal;
  /** Events that are processed at the same time, each of another order. Default: 8; the `maxInFlight` of the endpoint limits it too. */
  readonly concurrency?: number;
};

const WAIT_SECONDS = 20;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
const ACKNOWLEDGEMENTS_MAX = 100;

/** Deliveries of pull endpoints, which have no address: a client leases them, and acknowledges each. */
export class Pull {
  readonly #api: Transport;

  constructor(api: Transport) {
    this.#api = api;
  }

  /**
   * Leases deliveries that are due. With `wait`, seconds up to 20, it returns when something is due.
   * @throws {ProblemError} `endpoint-paused`, `not-found`, `rate-limited`
   */
  lease(
    endpointId: string,
    query: { readonly wait?: number; readonly limit?: number } = {},
    options: RequestOptions = {},
  ): Promise<LeasedDeliveries> {
    const timeoutMs = options.timeoutMs ?? ((query.wait ?? 0) + 30) * 1_000;
    return this.#api.request("leaseDeliveries", { path: { endpointId }, query }, { ...options, timeoutMs });
  }

  /** Says what became of leased deliveries. @throws {ProblemError} `not-found` */
  acknowledge(
    endpointId: string,
    acknowledgements: readonly DeliveryAcknowledgement[],
    options?: RequestOptions,
  ): Promise<AcknowledgementOutcomes> {
    const call = { path: { endpointId }, body: { acknowledgements } };
    return this.#api.request("acknowledgeDeliveries", call, options);
  }

  /**
   * Processes the events of a pull endpoint without end, until its signal ends it. Each arrives at least once, and those of an order
   * one after the other: the next one when the one before is acknowledged, or has failed for the last time. After a crash, what was not
   * acknowledged comes again when its lease ends, so store events under their `id`.
   *
   * ```ts
   * await client.pull.consume(endpoint.id, async (event) => {
   *   await store(event);
   * });
   * ```
   *
   * It outlasts a service that is away and an endpoint that is paused, and throws only what waiting does not cure.
   */
  async consume(
    endpointId: string,
    handler: DeliveryHandler,
    { signal, concurrency = 8 }: ConsumeOptions = {},
  ): Promise<void> {
    const running = new Set<Promise<void>>();
    const acknowledge = this.#acknowledger(endpointId);
    let fatal: { error: unknown } | null = null;
    let failures = 0;
    while (!signal?.aborted && fatal === null) {
      try {
        const limit = concurrency - running.size;
        if (limit <= 0) {
          await Promise.race(running);
          continue;
        }
        // A process that is short of work returns at once to what it has leased, and otherwise waits for more.
        const { data } = await this.lease(endpointId, { wait: WAIT_SECONDS, limit }, signal && { signal });
        failures = 0;
        for (const delivery of data) {
          const one = outcomeOf(handler, delivery)
            .then(acknowledge)
            .catch((error) => {
              if (!mayPass(error)) fatal ??= { error }; // Else its lease ends, and it comes again.
            })
            .finally(() => running.delete(one));
          running.add(one);
        }
      } catch (error) {
        if (signal?.aborted) break;
        if (!mayPass(error)) {
          fatal = { error };
          break;
        }
        failures += 1;
        const ms = Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX);
        await pause(ms, signal).catch(() => {});
      }
    }
    await Promise.all(running);
    if (fatal !== null) throw (fatal as { error: unknown }).error;
  }

  /** Acknowledges those together that end while a request is under way. */
  #acknowledger(endpointId: string): (acknowledgement: DeliveryAcknowledgement) => Promise<void> {
    const waiting: DeliveryAcknowledgement[] = [];
    let next: Promise<void> | null = null;
    let last: Promise<unknown> = Promise.resolve();
    return (acknowledgement) => {
      waiting.push(acknowledgement);
      if (next !== null && waiting.length <= ACKNOWLEDGEMENTS_MAX) return next;
      const sent = last.then(async () => {
        const group = waiting.splice(0, ACKNOWLEDGEMENTS_MAX);
        if (waiting.length === 0) next = null;
        if (group.length > 0) await this.acknowledge(endpointId, group);
      });
      next = sent;
      last = sent.catch(() => {});
      return sent;
    };
  }
}

const isAccepted = ({ status }: HandlerResponse): boolean => status !== null && status >= 200 && status < 300;

/** A paused endpoint is resumed by people. */
const mayPass = (error: unknown): boolean =>
  passes(error) || (isProblem(error) && error.code === "endpoint-paused");

async function outcomeOf(
  handler: DeliveryHandler,
  delivery: LeasedDelivery,
): Promise<DeliveryAcknowledgement> {
  const { deliveryId, attempt } = delivery;
  const startedAt = Date.now();
  const took = () => ({ deliveryId, attempt, durationMs: Math.min(Date.now() - startedAt, 86_400_000) });
  try {
    const handle = async () =>
      (await handler(knownEvent(JSON.parse(delivery.body)), delivery)) ?? { status: 200 };
    const [response, other] = await Promise.all([
      handle(),
      delivery.fault === "two-at-once" ? handle() : null,
    ]);
    return { ...(other !== null && isAccepted(response) ? other : response), ...took() };
  } catch (error) {
    // Its text is stored in the log: without control characters, and short.
    const text = String(error).slice(0, 200).replace(/\p{C}/gu, " ").trim();
    return { status: null, error: text || "error", ...took() };
  }
}
