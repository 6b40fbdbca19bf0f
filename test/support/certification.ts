import type { ServerResponse } from "node:http";
import { type HandledOrder, webhooks } from "../../packages/sdk/src/index.ts";
import type { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import type { Partner } from "./builders.ts";
import { sendDue } from "./dispatch.ts";
import { runJob } from "./jobs.ts";
import type { ReceivedRequest } from "./receivers.ts";
import type { Answer, TestService } from "./test-service.ts";

export const CERTIFICATIONS = "/v1/test/certifications";

/** What a program of a partner stores, and the endpoint that it receives the events of. */
export type Program = {
  secret: string;
  readonly orders: Map<string, HandledOrder>;
  readonly handler: (request: ReceivedRequest, response: ServerResponse) => void;
};

type Respond = (program: Program, request: ReceivedRequest) => Promise<{ status: number; body?: unknown }>;

function programOf(respond: Respond): Program {
  const program: Program = {
    secret: "",
    orders: new Map(),
    handler: (request, response) => {
      respond(program, request).then(
        ({ status, body }) => response.writeHead(status).end(body === undefined ? "" : JSON.stringify(body)),
        () => response.writeHead(500).end(),
      );
    },
  };
  return program;
}

/** Does all that the documentation says, with the SDK. */
export function goodProgram({ clock }: Pick<TestService, "clock">): Program {
  const known = new Set<string>();
  return programOf(async ({ secret, orders }, request) => {
    const now = clock.now().getTime();
    const event = await webhooks.verify(request, secret, { now }).catch(() => null);
    if (event === null) return { status: 401 };
    if (event.type === "webhook.ping")
      return { status: 200, body: await webhooks.answer(event, secret, (id) => orders.get(id) ?? null) };
    const { sequence } = event;
    if (known.has(event.id) || event.type === "unknown" || sequence === null || !("order" in event.data))
      return { status: 200 };
    known.add(event.id);
    const { id, status } = event.data.order;
    const before = orders.get(id);
    if (before === undefined || before.sequence < sequence)
      orders.set(id, { status, sequence, handled: (before?.handled ?? 0) + 1 });
    return { status: 200 };
  });
}

/** Believes everything, knows no duplicates, lets the last message win, and is slow. */
export function naiveProgram(delayMs: number): Program {
  return programOf(async ({ secret, orders }, { body }) => {
    const event = JSON.parse(body);
    if (event.type === "webhook.ping")
      return { status: 200, body: await webhooks.answer(event, secret, (id) => orders.get(id) ?? null) };
    await new Promise((resolve) => setTimeout(resolve, delayMs)); // What it does before it responds.
    const { id, status } = event.data.order;
    const handled = (orders.get(id)?.handled ?? 0) + 1;
    orders.set(id, { status, sequence: event.sequence, handled });
    return { status: 200 };
  });
}

/** Runs a certification to its end: a worker and a dispatcher do what is due, and the clock moves on. */
export async function followRun(
  test: TestService,
  dispatcher: Dispatcher,
  { client }: Pick<Partner, "client">,
  certificationId: string,
): Promise<Answer["body"]> {
  for (let step = 0; step < 400; step += 1) {
    await runJob(test, "advance-certifications");
    await sendDue(dispatcher);
    const { body } = await client.get(`${CERTIFICATIONS}/${certificationId}`);
    if (body.finishedAt !== null) return body;
    if (body.phase === "lost-creation") test.clock.advance({ minutes: 10 });
    else test.clock.advance({ seconds: step < 40 ? 1 : 15 }); // What has not happened by then does not.
  }
  throw new Error("The run has no end.");
}

/** Results by check. */
export const resultsOf = ({ checks }: Answer["body"]): Record<string, string> =>
  Object.fromEntries(checks.map(({ check, result }: { check: string; result: string }) => [check, result]));

export const seenOf = ({ checks }: Answer["body"], name: string): string =>
  checks.find(({ check }: { check: string }) => check === name).seen;
