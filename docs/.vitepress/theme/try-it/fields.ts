/** What a form begins with. Values that a response has shown are offered to the forms that need them. */

const PREFIXES: Readonly<Record<string, RegExp>> = {
  orderId: /"(test_[0-9a-z]{26})"/,
  endpointId: /"(whe_[0-9a-z]{26})"/,
  deliveryId: /"(dlv_[0-9a-z]{26})"/,
  eventId: /"(evt_[0-9a-z]{26})"/,
};

const seen = new Map<string, string>();

/** Remembers the first id of each kind in a response. */
export function rememberIds(body: string): void {
  for (const [parameter, pattern] of Object.entries(PREFIXES)) {
    const [, id] = pattern.exec(body) ?? [];
    if (id !== undefined) seen.set(parameter, id);
  }
}

export function firstValue(parameter: string, productId: string | null): string {
  return seen.get(parameter) ?? (parameter === "id" ? (productId ?? "") : "");
}

/** Bodies that the demo accepts with its test key. The examples of the description are those of a real shop. */
const BODIES: Readonly<Record<string, (example: Record<string, unknown>) => object>> = {
  createOrder: (example) => ({ ...example, testMode: true }),
  searchOrders: () => ({ limit: 10 }),
  transitionTestOrder: () => ({ transition: "process" }),
  createWebhookEndpoint: (example) => ({ ...example, mode: "test", url: "http://localhost:3000/webhooks" }),
  updateWebhookEndpoint: () => ({ maxInFlight: 8 }),
  recoverDeliveries: () => ({ since: new Date(Date.now() - 3_600_000).toISOString() }),
};

/** The body to begin with, formatted. Products of the example become one that the key can order. */
export function firstBody(operation: string, example: string, productId: string | null): string {
  const adapted = BODIES[operation]?.(JSON.parse(example)) ?? JSON.parse(example);
  return JSON.stringify(
    adapted,
    (name, value) => (name === "productId" && productId !== null ? productId : value),
    2,
  );
}

/** The path with its parameters and what is set of the query. */
export function pathOf(
  path: string,
  values: Readonly<Record<string, string>>,
  query: readonly string[],
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? ""));
  const set = query.flatMap((name) => (values[name] ? [[name, values[name]]] : []));
  return set.length === 0 ? filled : `${filled}?${new URLSearchParams(set)}`;
}
