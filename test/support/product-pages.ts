import { expect } from "vitest";
import { createExposedProduct, createPartner, type Partner } from "./builders.ts";
import type { Answer, TestService } from "./test-service.ts";

/** A price, its parts, or their names. */
export const PRICE = /price"|amount|currency|"EUR"|7654\.?32/i;

type Page = { ids: string[]; nextCursor: string | null };

export async function readPage({ client }: Partner, query = ""): Promise<Page> {
  const { status, body } = await client.get(`/v1/products${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return { ids: body.data.map(({ id }: { id: string }) => id), nextCursor: body.nextCursor };
}

/** Every page from the first to the last; `between` runs after each page that has a next one. */
export async function readAllPages(
  partner: Partner,
  query: string,
  between: (page: number, seen: readonly string[]) => Promise<void> = async () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor = "";
  for (;;) {
    const { ids, nextCursor } = await readPage(partner, `?${query}${cursor}`);
    pages.push(ids);
    if (nextCursor === null) return pages;
    expect(ids.length).toBeGreaterThan(0);
    await between(pages.length, pages.flat());
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}

export const withdrawProduct = (
  test: TestService,
  { connectionId }: Partner,
  productId: string,
): Promise<Answer> =>
  test.backOffice.request("DELETE", `/api/connections/${connectionId}/products/${productId}`);

/** A partner with the given number of further exposed products; returns all ids, oldest first. */
export async function partnerWithProducts(
  test: TestService,
  count: number,
): Promise<{ partner: Partner; ids: string[] }> {
  const partner = await createPartner(test);
  const ids: string[] = [...partner.productIds];
  while (ids.length < count) {
    ids.push(await createExposedProduct(test, partner.merchantId, partner.connectionId));
    if (ids.length % 10 === 0) test.clock.advance({ ms: 1 }); // Products of one millisecond have an order as well.
  }
  return { partner, ids };
}
