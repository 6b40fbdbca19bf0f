import type { PartnerRequest } from "./partner-request.ts";

/** A command for a shell. The key is a placeholder: `KEY=pok_test_…` before it. */
export function toCurl(apiUrl: string, { method, path, body, needsKey = false }: PartnerRequest): string {
  const parts = [
    `curl ${method === "POST" ? "-X POST " : ""}${quoted(`${apiUrl}${path}`)}`,
    '-H "Authorization: Bearer $KEY"',
    ...(needsKey ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return parts.join(" \\\n  ");
}

/** A word of the shell: nothing in it is replaced. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
