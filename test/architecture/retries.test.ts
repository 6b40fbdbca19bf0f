import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

/** The rows of docs/partners/retries.md that are about one operation. */
const ROWS: Readonly<Record<string, string>> = {
  "`POST /v1/orders/search`": "searchOrders",
  "creation of an order": "createOrder",
  cancel: "cancelOrder",
  "transition of a test order": "transitionTestOrder",
  "tracking of a test order": "trackTestShipment",
  "fault of a delivery of a test order": "armDeliveryFault",
  "erasure of a test order": "eraseTestOrder",
  "creation of a webhook endpoint": "createWebhookEndpoint",
  "change of an endpoint": "updateWebhookEndpoint",
  "`resume`": "resumeWebhookEndpoint",
  "`recover`": "recoverDeliveries",
  "deletion of an endpoint": "deleteWebhookEndpoint",
  "`rotate-secret`": "rotateWebhookSecret",
  "`ping`": "pingWebhookEndpoint",
  "`acknowledgements`": "acknowledgeDeliveries",
  "`redeliver`": "redeliverDelivery",
  "creation of a certification": "createCertification",
  "end of a certification": "cancelCertification",
  "message of an agent": "callMcp",
  "request of a test key": "createTestKey",
};

type Operation = { operationId: string; "x-retry": string };

it("docs/partners/retries.md has every operation with the class that the description gives it", async () => {
  const description = JSON.parse(await readFile("openapi/partner.json", "utf8"));
  const operations = Object.values<Record<string, Operation>>(description.paths).flatMap((path) =>
    Object.entries(path),
  );
  const page = await readFile("docs/partners/retries.md", "utf8");
  const rows = [...page.matchAll(/^\| (.+?) \| `([\w-]+)` \|/gm)];
  const documented = Object.fromEntries(rows.map(([, name = "", retry]) => [ROWS[name] ?? name, retry]));
  expect(documented).toEqual({
    "any `GET`": "repeat",
    ...Object.fromEntries(
      operations
        .filter(([method]) => method !== "get")
        .map(([, { operationId, "x-retry": retry }]) => [operationId, retry]),
    ),
  });
  expect(
    operations
      .filter(([method, operation]) => method === "get" && operation["x-retry"] !== "repeat")
      .map(([, { operationId }]) => operationId),
  ).toEqual([]);
  for (const [, operation] of operations)
    expect(Object.keys(description["x-retry"])).toContain(operation["x-retry"]);
});
