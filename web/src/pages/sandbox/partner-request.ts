/** A request of the partner API, as a partner's program would send it. */
export type PartnerRequest = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  /** The request creates something: a key of its own lets the program retry it. */
  readonly needsKey?: boolean;
  /** What the request itself rehearses. */
  readonly fault?: "lost-response";
};

type Address = Readonly<Record<string, string | null | undefined>>;

type Ordered = {
  readonly externalOrderId?: string | null | undefined;
  readonly shippingAddress: Address;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  readonly note?: string | null | undefined;
  readonly metadata?: object | null | undefined;
};

/** The request that creates a test order like this one. Fields without a value are left out. */
export function creationOf({
  externalOrderId,
  shippingAddress,
  lines,
  note,
  metadata,
}: Ordered): PartnerRequest {
  const hasMetadata = metadata != null && Object.keys(metadata).length > 0;
  return {
    method: "POST",
    path: "/v1/orders",
    needsKey: !externalOrderId,
    body: {
      testMode: true,
      ...(externalOrderId && { externalOrderId }),
      lines: lines.map(({ productId, quantity }) => ({ productId, quantity })),
      shippingAddress: given(shippingAddress),
      ...(note && { note }),
      ...(hasMetadata && { metadata }),
    },
  };
}

/** A transition with its fields, such as `{ transition: "ship", carrier: "DHL" }`. */
export const transitionOf = (orderId: string, body: { readonly transition: string }): PartnerRequest => ({
  method: "POST",
  path: `/v1/test/orders/${encodeURIComponent(orderId)}/transitions`,
  body,
});

/** The cancel of real orders, which works on test orders as well. */
export const cancelOf = (orderId: string): PartnerRequest => ({
  method: "POST",
  path: `/v1/orders/${encodeURIComponent(orderId)}/cancel`,
});

export const readingOf = (orderId: string): PartnerRequest => ({
  method: "GET",
  path: `/v1/orders/${encodeURIComponent(orderId)}`,
});

/** Arms a fault with its fields, such as `{ fault: "dropped", attempts: 2 }`. */
export const faultOf = (orderId: string, body: { readonly fault: string }): PartnerRequest => ({
  method: "POST",
  path: `/v1/test/orders/${encodeURIComponent(orderId)}/delivery-faults`,
  body,
});

/** Examines the receiver of a test endpoint. */
export const certificationOf = (endpointId: string): PartnerRequest => ({
  method: "POST",
  path: "/v1/test/certifications",
  body: { endpointId },
});

/** An address that every connection accepts, unless its review policy names countries. */
export const EXAMPLE_ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James Square",
  zip: "SW1Y 4JH",
  city: "London",
  stateCode: "",
  countryCode: "GB",
};

/** The creation that a certification waits for. Its response is lost, so it is sent twice. */
export const lostCreationOf = (externalOrderId: string, productId: string): PartnerRequest => ({
  ...creationOf({ externalOrderId, lines: [{ productId, quantity: 1 }], shippingAddress: EXAMPLE_ADDRESS }),
  fault: "lost-response",
});

/** The service makes a full name of the two others if the request has none. */
const given = ({ name, ...address }: Address): object => {
  const isMade = name === `${address["firstName"]} ${address["lastName"]}`;
  return Object.fromEntries(
    Object.entries({ ...address, ...(!isMade && { name }) }).filter(
      ([, value]) => value != null && value !== "",
    ),
  );
};

/** A command for a shell. The key is a placeholder: `KEY=pok_test_…` before it. */
export function toCurl(
  apiUrl: string,
  { method, path, body, needsKey = false, fault }: PartnerRequest,
): string {
  const parts = [
    `curl ${method === "POST" ? "-X POST " : ""}${quoted(`${apiUrl}${path}`)}`,
    '-H "Authorization: Bearer $KEY"',
    ...(needsKey ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(fault === undefined ? [] : [`-H 'Test-Fault: ${fault}'`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return parts.join(" \\\n  ");
}

/** A word of the shell: nothing in it is replaced. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A program for Node 20 and later. The key is a placeholder: the variable `KEY` of the environment. */
export function toTypeScript(
  apiUrl: string,
  { method, path, body, needsKey = false, fault }: PartnerRequest,
): string {
  const headers = [
    '    authorization: "Bearer " + process.env.KEY,',
    ...(needsKey ? ['    "idempotency-key": crypto.randomUUID(),'] : []),
    ...(fault === undefined ? [] : [`    "test-fault": "${fault}",`]),
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
