import { expect } from "vitest";
import type { Partner } from "./builders.ts";

export async function readDelivery({ client }: Pick<Partner, "client">, deliveryId: string) {
  const { status, body } = await client.get(`/v1/deliveries/${deliveryId}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

export const redeliver = ({ client }: Pick<Partner, "client">, deliveryId: string) =>
  client.post(`/v1/deliveries/${deliveryId}/redeliver`);
