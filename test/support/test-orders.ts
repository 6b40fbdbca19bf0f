import { anAddress, created, type Partner } from "./builders.ts";
import type { Answer, Client } from "./test-service.ts";

/** The path of a connection's test orders in the back office. */
export const testOrdersPath = ({ connectionId }: Pick<Partner, "connectionId">, rest = ""): string =>
  `/api/connections/${connectionId}/test-orders${rest}`;

/** A valid request of the back office for a test order of one line, without a key and without an external id. */
export const aTestOrder = ({ productIds }: Pick<Partner, "productIds">, fields: object = {}) => ({
  lines: [{ productId: productIds[0], quantity: 1 }],
  shippingAddress: anAddress(),
  ...fields,
});

/** Creates a test order through the back office; returns it with its transitions. */
export const createTestOrder = (
  client: Client,
  partner: Partner,
  fields: object = {},
): Promise<Answer["body"]> => created(client.post(testOrdersPath(partner), aTestOrder(partner, fields)));
