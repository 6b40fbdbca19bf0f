import { afterAll, beforeAll, expect, it } from "vitest";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import { type AuditedWorld, backOfficeChanges, type ChangeRequest } from "../../support/audited-changes.ts";
import { createPartner, type Partner, placeOrder } from "../../support/builders.ts";
import { acceptAll, aRate, createFacility, routeAll } from "../../support/facilities.ts";
import { processDuePayments, setCreditLimit } from "../../support/payments.ts";
import { type Browser, createPerson, signIn } from "../../support/people.ts";
import { operationApplied, readDetail } from "../../support/real-orders.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let test: TestService;
let world: AuditedWorld;
beforeAll(async () => {
  const config = { stripeSecretKey: "sk_test_1", webhookAllowPrivateNetworks: true, paymentRetryMs: [] };
  test = await startTestService({ config });
  world = {
    test,
    partner: await createPartner(test),
    reviewed: await createPartner(test, { reviewPolicy: { maxQuantity: 1 } }),
  };
  // To DE the shipping costs less than to GB, where the orders go.
  await createFacility(test, { rates: [aRate(), aRate({ country: "DE", amount: "3.00" })] });
});
afterAll(() => test.close());

/** What a person needs recent authentication for: each row of these that is new, or new in this form. */
const EFFECTS: Readonly<Record<string, string>> = {
  refund: `select id from ledger_entries where kind = 'refund' union select entry_id from due_payments where kind = 'refund'`,
  waiver: "select * from ledger_entries where outcome = 'canceled'",
  credit: "select * from account_entries where kind = 'payment'",
  limit: "select id, credit_limit_minor from merchants where credit_limit_minor is not null",
  "method of payment": "select * from stripe_methods",
  "bank account": "select * from bank_details",
  address: "select id, url from webhook_endpoints",
  secret: "select id from webhook_secrets",
  key: "select id from api_keys",
  token: "select id from back_office_tokens",
  right:
    "select person_id, role, disabled_at from person_grants join people on id = person_id where disabled_at is null",
  "way to sign in":
    "select id, email from people union select person_id, token_hash::text from person_links where kind = 'sign-in'",
};

async function present(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const [effect, text] of Object.entries(EFFECTS)) {
    const rows = await test.db.query({ name: `test ${effect}`, text, values: [] });
    const texts = rows.map((row) =>
      JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    );
    found.set(effect, new Set(texts));
  }
  return found;
}

const since = async (before: ReadonlyMap<string, ReadonlySet<string>>): Promise<string[]> =>
  [...(await present())].flatMap(([effect, rows]) =>
    [...rows].every((row) => before.get(effect)?.has(row)) ? [] : [effect],
  );

async function charged(partner: Partner): Promise<string> {
  const { id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 2 }] });
  await processDuePayments(test);
  return id;
}
async function routed(partner: Partner): Promise<string> {
  const id = await charged(partner);
  await acceptAll(test);
  await routeAll(test);
  await processDuePayments(test);
  return id;
}
/** Orders in the states in which an operation can move their money. */
const ORDERS: Readonly<Record<string, (partner: Partner) => Promise<string>>> = {
  charged,
  routed,
  shipped: async (partner) => {
    const id = await routed(partner);
    await operationApplied(test, id, "ship", {});
    return id;
  },
  declined: async (partner) => {
    await setCreditLimit(test, partner, 0n);
    return charged(partner);
  },
};

const price = { amount: "1.00", currency: "EUR" };
/** Of requests that reach an effect only if they ask for it. */
const BODIES: Readonly<Record<string, object>> = {
  createMerchant: { name: "New", accountEmail: "new@example.com", creditLimit: price },
  refundOrder: { amount: price, reason: "damaged", reference: "ticket-1" },
  returnShipment: { reason: "other", refund: { amount: price, reference: "ticket-1" } },
  releaseOrderHold: { reasons: ["payment_failed"] },
  updateShippingAddress: { countryCode: "DE" },
  updatePerson: { email: "other@example.com" },
  cancelLines: { reason: "damaged", reference: "ticket-1" },
  addOrderNote: { text: "Call first" },
};

const changing = backOfficeRoutes.filter(({ method }) => method !== "GET");
type Changing = (typeof changing)[number];

/** Requests of an operation, each of which changes something; of one on an order, in each of its states. */
function requestsOf({ operationId, method, path }: Changing): (() => Promise<ChangeRequest>)[] {
  const body = BODIES[operationId];
  if (path.startsWith("/api/orders/{id}/"))
    return Object.values(ORDERS).map((make) => async () => {
      const id = await make(await createPartner(test));
      const { lines } = await readDetail(test, id);
      const parts = operationId === "cancelLines" && { lines: [{ lineId: lines[0].id, quantity: 1 }] };
      return [method, path.replace("{id}", id), { ...body, ...parts }];
    });
  const make = backOfficeChanges(world)[operationId];
  if (make === undefined) throw new Error(`Add a request of ${operationId} to audited-changes.ts.`);
  return [
    async () => {
      const [, made, own] = await make();
      return [method, made, body ?? own];
    },
  ];
}

/** A person of the operator whose last proof is older than 15 minutes. */
async function stale(): Promise<Browser> {
  const browser = await signIn(test, await createPerson(test));
  test.clock.advance({ minutes: 15 });
  return browser;
}

/** What asks although it moves none of these: it removes an account to pay to or how a person signs in, or takes over what an ended token has set. */
const CAREFUL = [
  "deleteBankDetails",
  "unlinkSingleSignOn",
  "removeSignInMethods",
  ...["", "Merchant", "Facility"].flatMap((word) => [
    `resume${word}WebhookEndpoint`,
    `recover${word}Deliveries`,
  ]),
];
const reaching = new Set<string>();

it.each(changing.map((row) => [row.operationId, row] as const))(
  "%s asks for recent authentication if it reaches money, a secret, a right or an address",
  async (operationId, row) => {
    for (const make of requestsOf(row)) {
      const [method, path, body] = await make();
      const browser = await stale();
      const before = await present();
      const asked = await browser.request(method, path, body);
      expect(await since(before), `${asked.status} without the proof`).toEqual([]);
      await test.backOffice.request(method, path, { ...(body && { body }) });
      const effects = await since(before);
      if (effects.length === 0) continue;
      reaching.add(operationId);
      expect(asked.body, String(effects)).toMatchObject({ code: "recent-authentication-required" });
      expect(row.problems).toContain("recent-authentication-required");
    }
  },
);

it("each operation that says that it asks was seen to reach one", () => {
  const asking = changing.filter(({ problems }) => problems.includes("recent-authentication-required"));
  expect([...reaching, ...CAREFUL].sort()).toEqual(asking.map(({ operationId }) => operationId).sort());
});
