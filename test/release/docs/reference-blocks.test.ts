import { globSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readDescription, routesOf } from "../../../scripts/docs/generated/description.ts";
import { referencePages } from "../../../scripts/docs/generated/reference-pages.ts";
import { stageSections } from "../../../scripts/docs/stage.ts";
import { createReader, type Reader, runShell, variablesOf } from "../../support/block-runs.ts";
import { type CodeBlock, codeBlocksOf, PAGES } from "../../support/code-blocks.ts";
import { type Demo, startDemo } from "../../support/demo.ts";
import { startReceiver } from "../../support/receivers.ts";

const ROUTES = routesOf(readDescription("partner"));

/** The commands of the reference, each with the route that is above it. */
const COMMANDS = referencePages().flatMap(({ text }) => {
  let route = "";
  return codeBlocksOf(text).flatMap((block): [string, CodeBlock][] => {
    if (block.language === "http") route = block.code.trim();
    return block.language === "sh" ? [[route, block]] : [];
  });
});

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

describe("the reference of the partner API", () => {
  it("has a command for each route", () =>
    expect(COMMANDS.map(([route]) => route).toSorted()).toEqual(
      ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted(),
    ));

  it.each(COMMANDS)("%s: the command runs with a test key", async (name, block) => {
    const reader = await createReader(demo);
    const { statuses } = await runShell([block], reader, { environment: await idsOf(reader, name) });
    const route = ROUTES.find(({ method, path }) => `${method} ${path}` === name);
    const successes = Object.keys(route?.operation.responses ?? {}).filter((status) =>
      status.startsWith("2"),
    );
    expect(statuses.length).toBe(1);
    // `npm start` offers no key to strangers.
    const expected = route?.operation.security?.length === 0 ? [404] : successes.map(Number);
    expect(expected).toContain(statuses[0]);
  });
});

/** Routes that need another endpoint than the others. */
const OF_PULL = /\/(?:deliveries|acknowledgements)$/;

/** An order, an endpoint, and an event with its delivery of the reader, and the variables of the commands that name them. */
async function idsOf(reader: Reader, route: string): Promise<Record<string, string>> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const variables = variablesOf(reader);
  const post = async (path: string, body: object) => {
    const response = await fetch(`${demo.api}/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${variables["KEY"]}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.ok, path).toBe(true);
    return (await response.json()) as { id: string; shipments?: { id: string }[] }; // As the API describes it.
  };
  const pull = OF_PULL.test(route) ? await post("/webhook-endpoints", { kind: "pull", mode: "test" }) : null;
  const endpoint = await post("/webhook-endpoints", { url: receiver.url, mode: "test" });
  const order = await post("/orders", {
    externalOrderId: "of-the-reference",
    testMode: true,
    lines: [{ productId: variables["PRODUCT"], quantity: 1 }],
    shippingAddress: {
      firstName: "Ada",
      lastName: "Lovelace",
      address1: "1",
      city: "London",
      zip: "1",
      countryCode: "GB",
    },
  });
  await receiver.waitFor(1);
  const delivery = await deliveryOf(variables, endpoint.id);
  const { shipments = [] } = route.endsWith("/tracking")
    ? await post(`/test/orders/${order.id}/transitions`, { transition: "ship" })
    : {};
  const { id: certification = "" } = route.includes("{certificationId}")
    ? await post("/test/certifications", { endpointId: endpoint.id })
    : {};
  return {
    ...variables,
    CERTIFICATION_ID: certification,
    ID: variables["PRODUCT"] ?? "",
    ORDER_ID: order.id,
    SHIPMENT_ID: shipments[0]?.id ?? "",
    ENDPOINT_ID: (pull ?? endpoint).id,
    EVENT_ID: delivery.eventId,
    DELIVERY_ID: delivery.id,
  };
}

async function deliveryOf(variables: Record<string, string>, endpoint: string) {
  const response = await fetch(`${demo.api}/v1/deliveries?endpointId=${endpoint}`, {
    headers: { authorization: `Bearer ${variables["KEY"]}` },
  });
  const { data } = (await response.json()) as { data: [{ id: string; eventId: string }] }; // The one that was received.
  return data[0];
}

describe("the Markdown of the site", () => {
  /** What the generators write; other tests compare them with the schemas and the routes. */
  const isGenerated = (path: string, { language, label }: CodeBlock): boolean =>
    (path.startsWith("api/") && ["http", "sh", "json"].includes(language)) ||
    (/^(?:errors|partners\/events)/.test(path) && language === "json" && label === "");

  it("has no block of code but those of the pages and of the reference", async () => {
    const written = new Set(PAGES.flatMap(({ blocks }) => blocks.map(({ code }) => code)));
    const pages = (await stageSections("all")).flatMap((section) => section.pages);
    const others = pages.flatMap(({ path, text }) =>
      codeBlocksOf(text)
        .filter((block) => !written.has(block.code) && !isGenerated(path, block))
        .map(({ code }) => `${path}: ${code.split("\n", 1)}`),
    );
    expect(others).toEqual([]);
    expect(pages.length).toBeGreaterThan(50);
    for (const list of globSync("dist/docs/llms.txt"))
      expect(codeBlocksOf(readFileSync(list, "utf8"))).toEqual([]);
  });
});
