import type { PartnerRequest } from "./partner-request.ts";

/** A program for Node 20 and later. The key is a placeholder: the variable `KEY` of the environment. */
export function toTypeScript(
  apiUrl: string,
  { method, path, body, needsKey = false }: PartnerRequest,
): string {
  const headers = [
    '    authorization: "Bearer " + process.env.KEY,',
    ...(needsKey ? ['    "idempotency-key": crypto.randomUUID(),'] : []),
    ...(body === undefined ? [] : ['    "content-type": "application/json",']),
  ];
  return [
    `const response = await fetch(${JSON.stringify(`${apiUrl}${path}`)}, {`,
    `  method: "${method}",`,
    "  headers: {",
    ...headers,
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`]),
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    "console.log(await response.json());",
    "",
  ].join("\n");
}

const indented = (text: string): string => text.replaceAll("\n", "\n  ");
