import type { Answer, Client } from "./test-service.ts";

/** Imports products of a merchant from CSV. @param match how rows without an id find their product */
export const importCsv = (
  client: Client,
  merchantId: string,
  csv: string | Buffer,
  { type = "text/csv", match }: { type?: string; match?: string } = {},
): Promise<Answer> =>
  client.request(
    "POST",
    `/api/merchants/${merchantId}/products/import${match === undefined ? "" : `?match=${match}`}`,
    { rawBody: csv, headers: { "content-type": type } },
  );

/** How many products an import created, changed and left as they were. */
export function countsOf({ body }: Answer): unknown {
  const { products: _, ...counts } = body;
  return counts;
}
