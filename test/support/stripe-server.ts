import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/platform/time.ts";

export type Intent = {
  id: string;
  object: "payment_intent";
  status: "succeeded" | "processing" | "requires_payment_method" | "requires_action" | "canceled";
  amount: number;
  currency: string;
  customer: string;
  payment_method: string;
  created: number;
  metadata: Record<string, string>;
  last_payment_error: { code: string; decline_code?: string } | null;
};

type Refund = {
  id: string;
  object: "refund";
  status: "succeeded" | "pending" | "failed";
  amount: number;
  payment_intent: string;
  metadata: Record<string, string>;
  failure_reason?: string;
};

type Reply = { status: number; body: object };

/** What may go wrong on the way; `AndDone` and `hangUpAfter`: although Stripe has carried the request out. */
type Trouble = "error500" | "error500AndDone" | "hangUpBefore" | "hangUpAfter" | "rateLimit" | "badKey";

/**
 * The parts of Stripe's API that the service uses, over real HTTP. Like the real one, it repeats its first response to
 * a known idempotency key, including its own failures, rejects other parameters with it, and deletes it after a day.
 * The payment method decides: pm_ok, pm_declined, pm_auth, pm_action, pm_processing; any other is missing.
 */
export type StripeServer = {
  readonly url: string;
  readonly intents: Map<string, Intent>;
  readonly refunds: Map<string, Refund>;
  /** Method and path of each request. */
  readonly requests: string[];
  /** What happens to the next requests that create something, one after the other. */
  readonly troubles: Trouble[];
  /** What becomes of the next refunds. */
  refundStatus: Refund["status"];
  /** Intents are listed this many at a time. */
  pageSize: number;
  /** Runs when a request has been carried out, before the response is sent. */
  beforeAnswer(): Promise<void>;
};

const KEYS_KEPT_MS = 86_400_000;

export async function startStripeServer(clock: Clock): Promise<StripeServer> {
  const answered = new Map<string, { at: number; parameters: string; reply: Reply }>();
  const server: StripeServer = {
    url: "",
    intents: new Map(),
    refunds: new Map(),
    requests: [],
    troubles: [],
    refundStatus: "succeeded",
    pageSize: 100,
    beforeAnswer: async () => undefined,
  };
  let ids = 0;
  const newId = (prefix: string): string => {
    ids += 1;
    return `${prefix}_${String(ids).padStart(6, "0")}`;
  };

  function underKey(key: string, parameters: string, trouble: Trouble | undefined, make: () => Reply): Reply {
    const known = answered.get(key);
    if (known !== undefined && clock.now().getTime() - known.at < KEYS_KEPT_MS)
      return known.parameters === parameters ? known.reply : IDEMPOTENCY_ERROR;
    const done = trouble === "error500" ? API_ERROR : make();
    const reply = trouble === "error500AndDone" ? API_ERROR : done;
    answered.set(key, { at: clock.now().getTime(), parameters, reply });
    return reply;
  }

  function createIntent(form: URLSearchParams): Reply {
    const method = form.get("payment_method") ?? "";
    const known = BEHAVIOUR[method];
    if (known === undefined) return failure(400, { type: "invalid_request_error", code: "resource_missing" });
    const intent: Intent = {
      id: newId("pi"),
      object: "payment_intent",
      status: known.status,
      amount: Number(form.get("amount")),
      currency: form.get("currency") ?? "",
      customer: form.get("customer") ?? "",
      payment_method: method,
      created: Math.floor(clock.now().getTime() / 1_000),
      metadata: metadataOf(form),
      last_payment_error: known.error ?? null,
    };
    server.intents.set(intent.id, intent);
    if (known.error === undefined) return ok({ ...intent });
    return failure(402, { type: "card_error", ...known.error, payment_intent: { ...intent } });
  }

  function createRefund(form: URLSearchParams): Reply {
    const paymentIntent = form.get("payment_intent") ?? "";
    const intent = server.intents.get(paymentIntent);
    const given = [...server.refunds.values()]
      .filter((refund) => refund.payment_intent === paymentIntent && refund.status !== "failed")
      .reduce((sum, { amount }) => sum + amount, 0);
    if (given > 0 && given >= (intent?.amount ?? 0))
      return failure(400, { type: "invalid_request_error", code: "charge_already_refunded" });
    if (intent?.status !== "succeeded")
      return failure(400, { type: "invalid_request_error", code: "resource_missing" });
    const refund: Refund = {
      id: newId("re"),
      object: "refund",
      status: server.refundStatus,
      amount: Number(form.get("amount")),
      payment_intent: paymentIntent,
      metadata: metadataOf(form),
      ...(server.refundStatus === "failed" ? { failure_reason: "expired_or_canceled_card" } : {}),
    };
    server.refunds.set(refund.id, refund);
    return ok({ ...refund });
  }

  function cancelIntent(id: string): Reply {
    const intent = server.intents.get(id);
    if (intent === undefined || ["succeeded", "processing", "canceled"].includes(intent.status))
      return failure(400, { type: "invalid_request_error", code: "payment_intent_unexpected_state" });
    intent.status = "canceled";
    return ok({ ...intent });
  }

  function listed(all: readonly { id: string }[], query: URLSearchParams): Reply {
    const after = query.get("starting_after");
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const data = all.slice(from, from + server.pageSize);
    return ok({ object: "list", data, has_more: from + server.pageSize < all.length });
  }

  function read(path: string, query: URLSearchParams): Reply {
    const [, , , id] = path.split("/");
    const things = path.startsWith("/v1/payment_intents") ? server.intents : server.refunds;
    if (id !== undefined) {
      const found = things.get(id);
      return found === undefined
        ? failure(404, { type: "invalid_request_error", code: "resource_missing" })
        : ok({ ...found });
    }
    if (things === server.refunds) {
      const ofIntent = [...server.refunds.values()].filter(
        (refund) => refund.payment_intent === query.get("payment_intent"),
      );
      return listed(ofIntent.reverse(), query);
    }
    const ofCustomer = [...server.intents.values()].filter(
      ({ customer, created }) =>
        customer === query.get("customer") && created >= Number(query.get("created[gte]") ?? 0),
    );
    return listed(ofCustomer.reverse(), query);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://stripe.example");
    server.requests.push(`${request.method} ${pathname}`);
    const parameters = await textOf(request);
    const form = new URLSearchParams(parameters);
    const makes = request.method === "POST" && !pathname.endsWith("/cancel");
    const trouble = makes ? server.troubles.shift() : undefined;
    if (trouble === "hangUpBefore") return void request.socket.destroy();
    if (trouble === "rateLimit")
      return send(response, failure(429, { type: "invalid_request_error", code: "lock_timeout" }));
    if (trouble === "badKey")
      return send(response, failure(401, { type: "invalid_request_error", code: "api_key_expired" }));
    const reply = makes
      ? underKey(String(request.headers["idempotency-key"]), parameters, trouble, () =>
          pathname === "/v1/refunds" ? createRefund(form) : createIntent(form),
        )
      : request.method === "POST"
        ? cancelIntent(pathname.split("/")[3] ?? "")
        : read(pathname, searchParams);
    await server.beforeAnswer();
    if (trouble === "hangUpAfter") return void request.socket.destroy();
    return send(response, reply);
  }

  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}

const BEHAVIOUR: Record<
  string,
  { status: Intent["status"]; error?: { code: string; decline_code?: string } }
> = {
  pm_ok: { status: "succeeded" },
  pm_processing: { status: "processing" },
  pm_action: { status: "requires_action" },
  pm_declined: {
    status: "requires_payment_method",
    error: { code: "card_declined", decline_code: "insufficient_funds" },
  },
  pm_auth: { status: "requires_payment_method", error: { code: "authentication_required" } },
};

const ok = (body: object): Reply => ({ status: 200, body });
const failure = (status: number, error: object): Reply => ({ status, body: { error } });
const API_ERROR = failure(500, { type: "api_error", message: "An unknown error occurred." });
const IDEMPOTENCY_ERROR = failure(400, { type: "idempotency_error", message: "Other parameters." });

const metadataOf = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value]];
    }),
  );

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_test" });
  response.end(JSON.stringify(body));
}
