import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiKey, hashKey, isLive, makeKey } from "./connections/api-key.ts";
import type { Connection } from "./connections/connection.ts";
import { insertConnection, insertKey, readKeys } from "./connections/connections-sql.ts";
import { insertMerchant, type Merchant } from "./connections/merchants-sql.ts";
import type { Product } from "./products/product.ts";
import { insertProduct } from "./products/products-sql.ts";
import { publishProduct } from "./products/publish-product.ts";
import type { Service } from "./service.ts";

type Demo = { readonly key: string; readonly productIds: readonly string[] };

const PRODUCTS: readonly Pick<Product, "sku" | "name" | "description" | "priceMinor" | "weightGrams">[] = [
  { sku: "MUG-01", name: "Mug", description: "Stoneware, 300 ml", priceMinor: 790n, weightGrams: 380 },
  { sku: "TEE-M", name: "T-shirt, M", description: "Organic cotton", priceMinor: 1_250n, weightGrams: 180 },
  {
    sku: "TEE-M",
    name: "T-shirt, M, second print",
    description: "Organic cotton",
    priceMinor: 1_350n,
    weightGrams: 180,
  },
  { sku: "BAG-01", name: "Tote bag", description: null, priceMinor: 640n, weightGrams: 120 },
];

/**
 * Demo data for a first look: a merchant, a connection, a key and a few products. Made once; the key is kept in
 * `DATA_DIR/demo.json`, since the database holds only its hash.
 */
export async function ensureDemo(service: Service): Promise<Demo> {
  const file = join(service.config.dataDir, "demo.json");
  const kept = await readDemo(file);
  if (kept !== null && (await isUsable(service, kept.key))) return kept;
  await mkdir(service.config.dataDir, { recursive: true });
  const made = await makeDemo(service);
  await writeFile(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

async function isUsable({ db, clock }: Service, key: string): Promise<boolean> {
  const [found] = (await readKeys(db, [hashKey(key)])).values();
  return found !== undefined && isLive(found, clock.now());
}

async function readDemo(file: string): Promise<Demo | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Demo; // Our own file.
  } catch {
    return null;
  }
}

async function makeDemo(service: Service): Promise<Demo> {
  const { db, newId, clock } = service;
  const createdAt = clock.now();
  const merchant: Merchant = {
    id: newId(),
    name: "Demo Merchant",
    accountEmail: "merchant@example.com",
    currency: "EUR",
    creditLimitMinor: null,
    createdAt,
  };
  const connection: Connection = {
    id: newId(),
    merchantId: merchant.id,
    merchantName: merchant.name,
    currency: merchant.currency,
    name: "Demo Partner",
    reviewPolicy: { maxQuantity: 1_000, maxOrderValueMinor: null, countries: null },
    createdAt,
  };
  await insertMerchant(db, merchant);
  await insertConnection(db, connection);
  const productIds: string[] = [];
  for (const details of PRODUCTS) {
    const product = demoProduct(newId(), merchant, details, createdAt);
    await insertProduct(db, product);
    await publishProduct(service, connection, product.id);
    productIds.push(product.id);
  }
  const { key, prefix, hash } = makeKey();
  const stored: ApiKey = {
    id: newId(),
    connectionId: connection.id,
    name: "demo",
    prefix,
    createdAt,
    expiresAt: null,
    revokedAt: null,
  };
  await insertKey(db, stored, hash);
  return { key, productIds };
}

const demoProduct = (
  id: string,
  { id: merchantId, currency }: Merchant,
  details: (typeof PRODUCTS)[number],
  now: Date,
): Product => ({
  ...details,
  id,
  merchantId,
  currency,
  imageUrl: null,
  status: "active",
  createdAt: now,
  updatedAt: now,
});

/** What `npm start` shows: where everything is, and a first order to copy and paste. */
export function welcome(
  demo: Demo,
  partnerApiUrl: string,
  backOfficeUrl: string,
  operatorToken: string,
): string {
  return `
Partner Orders is running.

  Partner API    ${partnerApiUrl}/v1
  Back office    ${backOfficeUrl}/api          (operator token: ${operatorToken})
  Description    ${backOfficeUrl}/openapi.json
  Demo key       ${demo.key}

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

Send it again: the answer is 200 with the same order. Then read it, and cancel it:

  curl ${partnerApiUrl}/v1/orders/first-order -H 'Authorization: Bearer ${demo.key}'
  curl -X POST ${partnerApiUrl}/v1/orders/first-order/cancel -H 'Authorization: Bearer ${demo.key}'

Stop with Ctrl-C; the data stays.
`;
}
