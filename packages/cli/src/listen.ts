import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import {
  type EventType,
  type HandlerResponse,
  type LeasedDelivery,
  type Mode,
  PartnerOrders,
  type WebhookEvent,
} from "../../sdk/src/index.ts";
import { Ended, EXIT, UsageError } from "./exit.ts";
import {
  deleteLeftEndpoints,
  type ListenEndpoint,
  openEndpoint,
  temporaryEndpoint,
} from "./listen-endpoint.ts";
import type { Session } from "./session.ts";

export type ListenOptions = {
  readonly forwardTo?: string;
  readonly mode: Mode;
  readonly types?: readonly EventType[];
  readonly order?: string;
  readonly since?: string;
  readonly printSecret?: boolean;
  readonly exec?: string;
  readonly until?: string;
  readonly timeout?: number;
};

/** As for a push endpoint. */
const TIMEOUT_MS = 15_000;
/** The log keeps as much of a response. */
const COMPLAINT_BYTES = 1_024;

/** Forwards the deliveries of a pull endpoint to a receiver on this machine, until a signal, a key, or what `options` wait for. */
export async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { output, client } = session;
  if (options.printSecret === true) {
    const { secret } = await openEndpoint(session, options);
    return output.isJson ? output.one({ secret }) : void process.stdout.write(`${secret}\n`);
  }
  const receiver = receiverOf(options);
  const isTemporary = options.exec !== undefined;
  await deleteLeftEndpoints(session, options.mode);
  const endpoint = await (isTemporary ? temporaryEndpoint : openEndpoint)(session, options);
  try {
    if (options.since !== undefined)
      await client.webhookEndpoints.recover(endpoint.id, { since: options.since });
    output.note(`Forwarding deliveries of ${endpoint.id} (${options.mode}) to ${receiver}`);
    await run(session, endpoint, receiver, options);
  } finally {
    if (isTemporary) await client.webhookEndpoints.delete(endpoint.id);
  }
}

function receiverOf({ forwardTo, exec, until, timeout }: ListenOptions): string {
  if (forwardTo === undefined || !URL.canParse(forwardTo) || !/^https?:/.test(forwardTo))
    throw new UsageError("--forward-to must be an address, such as http://localhost:3000/webhooks.");
  if (timeout !== undefined && exec === undefined && until === undefined)
    throw new UsageError("--timeout needs --until or --exec: what is waited for.");
  return forwardTo;
}

async function run(
  session: Session,
  endpoint: ListenEndpoint,
  receiver: string,
  { order, exec, until, timeout }: ListenOptions,
): Promise<void> {
  const { output } = session;
  const controller = new AbortController();
  let outcome: Ended | null = null;
  const end = (ended: Ended | null = null) => {
    outcome ??= ended;
    controller.abort();
  };
  const stop = () => (controller.signal.aborted ? process.exit(130) : end());
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(
          () =>
            end(new Ended(EXIT.timeout, `Not within ${timeout} s: ${until ?? "the end of the program"}.`)),
          timeout * 1_000,
        );

  const child = exec === undefined ? null : start(exec, endpoint.secret, output.isJson);
  let isSeen = until === undefined;
  let isDone = child === null;
  const endIfComplete = () => {
    if ((until !== undefined || child !== null) && isSeen && isDone) end();
  };
  void child?.ended.then((code) => {
    isDone = true;
    if (code === 0) endIfComplete();
    else end(new Ended(EXIT.command, `The program of --exec ended with ${code}.`));
  });

  const keys = listenToKeys(session, endpoint, stop);
  try {
    await watchedClient(session, controller.signal).pull.consume(
      endpoint.id,
      async (event, delivery) => {
        if (order !== undefined && !isAbout(order, event, delivery))
          return { status: 200, responseBody: "partner-orders listen --order: not forwarded" };
        keys.last = delivery.deliveryId;
        const response = await forward(session, receiver, delivery);
        if (delivery.eventType === until && response.status !== null && response.status < 300) {
          isSeen = true;
          endIfComplete();
        }
        return response;
      },
      { signal: controller.signal },
    );
  } finally {
    clearTimeout(timer);
    keys.close();
    child?.kill();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  if (outcome !== null) throw outcome;
}

/** Says when the service is away, and when it is back. */
function watchedClient({ settings, output }: Session, ending: AbortSignal): PartnerOrders {
  let isAway = false;
  let isPaused = false;
  return new PartnerOrders({
    baseUrl: settings.api,
    key: settings.key,
    onAttempt: ({ operation, status }) => {
      if (ending.aborted) return; // The program itself has ended its poll.
      if (operation === "leaseDeliveries" && status !== null) {
        // The only conflict of a lease: the receiver has responded 410, or failed for long.
        const wasPaused = isPaused;
        isPaused = status === 409;
        if (isPaused && !wasPaused) output.note("The endpoint is paused. Start listen again to resume it.");
      }
      const wasAway = isAway;
      isAway = status === null || status >= 500;
      if (isAway && !wasAway) output.note("The service is not reachable. Trying again; nothing is missed.");
      if (!isAway && wasAway) output.note("The service is reachable again.");
    },
  });
}

/** Sends body and signed headers as they are, and shows what the receiver responds. */
async function forward(
  { output }: Session,
  receiver: string,
  { deliveryId, attempt, eventId, eventType, orderId, fault, headers, body }: LeasedDelivery,
): Promise<HandlerResponse> {
  const startedAt = Date.now();
  const show = (status: number | null, complaint: string) => {
    const durationMs = Date.now() - startedAt;
    const item = {
      deliveryId,
      attempt,
      eventId,
      eventType,
      orderId,
      fault,
      status,
      durationMs,
      complaint: complaint || null,
    };
    const time = new Date(startedAt).toISOString().slice(11, 19);
    const again = attempt > 1 ? `attempt ${attempt}` : "";
    const rehearsed = fault === null ? "" : `rehearses ${fault}`;
    const about = complaint.slice(0, 200);
    output.line(item, [
      time,
      eventType,
      orderId,
      status ?? "failed",
      `${durationMs} ms`,
      ...[again, rehearsed, about].filter(Boolean),
    ]);
  };
  try {
    const fields = headers as Record<string, string>; // The service sends texts.
    if (fault === "cut-body") await cutOff(receiver, fields, body);
    const response = await fetch(receiver, {
      method: "POST",
      headers: fields,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const responseBody = await beginningOf(response);
    show(response.status, response.ok ? "" : responseBody);
    const after = Number(response.headers.get("retry-after") ?? Number.NaN);
    const isAfter = Number.isInteger(after) && after >= 0 && after <= 86_400;
    return { status: response.status, responseBody, ...(isAfter && { retryAfterSeconds: after }) };
  } catch (error) {
    const reason = reasonOf(error);
    show(null, reason);
    throw new Error(reason, { cause: error });
  }
}

/** The connection is closed so long after the first half of a body. */
const CUT_OFF_AFTER_MS = 100;

/** Sends half of a body, and closes the connection: the fault that only the sender of a request can rehearse. */
function cutOff(receiver: string, headers: Readonly<Record<string, string>>, text: string): Promise<never> {
  const body = Buffer.from(text);
  const request = receiver.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((_, reject) => {
    const sent = request(receiver, {
      method: "POST",
      headers: { ...headers, "content-length": body.length },
    });
    sent.on("error", reject);
    sent.write(body.subarray(0, Math.ceil(body.length / 2)), () =>
      setTimeout(() => sent.destroy(new Error("cut off, as the fault says")), CUT_OFF_AFTER_MS),
    );
  });
}

async function beginningOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= COMPLAINT_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, COMPLAINT_BYTES).toString().replaceAll("\0", " ");
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no response within ${TIMEOUT_MS / 1_000} s`;
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" ? "connection refused: is the receiver running?" : (code ?? message);
}

function isAbout(order: string, event: WebhookEvent, { orderId }: LeasedDelivery): boolean {
  if (orderId === order) return true;
  const { order: of } = event.data as { order?: { externalOrderId?: string | null } };
  return of?.externalOrderId === order;
}

/** Runs a program of the shell. Its output is not mixed with JSON lines. */
function start(command: string, secret: string, isJson: boolean) {
  const isWindows = process.platform === "win32";
  const child: ChildProcess = spawn(command, {
    shell: true,
    stdio: ["ignore", isJson ? process.stderr : "inherit", "inherit"],
    env: { ...process.env, PARTNER_ORDERS_WEBHOOK_SECRET: secret },
    detached: !isWindows, // A group of its own, so that what the shell has started ends with it.
  });
  let isRunning = true;
  const ended = once(child, "exit").then(([code, signal]) => {
    isRunning = false;
    return (code ?? signal) as number | string;
  });
  const kill = () => {
    if (!isRunning || child.pid === undefined) return;
    if (isWindows) child.kill();
    else process.kill(-child.pid, "SIGTERM");
  };
  return { ended, kill };
}

/** A terminal sends no signal while keys are read one by one. */
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** On a terminal: `r` sends the last delivery again, `f` all that failed in the last hour, `q` ends. Keys may arrive together. */
function listenToKeys({ client, output }: Session, { id }: ListenEndpoint, stop: () => void) {
  const keys: { last: string | null; close: () => void } = { last: null, close: () => {} };
  if (!process.stdin.isTTY || !process.stdout.isTTY) return keys;
  const recover = async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { deliveryCount } = await client.webhookEndpoints.recover(id, { since });
    output.note(`Sending again: ${deliveryCount ?? "more than 5,000"}`);
  };
  const onKey = async (key: string) => {
    try {
      if (key === "q" || key === CTRL_C || key === CTRL_D) stop();
      else if (key === "r" && keys.last === null) output.note("Nothing was delivered yet.");
      else if (key === "r" && keys.last !== null) await client.deliveries.redeliver(keys.last);
      else if (key === "f") await recover();
    } catch (error) {
      output.note(error instanceof Error ? error.message : String(error));
    }
  };
  const onData = async (data: Buffer) => {
    for (const key of data.toString()) await onKey(key);
  };
  process.stdin.setRawMode(true).resume().on("data", onData);
  keys.close = () => void process.stdin.off("data", onData).setRawMode(false).pause();
  output.note("Keys: r sends the last delivery again, f what failed in the last hour, q ends.");
  return keys;
}
