import { Agent } from "undici";
import { ADDRESS } from "../../test/support/address.ts";

/** A partner of the benchmark. */
export type PartnerAccess = {
  url: string;
  key: string;
  productIds: string[];
  /** The back office, as the partner's merchant sees it, and the token of the operator, who makes further ones. */
  backOffice: { url: string; token: string; operatorToken: string; merchantId: string; connectionId: string };
};

/** What the operator makes in the back office. @throws if it is not made */
export async function made(
  { backOffice: { url, operatorToken } }: PartnerAccess,
  path: string,
  body: object,
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>; // Only texts of it are used.
}

type Response = { status: number; text: string };

export type PartnerClient = (method: string, path: string, body?: object | string) => Promise<Response>;

/** A client with connections of its own. A request without a response has the status 0. */
export function partnerClient({ url, key }: PartnerAccess): PartnerClient {
  const agent = new Agent({ connections: 128, headersTimeout: 60_000, bodyTimeout: 60_000 });
  return async (method, path, body) => {
    try {
      const response = await agent.request({
        origin: url,
        method: method as "GET", // undici names the methods; all of them are valid here.
        path,
        headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (err) {
      return { status: 0, text: String(err) };
    }
  };
}

export const orderBody = (productIds: readonly string[], externalOrderId: string, change: object = {}) => ({
  externalOrderId,
  lines: [{ productId: productIds[0], quantity: 1 }],
  shippingAddress: ADDRESS,
  ...change,
});
