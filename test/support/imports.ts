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
    asWritten = false,
    skipInvalid = false,
  }: {
    type?: string;
    match?: string;
    dryRun?: boolean;
    progress?: boolean;
    asWritten?: boolean;
    skipInvalid?: boolean;
  } = {},
): Promise<Answer> =>
  client.request(
    "POST",
    `/api/merchants/${merchantId}/products/import?${new URLSearchParams({
      ...(match && { match }),
      ...(dryRun && { dryRun: "true" }),
      ...(progress && { progress: "true" }),
      ...(asWritten && { asWritten: "true" }),
      ...(skipInvalid && { skipInvalid: "true" }),
    })}`,
    { rawBody: csv, headers: { "content-type": type } },
  );

/** How many products an import created, changed and left as they were. */
export const countsOf = ({ body: { created, changed, unchanged } }: Answer): unknown => ({
  created,
  changed,
  unchanged,
});
