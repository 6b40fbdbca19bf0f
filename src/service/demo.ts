import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Grant } from "../audit/grant.ts";
import { NO_TOKEN } from "../audit/maker.ts";
import { byService, recordAudit } from "../audit/record-audit.ts";
import { type ApiKey, hashKey, isValid, type KeyMode } from "../merchants/api-key.ts";
import { keyOf } from "../merchants/connection.ts";
import { createConnection } from "../merchants/connections.ts";
import { issueKey } from "../merchants/keys.ts";
import { readKeys } from "../merchants/keys-sql.ts";
import { createMerchant } from "../merchants/merchants.ts";
import { FIRST_OPERATOR_EMAIL } from "../people/first-operator.ts";
import { makeLink } from "../people/links.ts";
import { insertPerson, lockPeople, readPersonByEmail } from "../people/people-sql.ts";
import { newPerson, personFact } from "../people/person.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { makeDataDir } from "../platform/data-dir.ts";
import { isProblem } from "../platform/wire/problems.ts";
import { createProduct } from "../products/change-product.ts";
import { publishProduct } from "../products/exposure.ts";
import type { ProductDetails } from "../products/product.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { makeDemoWarehouse, placeDemoOrders } from "./demo-warehouse.ts";

type KeptDemo = { readonly key: string; readonly testKey: string; readonly productIds: readonly string[] };
type Demo = KeptDemo & { readonly people: readonly DemoPerson[] };

const PRODUCTS: readonly Omit<ProductDetails, "imageUrl">[] = [
  {
    sku: "MUG-01",
    name: "Mug",
    description: "Stoneware, 300 ml",
    priceMinor: 790n,
    weightGrams: 380,
    barcode: "4006381000017",
    lowStockBelow: null,
  },
  {
    sku: "TEE-M",
    name: "T-shirt, M",
    description: "Organic cotton",
    priceMinor: 1_250n,
    weightGrams: 180,
    barcode: "4006381000024",
    lowStockBelow: null,
  },
  {
    sku: "TEE-M",
    name: "T-shirt, M, second print",
    description: "Organic cotton",
    priceMinor: 1_350n,
    weightGrams: 180,
    barcode: "4006381000031",
    lowStockBelow: null,
  },
  {
    sku: "BAG-01",
    name: "Tote bag",
    description: null,
    priceMinor: 640n,
    weightGrams: 120,
    barcode: "4006381000048",
    lowStockBelow: null,
  },
];

/**
 * Demo data for a first look: a merchant, a connection, a live and a test key, a few products, two facilities with their
 * stock, and, unless the caller wants none, orders to pack. They are created once.
 * `DATA_DIR/demo.json` keeps the keys, since the database holds only their hashes.
 */
export async function ensureDemo(context: WebhookContext, { withOrders = true } = {}): Promise<Demo> {
  const kept = await ensureKeptDemo(context, withOrders);
  const key = await findLiveKey(context, kept.key);
  return { ...kept, people: key === null ? [] : await ensureDemoPeople(context, key) };
}

async function ensureKeptDemo(context: Context, withOrders: boolean): Promise<KeptDemo> {
  const file = join(context.config.dataDir, "demo.json");
  const kept = await readDemo(file);
  if (kept !== null && (await findLiveKey(context, kept.key)) !== null) return kept;
  return keep(context, file, await makeDemo(context, withOrders));
}

async function keep({ config }: Context, file: string, demo: KeptDemo): Promise<KeptDemo> {
  await makeDataDir(config.dataDir);
  await writeFile(`${file}.new`, JSON.stringify(demo), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return demo;
}

async function findLiveKey({ db, clock }: Context, key: string): Promise<ApiKey | null> {
  const [found] = (await readKeys(db, [hashKey(key)])).values();
  return found !== undefined && isValid(found, clock.now()) ? found : null;
}

async function readDemo(file: string): Promise<KeptDemo | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as KeptDemo; // Our own file.
  } catch {
    return null;
  }
}

async function makeDemo(context: Context, withOrders: boolean): Promise<KeptDemo> {
  const by = byService("createDemo");
  const merchant = await createMerchant(
    context,
    {
      name: "Demo Merchant",
      accountEmail: "merchant@example.com",
      currency: "EUR",
      creditLimitMinor: null,
      completeWhenShipped: false,
    },
    by,
  );
  const reviewPolicy = { maxQuantity: 1_000, maxOrderValueMinor: null, countries: null };
  const connection = await createConnection(context, merchant, { name: "Demo Partner", reviewPolicy }, by);
  if (isProblem(connection)) throw new Error("A new merchant may have a connection.");
  const productIds: string[] = [];
  for (const details of PRODUCTS) {
    const product = await createProduct(context, merchant, { ...details, imageUrl: null }, by);
    if ("takenBy" in product) throw new Error(`A new merchant has the barcode ${details.barcode}.`);
    await publishProduct(context, connection, product.id, by);
    productIds.push(product.id);
  }
  await makeDemoWarehouse(context, merchant.id, productIds);
  if (withOrders) await placeDemoOrders(context, keyOf(connection), productIds);
  const key = await issueDemoKey(context, keyOf(connection), "live");
  const testKey = await issueDemoKey(context, keyOf(connection), "test");
  return { key, testKey, productIds };
}

async function issueDemoKey(
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  mode: KeyMode,
): Promise<string> {
  const fields = { merchantId, connectionId, name: "demo", mode, expiresAt: null };
  const issued = await issueKey(context, fields, NO_TOKEN, byService("createDemo"));
  if (isProblem(issued)) throw new Error(issued.detail);
  return issued.key;
}

type Started = {
  readonly partnerApiUrl: string;
  readonly backOfficeUrl: string;
  readonly operatorToken: string;
  readonly allowsPrivateNetworks: boolean;
};

/** What `npm start` prints: the addresses, and a first order to copy and paste. */
export function welcome(
  demo: Demo,
  { partnerApiUrl, backOfficeUrl, operatorToken, allowsPrivateNetworks }: Started,
): string {
  const webhooks = allowsPrivateNetworks
    ? "to any address, also http:// and this machine (WEBHOOK_ALLOW_PRIVATE_NETWORKS=true)"
    : "to public https addresses only (WEBHOOK_ALLOW_PRIVATE_NETWORKS=false)";
  return `
Partner Orders is running.

  Partner API    ${partnerApiUrl}/v1
  Back office    ${backOfficeUrl}/api          (operator token: ${operatorToken})
  Documentation  ${backOfficeUrl}/docs/
  API reference  ${partnerApiUrl}/v1/openapi.json (with the key), ${backOfficeUrl}/openapi.json
  Webhooks       ${webhooks}
  Demo key       ${demo.key}
  Test key       ${demo.testKey}   (test orders only)

Look around the console as one of these people. The links work any number of times, until the next start:

${demo.people.map(({ role, url }) => `  ${role.padEnd(14)} ${url}`).join("\n")}

Your first order, to copy and paste:

  curl -i ${partnerApiUrl}/v1/orders \\
    -H 'Authorization: Bearer ${demo.key}' \\
    -H 'Content-Type: application/json' \\
    -d '{
      "externalOrderId": "first-order",
      "lines": [{ "productId": "${demo.productIds[0]}", "quantity": 2 }],
      "shippingAddress": {
        "firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James Square",
        "city": "London", "zip": "SW1Y 4JH", "countryCode": "GB"
      }
    }'

Send it again: the response is 200 with the same order. Then read it, and cancel it:

  curl ${partnerApiUrl}/v1/orders/first-order -H 'Authorization: Bearer ${demo.key}'
  curl -X POST ${partnerApiUrl}/v1/orders/first-order/cancel -H 'Authorization: Bearer ${demo.key}'

Stop with Ctrl-C; the data stays.
`;
}

/** A person of the demo, and a link with which one is signed in as this person, as often as one likes. */
export type DemoPerson = { readonly role: string; readonly url: string };

const people = ({
  merchantId,
  connectionId,
}: ConnectionKey): { name: string; email: string; grant: Grant }[] => [
  { name: "Operator", email: FIRST_OPERATOR_EMAIL, grant: { role: "operator" } },
  {
    name: "Mia Merchant",
    email: "merchant@demo.example",
    grant: { role: "merchant", merchantIds: [merchantId] },
  },
  { name: "Wes Warehouse", email: "warehouse@demo.example", grant: { role: "warehouse", facilityIds: null } },
  {
    name: "Pat Partner",
    email: "partner@demo.example",
    grant: { role: "partner", connections: [{ merchantId, connectionId }] },
  },
  { name: "Sam Support", email: "support@demo.example", grant: { role: "support" } },
];

/** One person for each role, with a new link each. Links of an earlier start end. */
const ensureDemoPeople = (context: WebhookContext, connection: ConnectionKey): Promise<DemoPerson[]> =>
  inTransaction(context, async (tx) => {
    await lockPeople(tx);
    const made: DemoPerson[] = [];
    for (const { name, email, grant } of people(connection)) {
      let person = await readPersonByEmail(tx, email);
      if (person === null) {
        const by = byService("createDemo");
        person = newPerson(context, { name, email, grants: [grant] }, by.actor);
        await insertPerson(tx, person);
        await recordAudit(tx, context, by, personFact(person));
      }
      const { url } = await makeLink(tx, context, person.id, "demo");
      made.push({ role: grant.role, url });
    }
    return made;
  });
