import { expect } from "vitest";
import { ADDRESS } from "./address.ts";
import type { Answer, Client, TestService } from "./test-service.ts";

/** A partner ready to order: a connection of a merchant, with a live key and two exposed products. */
export type Partner = {
  client: Client;
  key: string;
  merchantId: string;
  connectionId: string;
  /** Two active products, exposed. */
  productIds: [string, string];
};

export async function createPartner(
  test: TestService,
  connection: Record<string, unknown> = {},
): Promise<Partner> {
  const merchant = await created(
    test.backOffice.post("/api/merchants", { name: "Merchant", accountEmail: "m@example.com" }),
  );
  const path = `/api/merchants/${merchant.id}/connections`;
  const { id: connectionId } = await created(test.backOffice.post(path, { name: "Partner", ...connection }));
  const { key } = await created(test.backOffice.post(`/api/connections/${connectionId}/keys`, {}));
  const productIds: [string, string] = [
    await createExposedProduct(test, merchant.id, connectionId),
    await createExposedProduct(test, merchant.id, connectionId),
  ];
  return { client: test.partner(key), key, merchantId: merchant.id, connectionId, productIds };
}

/** A further key of a connection. */
export async function createKey(
  test: TestService,
  connectionId: string,
  body: object = {},
): Promise<{ id: string; key: string }> {
  return created(test.backOffice.post(`/api/connections/${connectionId}/keys`, body));
}

/** A valid request for a new product. */
export const aProduct = (fields: object = {}) => ({
  sku: "SKU-1",
  name: "Product",
  price: { amount: "10.00", currency: "EUR" },
  ...fields,
});

export async function createProduct(
  test: TestService,
  merchantId: string,
  fields: object = {},
): Promise<string> {
  const path = `/api/merchants/${merchantId}/products`;
  return (await created(test.backOffice.post(path, aProduct(fields)))).id;
}

export async function createExposedProduct(
  test: TestService,
  merchantId: string,
  connectionId: string,
  fields: object = {},
): Promise<string> {
  const id = await createProduct(test, merchantId, fields);
  await exposeProduct(test, connectionId, id);
  return id;
}

export async function exposeProduct(
  test: TestService,
  connectionId: string,
  productId: string,
): Promise<void> {
  const answer = await test.backOffice.request(
    "PUT",
    `/api/connections/${connectionId}/products/${productId}`,
  );
  expect(answer.status).toBe(200);
}

export const anAddress = (fields: object = {}) => ({ ...ADDRESS, ...fields });

let orderCount = 0;

/** A valid request for a new order of one line, with an external id of its own. */
export function anOrder(partner: Pick<Partner, "productIds">, fields: object = {}) {
  orderCount += 1;
  return {
    externalOrderId: `order-${orderCount}`,
    lines: [{ productId: partner.productIds[0], quantity: 1 }],
    shippingAddress: anAddress(),
    ...fields,
  };
}

/** Places an order; returns the created order. */
export const placeOrder = (partner: Partner, fields: object = {}) =>
  created(partner.client.post("/v1/orders", anOrder(partner, fields)));

export const placeTestOrder = (partner: Partner, fields: object = {}) =>
  placeOrder(partner, { testMode: true, ...fields });

/** The body of a response that must be 201. */
export async function created(answer: Promise<Answer>): Promise<Answer["body"]> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Events of a connection, oldest first, as partners would receive them. */
export async function readEvents(test: TestService, connectionId?: string): Promise<Answer["body"][]> {
  const rows = await test.db.query<{ body: string }>({
    name: "test-read-events",
    text: "select body from events order by id",
    values: [],
  });
  const events = rows.map(({ body }) => JSON.parse(body));
  return connectionId === undefined ? events : events.filter((event) => event.connectionId === connectionId);
}

/** Number of rows of a table. */
export async function countRows(test: TestService, table: string): Promise<number> {
  const [row] = await test.db.query<{ count: bigint }>({
    name: `test-count-${table}`,
    text: `select count(*) from ${table}`,
    values: [],
  });
  return Number(row?.count);
}
