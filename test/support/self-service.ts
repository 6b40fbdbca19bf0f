import { randomUUID } from "node:crypto";
import { findConnectionById } from "../../src/merchants/connections-sql.ts";
import { toTypeId } from "../../src/platform/ids.ts";
import { isProblem } from "../../src/platform/wire/problems.ts";
import { createTestKey } from "../../src/self-service/test-keys.ts";
import { createPartner, type Partner } from "./builders.ts";
import { connectionKey } from "./orders.ts";
import { type Client, startServiceForTest, type TestService } from "./test-service.ts";

/** A deployment that offers test keys without a person, and the partner whose products they may order. */
export type Demo = {
  readonly test: TestService;
  readonly model: Partner;
  /** A stranger with a new key. */
  stranger(address?: string): Promise<Stranger>;
};

export type Stranger = Partner & {
  readonly key: string;
  readonly expiresAt: string;
  readonly client: Client;
};

/** For a single test. */
export async function startDemo(): Promise<Demo> {
  const first = await startServiceForTest();
  const model = await createPartner(first);
  const test = await startServiceForTest({
    databaseUrl: first.context.config.databaseUrl ?? "",
    config: { selfServiceTestKeys: connectionKey(model).connectionId, webhookAllowPrivateNetworks: true },
  });
  return {
    test,
    model,
    stranger: async (address) => {
      const { body } = await requestKey(test, address);
      return { ...model, ...body, client: test.partner(body.key) };
    },
  };
}

let requested = 0;

/** Without an address, from another one each time. */
export function requestKey(test: TestService, address?: string) {
  requested += 1;
  return test.partnerFrom(address ?? `192.0.2.${requested % 255}`).post("/v1/test-keys");
}

/** The connection of a stranger of another network each time, where no deployment offers it. */
export async function strangersConnection({
  test: { context },
  partner,
}: {
  readonly test: TestService;
  readonly partner: Partner;
}): Promise<{ id: string; name: string }> {
  const model = await findConnectionById(context.db, connectionKey(partner).connectionId);
  if (model === null) throw new Error("The connection exists.");
  const requester = { network: randomUUID(), requestId: "request-of-a-stranger" };
  const made = await createTestKey(context, model, requester);
  if (isProblem(made)) throw new Error(made.detail);
  return { id: toTypeId("con", made.connection.id), name: made.connection.name };
}
