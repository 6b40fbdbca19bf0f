import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { operationIn } from "../../../web/src/pages/operation/operation-names.ts";
import { audited as de } from "../../../web/src/text/audited.de.ts";
import { audited as en } from "../../../web/src/text/audited.en.ts";

type Description = { readonly paths: Record<string, Record<string, { readonly operationId?: string }>> };

/** The operations of both listeners that change something, which the audit log records. */
async function readChanges(): Promise<string[]> {
  const files = ["openapi/back-office.json", "openapi/partner.json"];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts
    .map((text): Description => JSON.parse(text))
    .flatMap(({ paths }) => Object.values(paths))
    .flatMap((methods) => Object.entries(methods))
    .flatMap(([method, { operationId }]) => (method === "get" ? [] : (operationId ?? [])));
}

it("each operation that the audit log records has a name in both languages", async () => {
  const changes = await readChanges();
  expect(changes.length).toBeGreaterThan(100);
  // Reads of orders, which are GET, and what the service does itself.
  const others = [
    "getOrder",
    "listOrders",
    "search",
    "listMerchantEvents",
    "getFacilityDelivery",
    "signInFailed",
  ];
  for (const names of [en, de])
    expect([...changes, ...others].filter((action) => operationIn(names, action) === null)).toEqual([]);
  expect(operationIn(en, "pauseMerchantWebhookEndpoint")).toEqual({
    operation: "Pause webhook endpoint",
    owner: "Merchant",
  });
});
