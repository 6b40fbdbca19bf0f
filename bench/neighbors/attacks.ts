import { connect } from "node:net";
import {
  answerAfter,
  answerAtOnce,
  endlessChunkExtension,
  endlessEarlyHints,
  endlessHeaderFields,
  type HostileReceiver,
} from "./hostile-receivers.ts";
import { made, orderBody, type PartnerAccess, type PartnerClient } from "./partner-client.ts";

/** The equipment of an attack: a partner with one key, within the allowance of its connection. */
type Attacker = PartnerAccess & {
  client: PartnerClient;
  /** A client with another key or token. */
  another(change: Partial<Pick<PartnerAccess, "url" | "key">>): PartnerClient;
  /** Calls `request` a hundred times at once, then ten times a second, whatever the responses take, until it is stopped. */
  attack(request: (count: number) => Promise<unknown>): Promise<void>;
  receiver(behavior: HostileReceiver): Promise<string>;
};

export type Attack = {
  name: string;
  /** Rows that the database gets first, in place of hours of requests. `$1` and `$2`: the attacker's merchant and connection; `$3`: how many. */
  seed?: { text: string; rows: number };
  /** The attacker has another key of the connection that it attacks. Otherwise it is another merchant. */
  isOfVictim?: boolean;
  run(attacker: Attacker): Promise<void>;
};

const endpoints = async (attacker: Attacker, count: number, url: (index: number) => string, change = {}) => {
  for (let index = 0; index < count; index += 1) {
    await attacker.client("POST", "/v1/webhook-endpoints", { url: url(index), ...change });
  }
};

const order = (attacker: Attacker, count: number, change: object = {}) =>
  attacker.client("POST", "/v1/orders", orderBody(attacker.productIds, `attack-${count}`, change));

const orders = (attacker: Attacker, change: object = {}) =>
  attacker.attack((count) => order(attacker, count, change));

const transition = (attacker: Attacker, id: string, body: object) =>
  attacker.client("POST", `/v1/test/orders/${id}/transitions`, body);

/** A catalog whose export no client keeps without reading it. */
const LONG_TEXTS = `
  insert into products (id, merchant_id, sku, name, description, price_minor, currency, status, created_at, updated_at)
  select gen_random_uuid(), $1, 'LONG-' || n, 'N', repeat('long ', 1000), 100, 'EUR', 'active', now(), now()
  from generate_series(1, $3) n`;

/** Endpoints that receive each product, and products that are not exposed yet. */
const MANY_ENDPOINTS = `
  insert into webhook_owners (merchant_id, connection_id, last_endpoint_number) values ($1, $2, 0) on conflict do nothing;
  insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, in_flight_max, created_at, updated_at)
  select $1, $2, gen_random_uuid(), 1000 + n, 'http://127.0.0.1:9/', '{product.published}', 'active', 8, now(), now()
  from generate_series(1, 200) n;
  insert into products (id, merchant_id, sku, name, price_minor, currency, status, created_at, updated_at)
  select gen_random_uuid(), $1, 'NEW-' || n, 'N', 100, 'EUR', 'active', now(), now()
  from generate_series(1, $3) n`;

/** A log of many deliveries, none of which failed. */
const LONG_LOG = `
  insert into webhook_owners (merchant_id, connection_id, last_endpoint_number) values ($1, $2, 0) on conflict do nothing;
  insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, in_flight_max, created_at, updated_at)
  values ($1, $2, '019a0000-0000-7000-8000-000000000001', 1000, 'http://127.0.0.1:9/', '{order.created}', 'active', 8, now(), now());
  insert into deliveries (merchant_id, connection_id, id, endpoint_id, event_id, event_type, stream_id, status)
  select $1, $2, e.id, '019a0000-0000-7000-8000-000000000001', e.id, 'order.created', e.id, 'succeeded'
  from (select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid as id
        from generate_series(1, $3) n) e;
  analyze deliveries`;

const DELETED_ENDPOINTS = `
  insert into webhook_owners (merchant_id, connection_id, last_endpoint_number) values ($1, $2, 0) on conflict do nothing;
  insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, in_flight_max, created_at, updated_at)
  select $1, $2, gen_random_uuid(), 1000 + n, 'http://127.0.0.1:9/', '{order.created}', 'deleted', 8, now(), now()
  from generate_series(1, $3) n`;

export const ATTACKS: readonly Attack[] = [
  { name: "nothing", run: () => Promise.resolve() },
  {
    name: "orders with an allowance used up",
    run: (attacker) => orders(attacker),
  },
  {
    name: "orders of a hundred lines",
    run: (attacker) =>
      orders(attacker, {
        lines: Array.from({ length: 100 }, () => ({ productId: attacker.productIds[0], quantity: 1 })),
      }),
  },
  {
    name: "bodies with a hundred thousand errors",
    run: (attacker) =>
      attacker.attack(() => attacker.client("POST", "/v1/orders", `{"lines":[${"{},".repeat(86_000)}{}]}`)),
  },
  {
    name: "names of lines that do not exist",
    async run(attacker) {
      const lines = Array.from({ length: 100 }, () => ({ productId: attacker.productIds[0], quantity: 1 }));
      await order(attacker, 0, { testMode: true, lines });
      const lineIds = Array.from({ length: 100 }, (_, index) => `line_zzzzzzzzzzzzzzzzzzzzzzzz${index}`);
      await attacker.attack(() => transition(attacker, "attack-0", { transition: "ship", lineIds }));
    },
  },
  {
    name: "one key by a hundred requests at once",
    run: (attacker) => attacker.attack(() => order(attacker, 0)),
  },
  {
    name: "transitions of one order, with a hundred endpoints",
    async run(attacker) {
      const url = await attacker.receiver(answerAtOnce);
      await endpoints(attacker, 100, (index) => `${url}/${index}`);
      await order(attacker, 0, { testMode: true });
      await attacker.attack((count) =>
        transition(attacker, "attack-0", { transition: count % 2 === 0 ? "hold" : "releaseHold" }),
      );
    },
  },
  {
    name: "a long delivery log by status",
    seed: { text: LONG_LOG, rows: 300_000 },
    run: (attacker) => attacker.attack(() => attacker.client("GET", "/v1/deliveries?status=failed&limit=1")),
  },
  {
    name: "the event feed by a rare type",
    async run(attacker) {
      await attacker.attack(() => attacker.client("GET", "/v1/events?type=order.onHold&limit=1"));
    },
  },
  {
    name: "two hundred thousand deleted endpoints",
    seed: { text: DELETED_ENDPOINTS, rows: 200_000 },
    run: (attacker) => orders(attacker),
  },
  {
    name: "receivers that answer 103 without end",
    async run(attacker) {
      const url = await attacker.receiver(endlessEarlyHints);
      await endpoints(attacker, 40, (index) => `${url}/${index}`);
      await attacker.attack((count) => (count < 20 ? order(attacker, count) : Promise.resolve()));
    },
  },
  {
    name: "receivers that send a chunk without end",
    async run(attacker) {
      const url = await attacker.receiver(endlessChunkExtension);
      await endpoints(attacker, 40, (index) => `${url}/${index}`);
      await attacker.attack((count) => (count < 20 ? order(attacker, count) : Promise.resolve()));
    },
  },
  {
    name: "receivers that send header fields without end",
    async run(attacker) {
      const url = await attacker.receiver(endlessHeaderFields);
      await endpoints(attacker, 30, (index) => `${url}/${index}`);
      await attacker.attack((count) => (count < 20 ? order(attacker, count) : Promise.resolve()));
    },
  },
  {
    name: "a hundred slow endpoints with a hundred requests in flight each",
    async run(attacker) {
      const url = await attacker.receiver(answerAfter(14_000));
      await endpoints(attacker, 100, (index) => `${url}/${index}`, { maxInFlight: 100 });
      await orders(attacker);
    },
  },
  {
    name: "endpoints whose names do not resolve",
    async run(attacker) {
      await endpoints(attacker, 50, (index) => `http://w${index}.unreachable.invalid/`);
      await orders(attacker);
    },
  },
  {
    name: "registrations of names that do not resolve",
    run: (attacker) =>
      attacker.attack((count) =>
        attacker.client("POST", "/v1/webhook-endpoints", { url: `http://r${count}.unreachable.invalid/` }),
      ),
  },
  {
    name: "endpoints that are created and deleted",
    run: (attacker) =>
      attacker.attack(async () => {
        const { status, text } = await attacker.client("POST", "/v1/webhook-endpoints", {
          url: "http://127.0.0.1:9/",
        });
        if (status !== 201) return;
        const { id } = JSON.parse(text) as { id: string };
        await attacker.client("DELETE", `/v1/webhook-endpoints/${id}`);
      }),
  },
  {
    name: "redeliveries of one delivery",
    async run(attacker) {
      const url = await attacker.receiver(answerAtOnce);
      await endpoints(attacker, 1, () => url);
      await order(attacker, 0);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { text } = await attacker.client("GET", "/v1/deliveries");
      const { data } = JSON.parse(text) as { data: { id: string }[] }; // The list of deliveries.
      await attacker.attack((count) =>
        count % 2 === 0
          ? attacker.client("POST", `/v1/deliveries/${data[0]?.id}/redeliver`)
          : attacker.client("GET", "/v1/deliveries"),
      );
    },
  },
  {
    name: "four hundred sockets with a body that never ends",
    async run(attacker) {
      const { hostname, port } = new URL(attacker.url);
      const head =
        "POST /v1/orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{";
      const sockets = Array.from({ length: 400 }, () => {
        const socket = connect(Number(port), hostname, () => socket.write(head));
        return socket.on("error", () => undefined); // The service may close it at any time.
      });
      await attacker.attack(async () => {
        for (const socket of sockets) if (!socket.destroyed) socket.write(" ");
      });
    },
  },
  {
    name: "three thousand requests at once on each of sixty sockets",
    async run(attacker) {
      const { hostname, port } = new URL(attacker.url);
      const requests =
        `GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${attacker.key}\r\n\r\n`.repeat(3_000);
      const open = () => {
        const socket = connect(Number(port), hostname, () => socket.write(requests));
        socket.on("error", () => undefined).pause(); // It reads no responses, and the service may close it at any time.
      };
      for (let index = 0; index < 50; index += 1) open();
      await attacker.attack(async (count) => {
        if (count % 10 === 0) open();
      });
    },
  },
  {
    name: "test orders of the same connection",
    isOfVictim: true,
    async run(attacker) {
      const path = `/api/connections/${attacker.backOffice.connectionId}/keys`;
      const { key = "" } = await made(attacker, path, { mode: "test" });
      const test = attacker.another({ key });
      await attacker.attack((count) =>
        Promise.all(
          Array.from({ length: 5 }, (_, index) =>
            test("POST", "/v1/orders", orderBody(attacker.productIds, `attack-${count}-${index}`)),
          ),
        ),
      );
    },
  },
  {
    name: "reads of a merchant's five programs",
    async run(attacker) {
      const clients = await programs(attacker, 5);
      const paths = ["/api/orders?limit=100", "/api/orders?q=attack&limit=100", "/api/overview?days=7"];
      await attacker.attack((count) =>
        Promise.all(clients.map((client) => client("GET", paths[count % paths.length] ?? ""))),
      );
    },
  },
  {
    name: "writes of a merchant's five programs",
    async run(attacker) {
      const clients = await programs(attacker, 5);
      const path = `/api/merchants/${attacker.backOffice.merchantId}/products`;
      await attacker.attack((count) =>
        Promise.all(
          clients.map((client, index) =>
            client("POST", path, { sku: `P-${count}-${index}`, name: "Product", price: { amount: "1.00" } }),
          ),
        ),
      );
    },
  },
  {
    name: "imports without end",
    async run(attacker) {
      const rows = Array.from({ length: 60_000 }, (_, row) => `SKU-${row},Name,1.00\n`).join("");
      const path = "/api/merchants/{merchant}/products/import?match=sku";
      await attacker.attack((count) =>
        finished(atBackOffice(attacker, "POST", path, `sku,name,price\n${rows}X,${count},1\n`, "text/csv")),
      );
    },
  },
  {
    name: "exports that are not read",
    seed: { text: LONG_TEXTS, rows: 10_000 },
    run: (attacker) =>
      attacker.attack(() =>
        atBackOffice(attacker, "GET", "/api/merchants/{merchant}/products/export", "").catch(() => undefined),
      ),
  },
  {
    name: "bulk exposure to two hundred endpoints",
    seed: { text: MANY_ENDPOINTS, rows: 20_000 },
    run: (attacker) =>
      attacker.attack(() =>
        finished(
          atBackOffice(attacker, "POST", "/api/connections/{connection}/products/expose", '{"filter":{}}'),
        ),
      ),
  },
];

/** The attacks with one of these texts in their names. */
export const attacksOf = (texts: readonly string[]): Attack[] =>
  ATTACKS.filter(({ name }) => texts.some((text) => name.includes(text)));

/** Programs of the attacker's merchant, each with a token of its own. */
async function programs(attacker: Attacker, count: number): Promise<PartnerClient[]> {
  const { url, merchantId } = attacker.backOffice;
  const clients: PartnerClient[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { name: `Program ${index}`, role: "merchant", merchantIds: [merchantId] };
    const { token = "" } = await made(attacker, "/api/tokens", body);
    clients.push(attacker.another({ url, key: token }));
  }
  return clients;
}

/** A request of the attacker's merchant to the back office. */
function atBackOffice(
  { backOffice: { url, token, merchantId, connectionId } }: Attacker,
  method: string,
  path: string,
  body: string,
  type = "application/json",
): Promise<Response> {
  return fetch(url + path.replace("{merchant}", merchantId).replace("{connection}", connectionId), {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": type },
    ...(body !== "" && { body }),
  });
}

/** Reads the response to the end, and ignores a connection that the service has closed. */
const finished = (response: Promise<Response>): Promise<unknown> =>
  response.then((answer) => answer.text()).catch(() => undefined);

/** The statement that stores the rows of an attack. */
export const seedOf = (
  { text, rows }: { text: string; rows: number },
  { merchantId, connectionId }: { merchantId: string; connectionId: string },
): string =>
  text
    .replaceAll("$1", `'${merchantId}'`)
    .replaceAll("$2", `'${connectionId}'`)
    .replaceAll("$3", String(rows));
