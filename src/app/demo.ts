import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { byService } from "../audit/initiator.ts";
import { hashKey, isLive } from "../merchants/api-key.ts";
import { keyOf } from "../merchants/connection.ts";
import { createConnection } from "../merchants/create-connection.ts";
import { createMerchant } from "../merchants/create-merchant.ts";
import { issueKey } from "../merchants/issue-key.ts";
import { readKeys } from "../merchants/keys-sql.ts";
import type { Context } from "../platform/context.ts";
import { makeDataDir } from "../platform/data-dir/data-dir.ts";
import { isProblem } from "../platform/wire/problems.ts";
import { createProduct } from "../products/create-product.ts";
import type { ProductDetails } from "../products/product.ts";
import { publishProduct } from "../products/publish-product.ts";

type Demo = { readonly key: string; readonly productIds: readonly string[] };

const PRODUCTS: readonly Omit<ProductDetails, "imageUrl">[] = [
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
 * Demo data for a first look: a merchant, a connection, a key and a few products. They are created once.
 * `DATA_DIR/demo.json` keeps the key, since the database holds only its hash.
 */
export async function ensureDemo(context: Context): Promise<Demo> {
  const file = join(context.config.dataDir, "demo.json");
  const kept = await readDemo(file);
  if (kept !== null && (await isUsable(context, kept.key))) return kept;
  await makeDataDir(context.config.dataDir);
  const made = await makeDemo(context);
  await writeFile(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

async function isUsable({ db, clock }: Context, key: string): Promise<boolean> {
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

async function makeDemo(context: Context): Promise<Demo> {
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
  const productIds: string[] = [];
  for (const details of PRODUCTS) {
    const product = await createProduct(context, merchant, { ...details, imageUrl: null }, by);
    await publishProduct(context, connection, product.id, by);
    productIds.push(product.id);
  }
  const issued = await issueKey(context, { ...keyOf(connection), name: "demo", expiresAt: null }, by);
  if (isProblem(issued)) throw new Error(issued.detail);
  return { key: issued.key, productIds };
}

/** What `npm start` prints: the addresses, and a first order to copy and paste. */
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
  API reference  ${backOfficeUrl}/openapi.json
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

Send it again: the response is 200 with the same order. Then read it, and cancel it:

  curl ${partnerApiUrl}/v1/orders/first-order -H 'Authorization: Bearer ${demo.key}'
  curl -X POST ${partnerApiUrl}/v1/orders/first-order/cancel -H 'Authorization: Bearer ${demo.key}'

Stop with Ctrl-C; the data stays.
`;
}
