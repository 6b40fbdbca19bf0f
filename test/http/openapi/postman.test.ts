import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { POSTMAN_FILE } from "../../../scripts/describe-postman.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { createKey, createPartner } from "../../support/builders.ts";
import { startServiceForTest } from "../../support/test-service.ts";

type Pair = { key: string; value: string };
type Item = {
  name: string;
  event?: { script: { exec: string[] } }[];
  request: {
    method: string;
    url: { path: string[]; variable: Pair[] };
    body?: { raw: string };
  };
};

const COLLECTION: {
  event: { script: { exec: string[] } }[];
  variable: Pair[];
  item: { name: string; item: Item[] }[];
} = JSON.parse(readFileSync(POSTMAN_FILE, "utf8"));
const ITEMS = COLLECTION.item.flatMap(({ item }) => item);

it("has each route of the partner API that takes a key once", () => {
  const requests = ITEMS.map(({ request: { method, url } }) => `${method} /${url.path.join("/")}`);
  const routes = partnerRoutes.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`);
  expect(requests.toSorted()).toEqual(routes.toSorted());
});

it("can be sent as it is with a test key, request by request", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const { key } = await createKey(test, partner.connectionId, { mode: "test" });
  const client = test.partner(key);
  const variables = new Map(COLLECTION.variable.map(({ key: name, value }) => [name, value]));
  variables.set("$timestamp", "1");
  const pm = { variables: { set: (name: string, value: string) => variables.set(name, value) } };
  class ClockDate extends Date {
    static override now = () => test.clock.now().getTime();
  }
  for (const { script } of COLLECTION.event) runInNewContext(script.exec.join("\n"), { pm, Date: ClockDate });
  const filled = (text: string) =>
    text.replace(/\{\{([$\w]+)\}\}/g, (_all, name) => variables.get(name) ?? "?");
  const send = async ({ event, request: { method, url, body } }: Item) => {
    const parameters = new Map(url.variable.map(({ key: name, value }) => [`:${name}`, filled(value)]));
    const path = `/${url.path.map((part) => parameters.get(part) ?? part).join("/")}`;
    const answer = await client.request(method, path, body && { body: JSON.parse(filled(body.raw)) });
    const [, name = "", from = ""] =
      /set\("(\w+)", pm\.response\.json\(\)(\S*?)\??\.id\b/.exec(event?.[0]?.script.exec[0] ?? "") ?? [];
    if (name !== "") variables.set(name, (from === "" ? answer.body : answer.body.data[0])?.id ?? "none");
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
  const rankOf = ({ request: { method, url } }: Item) => {
    const path = `/${url.path.join("/")}`;
    const place = first.indexOf(`${method} ${path}`);
    if (place !== -1) return place;
    return method === "DELETE" || /\/(?:cancel|erase)$/.test(path) ? first.length + 1 : first.length;
  };
  const statuses: Record<string, number> = {};
  for (const item of ITEMS.toSorted((one, other) => rankOf(one) - rankOf(other)))
    statuses[item.name] = await send(item);
  const failed = Object.entries(statuses).filter(([, status]) => status >= 400);
  // An outage that begins when it ends would leave out everything.
  expect(Date.parse(variables.get("anHourAgo") ?? "")).toBe(test.clock.now().getTime() - 3_600_000);
  expect(failed).toEqual([
    ["Report tracking of a shipment of a test order", 404], // One enters the id of a shipment.
    ["Lease deliveries of a pull endpoint", 422], // The endpoint of the collection is a push endpoint.
    ["Acknowledge leased deliveries", 422],
    ["Examine the receiver of a test endpoint", 404], // One enters the ids of an endpoint and of a certification.
    ["Get a certification", 404],
    ["Cancel an order", 409], // The transition before has accepted it.
    ["End a certification before its time", 404],
  ]);
});
