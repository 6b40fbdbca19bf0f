import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { addRoute, type RouteOptions } from "../http/add-route.ts";
import { networkOf, problemWriter } from "../http/replies.ts";
import { type Route, routeTable } from "../http/route.ts";
import { type Connection, keyOf } from "../merchants/connection.ts";
import type { Context } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import { isProblem, noRoute, type Problem, pathOf } from "../platform/wire/problems.ts";
import { dateTime, idField } from "../platform/wire/schemas.ts";
import {
  createTestKey,
  findModel,
  KEYS_OF_NETWORK_MAX,
  type RequestedKey,
  type Requester,
} from "../self-service/test-keys.ts";

const TestKeySchema = Type.Object(
  {
    key: Type.String({
      description: "The key itself. It is shown only in this response.",
      examples: ["pok_test_5nRkbqjYb3VvXwqIyYtH0oZk2mAq8dUuJ1lPz7wFhCs"],
    }),
    id: idField("key", "Id of the key."),
    mode: Type.Literal("test", { description: "It places and changes test orders only." }),
    connectionId: idField(
      "con",
      "Id of the connection that was made for the key, and that no other key has.",
    ),
    createdAt: dateTime("When the key was made."),
    expiresAt: dateTime(
      "When the key ends. Its test orders and its endpoint are erased then. `GET /v1/me` shows it, too.",
    ),
  },
  { title: "RequestedTestKey", description: "A test key that was made without a person." },
);

const toWire = ({ key, issued, connection }: RequestedKey): Static<typeof TestKeySchema> => ({
  key,
  id: toTypeId("key", issued.id),
  mode: "test",
  connectionId: toTypeId("con", connection.id),
  createdAt: issued.createdAt.toISOString(),
  expiresAt: (issued.expiresAt ?? issued.createdAt).toISOString(), // It always has an end.
});

/** A stranger, and the connection whose products it may see. */
export type Stranger = Requester & { readonly model: Connection };

type Operations = { readonly context: Context };

const route = routeTable<Operations, Stranger>();

/** Only where SELF_SERVICE_TEST_KEYS offers it. See docs/design/isolation-and-limits.md, "Test keys without a person". */
export const testKeyRoutes: readonly Route<Operations>[] = [
  route({
    method: "POST",
    path: "/v1/test-keys",
    operationId: "createTestKey",
    tag: "Test keys",
    summary: "Get a test key",
    description: `Only on a deployment that offers it, such as a demo; elsewhere it is 404, and a person issues keys. The request needs no key, and its body is ignored. The new key has a connection of its own, with the products of the demo, for seven days. A network gets up to ${KEYS_OF_NETWORK_MAX} keys in 24 hours. The key can send 60 requests a minute, and have 100 test orders and one test endpoint at a time.`,
    responses: { 201: { description: "The key, which is returned only here.", schema: TestKeySchema } },
    problems: ["not-found", "limit-reached", "rate-limited"],
    handle: async ({ caller }, { context }) => {
      const created = await createTestKey(context, caller.model, caller);
      return isProblem(created) ? created : { status: 201, body: toWire(created) };
    },
  }),
];

/** Adds the route to the listener. The work counts as that of the model's merchant. */
export function addTestKeys(
  app: FastifyInstance,
  context: Context,
  options: Pick<RouteOptions<Operations, Stranger>, "metrics" | "operationsFor">,
): void {
  const problems = problemWriter(context.config.errorsBaseUrl);
  let model: Connection | null = null;
  async function authenticate(request: FastifyRequest): Promise<Stranger | Problem> {
    model ??= await findModel(context); // A connection that does not end never changes its merchant.
    if (model === null) return noRoute(request.method, pathOf(request.raw.url ?? "/"));
    return { model, network: networkOf(request), requestId: request.id };
  }
  for (const row of testKeyRoutes)
    addRoute(app, row, { ...options, name: "partner-api", authenticate }, problems);
}

/** The caller of a request is a stranger, and not a key. */
export const isStranger = (caller: object): caller is Stranger => "model" in caller;

/** Whose work a request of a stranger is. */
export const ownerOf = ({ model }: Stranger) => keyOf(model);
