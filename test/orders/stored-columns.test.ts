import type { TSchema } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OrderRequestSchema } from "../../src/orders/creation/order-request.ts";
import { parseOrderRef, toWireOrder } from "../../src/orders/order-wire.ts";
import { orderReader } from "../../src/orders/reading/read-order.ts";
import { createPartner, type Partner, readEvents } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { processDuePayments } from "../support/payments.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

/**
 * Columns with what a partner, the warehouse or a merchant says about a buyer. The erasure of personal data changes them, and the
 * tests below look whether it does.
 */
const ERASED: Readonly<Record<string, readonly string[]>> = {
  order_requests: [
    ...[
      "first_name",
      "last_name",
      "name",
      "company",
      "address1",
      "address2",
      "city",
      "zip",
      "state_code",
      "phone",
    ],
    ...["note", "metadata", "words"],
  ],
  shipments: ["tracking_number", "scanned_tracking_number", "tracking_url"],
  timeline_entries: ["detail"],
  order_returns: ["note"],
  line_cancellations: ["note"],
  refunds: ["note"],
  events: ["body"],
  deliveries: ["response_body"],
  attempts: ["response_body"],
  outgoing_mails: ["recipient", "subject", "body"],
};

/** Columns that name no buyer, by the reason. A new column of text belongs here or above. */
const HARMLESS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "fixed words of the service": {
    orders: ["status", "hold_reasons", "currency"],
    shipments: ["status"],
    timeline_entries: ["operation", "actor_kind", "status", "hold_reasons"],
    order_returns: ["reason", "condition", "actor_kind"],
    line_cancellations: ["reason", "actor_kind"],
    refunds: ["reason", "actor_kind"],
    ledger_entries: ["kind", "outcome", "gateway", "reason"],
    due_payments: ["kind", "purpose", "gateway"],
    put_aside_orders: ["reason"],
    payment_failures: ["reason", "resolution"],
    events: ["type"],
    deliveries: ["event_type", "status", "trigger", "fault"],
    attempts: ["trigger", "fault"],
    delivery_faults: ["fault", "event_type"],
    stock_movements: ["kind", "actor_kind"],
    changes: ["kinds", "events"],
  },
  "references of programs, by which retries are recognized": {
    order_requests: ["external_order_id", "idempotency_key", "request_id"],
    timeline_entries: ["request_id"],
    order_returns: ["reference"],
    line_cancellations: ["reference"],
    refunds: ["reference"],
    ledger_entries: ["request_id", "gateway_reference"],
    due_payments: ["request_id", "gateway_reference"],
    stock_movements: ["reference"],
  },
  "staff and tokens, not buyers": {
    timeline_entries: ["actor_name", "actor_id"],
    order_returns: ["actor_name", "actor_id"],
    line_cancellations: ["actor_name", "actor_id"],
    refunds: ["actor_name", "actor_id"],
    put_aside_orders: ["actor_name"],
    stock_movements: ["actor_name", "actor_id", "reason", "note"],
  },
  "a country, and the company that carries, identify no person": {
    orders: ["country_code"],
    shipments: ["carrier"],
  },
  "an error of the connection, without what was received": { attempts: ["error"] },
};

/** Tables that say nothing about an order's buyer. A new table belongs here, or its columns above. */
const WITHOUT_BUYERS: Readonly<Record<string, readonly string[]>> = {
  "merchants, their connections and what they sell": [
    ...[
      "merchants",
      "bank_details",
      "connections",
      "api_keys",
      "products",
      "facilities",
      "facility_rates",
      "pick_lists",
    ],
    ...["account_entries", "stripe_methods", "payment_mail_times", "payment_retries", "rate_limits"],
  ],
  "endpoints and what is sent to them": [
    ...[
      "webhook_owners",
      "webhook_endpoints",
      "webhook_endpoint_parts",
      "webhook_secrets",
      "webhook_endpoint_states",
      "webhook_clearings",
      "webhook_resends",
    ],
    "due_deliveries",
  ],
  "runs with test orders that have no buyer": ["certifications"],
  "people and programs of the back office": [
    ...["people", "person_grants", "person_provider_accounts", "person_passkeys", "person_one_time_codes"],
    ...["person_sessions", "person_links", "person_attempts", "back_office_tokens"],
  ],
  "filters of lists that staff save for themselves": ["saved_views"],
  "what was done to which thing, without its texts": ["audit_entries"],
  "the service itself": ["processes", "process_jobs", "schema_functions", "schema_migrations"],
};

type Column = { readonly table: string; readonly column: string };

/** Every column of text, of tables that are about orders or are not known here. */
const textColumns = (test: TestService): Promise<Column[]> =>
  test.db.query<Column>({
    name: "test-list-text-columns",
    text: `
      select c.table_name as table, c.column_name as column
      from information_schema.columns c
      join pg_class t on t.relname = c.table_name and t.relnamespace = 'public'::regnamespace
        and t.relkind in ('r', 'p') and not t.relispartition
      where c.table_schema = 'public' and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY')
        and c.udt_name not in ('_uuid', '_int4', '_int8', '_timestamptz') and c.table_name <> all($1)
      order by 1, 2`,
    values: [Object.values(WITHOUT_BUYERS).flat()],
  });

const nameOf = ({ table, column }: Column): string => `${table}.${column}`;

const declared = (tables: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(tables).flatMap(([table, columns]) => columns.map((column) => nameOf({ table, column })));

/** A text that stands in the value of each field, and nowhere else. */
const MARK = "Quax";

/** A request with every field that a partner can send. A new field of the schema is in it. */
function completeValue(schema: TSchema, field: string): unknown {
  const { type, properties, patternProperties, additionalProperties, anyOf } = schema as TSchema & {
    type?: string;
    properties?: Record<string, TSchema>;
    patternProperties?: Record<string, TSchema>;
    additionalProperties?: unknown;
    anyOf?: TSchema[];
  };
  if (field === "countryCode") return "GB";
  if (field === "metadata") return { [`${MARK}Key`]: `${MARK} value` };
  if (anyOf?.[0] !== undefined) return completeValue(anyOf[0], field);
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, completeValue(property, name)]),
    );
  if (type === "string") return `${MARK} ${field}`;
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return 7;
  throw new Error(
    `Say which value ${field} has: ${JSON.stringify({ patternProperties, additionalProperties })}`,
  );
}

const completeRequest = ({ productIds }: Partner): Record<string, unknown> => {
  const { lines: _, ...properties } = OrderRequestSchema.properties;
  const fields = Object.entries(properties).map(([name, schema]) => [name, completeValue(schema, name)]);
  return { ...Object.fromEntries(fields), lines: [{ productId: productIds[0], quantity: 2 }] };
};

/** Columns of an order that no request has filled, with the moment that does. */
const LATER = {
  acceptance_due_at: "in review or accepted",
  canceled_at: "canceled",
  expires_at: "a test order",
  facility_id: "routed",
  first_routed_at: "routed",
  personal_data_erased_at: "erased",
  routed_at: "routed",
};

let test: TestService;
let partner: Partner;
let request: Record<string, unknown>;
let id: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  request = completeRequest(partner);
  const { status, body }: Answer = await partner.client.post("/v1/orders", request);
  expect(status, JSON.stringify(body)).toBe(201);
  id = body.id;
});
afterAll(() => test.close());

describe("an order with every field that a request can have", () => {
  it("fills every column of its row", async () => {
    const [row] = await test.db.query<{ row: Record<string, unknown> }>({
      name: "test-read-order-row",
      text: `
        select to_jsonb(o) || to_jsonb(r) as row
        from orders o join order_requests r on r.merchant_id = o.merchant_id and r.order_id = o.id`,
      values: [],
    });
    const empty = Object.entries(row?.row ?? {}).filter(([, value]) => value === null);
    expect(empty.map(([column]) => column).filter((column) => !(column in LATER))).toEqual([]);
  });

  it("is read back by another process as it was sent, and as its event has it", async () => {
    const readOrder = orderReader(test.context); // Of a process that has not created it.
    const order = await readOrder({ ...connectionKey(partner), ref: parseOrderRef(id) });
    const read = order === null ? null : JSON.parse(JSON.stringify(toWireOrder(order)));
    const { lines, ...fields } = request;
    expect(read).toMatchObject(fields);
    expect(read.lines).toMatchObject(lines as object[]);
    const [event] = (await readEvents(test, partner.connectionId)).filter(
      ({ type }) => type === "order.created",
    );
    expect(event.data.order).toEqual(read);
    expect((await partner.client.get(`/v1/orders/${id}`)).body).toEqual(read);
  });

  it("is shown to the staff with all of them", async () => {
    const detail = await readDetail(test, id);
    const { lines: _, ...fields } = request;
    expect(detail).toMatchObject(fields);
  });
});

describe("personal data", () => {
  it("is erased from every column of text that is not declared harmless", async () => {
    const columns = (await textColumns(test)).map(nameOf);
    const known = [...declared(ERASED), ...Object.values(HARMLESS).flatMap(declared)];
    expect(
      columns.filter((column) => !known.includes(column)),
      "neither erased nor declared harmless",
    ).toEqual([]);
    expect(
      known.filter((column) => !columns.includes(column)),
      "declared, but missing",
    ).toEqual([]);
  });

  it("that a request has sent is nowhere after the erasure, but in references", async () => {
    test.clock.advance({ hours: 2 });
    await runJob(test, "accept-orders");
    await runJob(test, "route-orders");
    await processDuePayments(test);
    const tracking = { trackingNumber: `]C1${MARK} 1`, trackingUrl: `https://track.example/${MARK}` };
    const { lines: ordered } = await readDetail(test, id);
    await operationApplied(test, id, "cancel-lines", {
      ...{ lines: [{ lineId: ordered[0].id, quantity: 1 }], reason: "other", reference: "c" },
      note: `${MARK} note`,
    });
    await operationApplied(test, id, "ship", tracking);
    await operationApplied(test, id, "complete");
    await operationApplied(test, id, "return", { note: `${MARK} note`, refund: { reference: "r" } });
    const before = await columnsNaming(MARK);
    const written = (ERASED["order_requests"] ?? []).filter((column) => column !== "words"); // These are in small letters.
    expect(before).toEqual(
      expect.arrayContaining([
        ...declared({ order_requests: written, shipments: ERASED["shipments"] ?? [] }),
        ...["events.body", "line_cancellations.note", "order_returns.note", "refunds.note"],
        "timeline_entries.detail",
      ]),
    );
    expect((await test.backOffice.post(`/api/orders/${id}/erase-personal-data`)).status).toBe(200);
    const references = HARMLESS["references of programs, by which retries are recognized"] ?? {};
    expect((await columnsNaming(MARK)).filter((column) => !declared(references).includes(column))).toEqual(
      // The external id of the order is a reference, which its events show.
      ["events.body"],
    );
    const bodies = (await readEvents(test, partner.connectionId)).map((event) => JSON.stringify(event));
    for (const body of bodies) expect(body.replaceAll(`${MARK} externalOrderId`, "")).not.toContain(MARK);
  });
});

/** The columns that have a text in some row. */
async function columnsNaming(text: string): Promise<string[]> {
  const named: string[] = [];
  for (const { table, column } of await textColumns(test)) {
    const [row] = await test.db.query<{ found: boolean }>({
      name: `test-${table}-${column}`,
      text: `select count(*) > 0 as found from "${table}" t where strpos(t."${column}"::text, $1) > 0`,
      values: [text],
    });
    if (row?.found) named.push(nameOf({ table, column }));
  }
  return named;
}
