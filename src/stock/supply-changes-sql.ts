import type { Queryable } from "../platform/database/database.ts";

/** Something that waiting orders may have waited for: stock of a product, or the rates of a facility. */
export type SupplyChange = {
  readonly about: "stock" | "rates";
  /** Of the product; null for rates, since facilities are shared. */
  readonly merchantId: string | null;
  /** Of the product or the facility. */
  readonly subjectId: string;
  /** Each piece of news has its own, so that a newer one is never taken for the one that was dealt with. */
  readonly id: string;
};

/** News that nobody has dealt with yet, oldest first. */
export async function listSupplyChanges(db: Queryable): Promise<SupplyChange[]> {
  const rows = await db.query<{
    about: SupplyChange["about"];
    merchant_id: string | null;
    subject_id: string;
    id: string;
  }>({
    name: "list-news",
    text: `
      select 'stock' as about, merchant_id, product_id as subject_id, supply_change_id as id
      from stocked_products
      where supply_change_id is not null
      union all
      select 'rates', null, id, supply_change_id
      from facilities
      where supply_change_id is not null
      order by id`,
    values: [],
  });
  return rows.map((row) => ({
    about: row.about,
    merchantId: row.merchant_id,
    subjectId: row.subject_id,
    id: row.id,
  }));
}

/** News that came meanwhile about the same subject stands. */
export async function clearSupplyChange(db: Queryable, news: SupplyChange): Promise<void> {
  await db.query(
    news.about === "stock"
      ? {
          name: "forget-stock-news",
          text: "update stocked_products set supply_change_id = null where merchant_id = $1 and product_id = $2 and supply_change_id = $3",
          values: [news.merchantId, news.subjectId, news.id],
        }
      : {
          name: "forget-rates-news",
          text: "update facilities set supply_change_id = null where id = $1 and supply_change_id = $2",
          values: [news.subjectId, news.id],
        },
  );
}
