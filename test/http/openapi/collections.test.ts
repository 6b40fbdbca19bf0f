import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { BRUNO_FILE, POSTMAN_FILE } from "../../../scripts/describe-collections.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { testKeyRoutes } from "../../../src/partner-api/test-keys.ts";
import { createKey, createPartner } from "../../support/builders.ts";
import { startServiceForTest } from "../../support/test-service.ts";

/** A request as either collection has it. */
type Sent = {
  name: string;
  method: string;
  path: string;
  parameters: Record<string, string>;
  body: string | null;
  isWithoutKey: boolean;
  script: string | null;
};
type Collection = { before: string; variables: string[]; requests: Sent[] };

function postman(): Collection {
  type Pair = { key: string; value: string };
  type Event = { script: { exec: string[] } }[];
  type Url = { path: string[]; variable: Pair[] };
  type Item = {
    name: string;
    event?: Event;
    request: { method: string; url: Url; body?: { raw: string }; auth?: { type: string } };
  };
  const read: { event: Event; variable: Pair[]; item: { item: Item[] }[] } = JSON.parse(
    readFileSync(POSTMAN_FILE, "utf8"),
  );
  const scriptOf = (event?: Event) => event?.flatMap(({ script }) => script.exec).join("\n") ?? null;
  return {
    before: scriptOf(read.event) ?? "",
    variables: read.variable.map(({ key }) => key),
    requests: read.item
      .flatMap(({ item }) => item)
      .map(({ name, event, request: { method, url, body, auth } }) => ({
        name,
        method,
        path: `/${url.path.join("/")}`,
        parameters: Object.fromEntries(url.variable.map(({ key, value }) => [key, value])),
        body: body?.raw ?? null,
        isWithoutKey: auth?.type === "noauth",
        script: scriptOf(event),
      })),
  };
}

function bruno(): Collection {
  type Pair = { name: string; value: string; type?: string };
  type Scripts = { scripts: { code: string }[] };
  type Item = {
    info: { name: string };
    http: { method: string; url: string; params: Pair[]; body?: { data: string }; auth?: "inherit" };
    runtime?: Scripts;
  };
  const read: {
    config: { environments: { variables: Pair[] }[] };
    request: Scripts & { variables: Pair[] };
    items: { items: Item[] }[];
  } = JSON.parse(readFileSync(BRUNO_FILE, "utf8"));
  const scriptOf = (scripts?: Scripts) => scripts?.scripts.map(({ code }) => code).join("\n") ?? null;
  return {
    before: scriptOf(read.request) ?? "",
    variables: [
      ...(read.config.environments[0]?.variables ?? []).map(({ name }) => name),
      ...read.request.variables.map(({ name }) => name),
    ],
    requests: read.items
      .flatMap(({ items }) => items)
      .map(({ info, http, runtime }) => ({
        name: info.name,
        method: http.method,
        path: http.url.replace("{{baseUrl}}", ""),
        parameters: Object.fromEntries(
          http.params.filter(({ type }) => type === "path").map(({ name, value }) => [name, value]),
        ),
        body: http.body?.data ?? null,
        isWithoutKey: http.auth !== "inherit",
        script: scriptOf(runtime),
      })),
  };
}

it("both collections have each route of the partner API once, and the same requests", () => {
  const requests = postman().requests.map(({ method, path }) => `${method} ${path}`);
  const routes = [...partnerRoutes, ...testKeyRoutes].map(
    ({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`,
  );
  expect(requests.toSorted()).toEqual(routes.toSorted());
  const withoutScripts = ({ requests: all, variables }: Collection) => ({
    requests: all.map((request) => ({ ...request, script: request.script !== null })),
    variables,
  });
  expect(withoutScripts(bruno())).toEqual(withoutScripts(postman()));
  expect(
    postman()
      .requests.filter(({ isWithoutKey }) => isWithoutKey)
      .map(({ name }) => name),
  ).toEqual(["Get a test key"]);
});

it.each([
  ["Postman", postman()],
  ["Bruno", bruno()],
])("can be sent as it is with a test key, request by request: %s", async (_, { before, requests }) => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const { key } = await createKey(test, partner.connectionId, { mode: "test" });
  const client = test.partner(key);
  const variables = new Map([["$timestamp", "1"]]);
  const set = (name: string, value: string) => variables.set(name, value);
  class ClockDate extends Date {
    static override now = () => test.clock.now().getTime();
  }
  /** Both programs run a script with the response, under names of their own. */
  const run = (script: string, response: unknown) =>
    runInNewContext(script, {
      pm: { variables: { set }, collectionVariables: { set }, response: { json: () => response } },
      bru: { setVar: set },
      res: { body: response },
      Date: ClockDate,
    });
  const filled = (text: string) =>
    text.replace(/\{\{([$\w]+)\}\}/g, (_all, name) => variables.get(name) ?? "?");
  const send = async ({ method, path, parameters, body, script }: Sent) => {
    run(before, null);
    const address = path.replace(/:(\w+)/g, (_all, name) => filled(parameters[name] ?? "?"));
    const given = body === null ? undefined : { body: JSON.parse(filled(body)) };
    const answer = await client.request(method, address, given);
    if (script !== null) run(script, answer.body);
    return answer.status;
  };
  // What the others need comes first, and what ends it last.
  const first = [
    "GET /v1/products",
    "POST /v1/webhook-endpoints",
    "POST /v1/orders",
    "GET /v1/deliveries",
    "GET /v1/events",
  ];
  const rankOf = ({ method, path }: Sent) => {
    const place = first.indexOf(`${method} ${path}`);
    if (place !== -1) return place;
    return method === "DELETE" || /\/(?:cancel|erase)$/.test(path) ? first.length + 1 : first.length;
  };
  const statuses: Record<string, number> = {};
  for (const request of requests.toSorted((one, other) => rankOf(one) - rankOf(other)))
    statuses[request.name] = await send(request);
  const failed = Object.entries(statuses).filter(([, status]) => status >= 400);
  // An outage that begins when it ends would leave out everything.
  expect(Date.parse(variables.get("anHourAgo") ?? "")).toBe(test.clock.now().getTime() - 3_600_000);
  expect(variables.has("key"), "a deployment without keys for everyone leaves the key as it is").toBe(false);
  expect(failed).toEqual([
    ["Report tracking of a shipment of a test order", 404], // One enters the id of a shipment.
    ["Get a test key", 404], // Only a demo offers keys to everyone.
    ["Lease deliveries of a pull endpoint", 422], // The endpoint of the collection is a push endpoint.
    ["Acknowledge leased deliveries", 422],
    ["Examine the receiver of a test endpoint", 404], // One enters the ids of an endpoint and of a certification.
    ["Get a certification", 404],
    ["Cancel an order", 409], // The transition before has accepted it.
    ["End a certification before its time", 404],
  ]);
});
