import type { Answer, Client } from "./test-service.ts";

/** Imports products of a merchant from CSV. @param match how rows without an id find their product */
export const importCsv = (
  client: Client,
  merchantId: string,
  csv: string | Buffer,
  {
    type = "text/csv",
    match,
    dryRun = false,
    progress = false,
  }: { type?: string; match?: string; dryRun?: boolean; progress?: boolean } = {},
): Promise<Answer> =>
  client.request(
    "POST",
    `/api/merchants/${merchantId}/products/import?${new URLSearchParams({
      ...(match && { match }),
      ...(dryRun && { dryRun: "true" }),
      ...(progress && { progress: "true" }),
    })}`,
    { rawBody: csv, headers: { "content-type": type } },
  );

/** How many products an import created, changed and left as they were. */
export function countsOf({ body }: Answer): unknown {
  const { products: _, ...counts } = body;
  return counts;
}
