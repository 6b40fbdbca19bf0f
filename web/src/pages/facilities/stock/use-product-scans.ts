import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { isProblem } from "../../../api/problem.ts";
import { queryClient } from "../../../api/query-client.ts";
import type { ScannedProduct } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { useAnnounce } from "../../../ui/announce.ts";
import { useGo } from "../../../ui/link.tsx";
import { lookUp, useCodeText } from "../../../ui/scan/look-up.ts";
import type { Scan } from "../../../ui/scan/read-scan.ts";
import { useScans } from "../../../ui/scan/use-scans.ts";
import { stockQuery } from "../queries.ts";

type Props = {
  readonly onProduct: (product: ScannedProduct, code: string) => void | Promise<void>;
  /** Several products have the code, of one merchant or of several. Default: a message says so. */
  readonly onSeveral?: (code: string) => void;
};

/** What a scan does on the pages of stock: finds its product, or says what the code is. The last scan counts. */
export function useProductScans({ onProduct, onSeveral }: Props): void {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const codeText = useCodeText();
  const latest = useRef<Scan>(null);
  const find = async (scan: Scan) => {
    const found = await lookUp(scan);
    if (scan !== latest.current) return;
    const { code, products } = found;
    const [product, other] = products;
    if (product === undefined) announce.ended(codeText(scan, found));
    else if (other === undefined) await onProduct(product, code);
    else if (onSeveral !== undefined) onSeveral(code);
    else announce.ended(t("stock.severalHave", { code }));
  };
  useScans((_, scan) => {
    latest.current = scan;
    find(scan).catch(announce.failed);
  });
}

/** A scan on a page of a facility leads to the stock of its product, or to where it is counted first. */
export function useStockScans(facilityId: string): void {
  const { t } = useTranslation();
  const go = useGo();
  const announce = useAnnounce();
  useProductScans({
    onProduct: async ({ id, name }, code) => {
      if (await hasStock(facilityId, id)) return go(paths.stock(facilityId, id));
      announce.ended(t("stock.unrecorded", { name }));
      return go(paths.stockList(facilityId, { q: code }));
    },
    onSeveral: (q) => void go(paths.stockList(facilityId, { q })),
  });
}

/** A product without a record here is made to order, or is not in this facility. */
async function hasStock(facilityId: string, productId: string): Promise<boolean> {
  try {
    await queryClient.fetchQuery(stockQuery(facilityId, productId));
    return true;
  } catch (error) {
    if (isProblem(error, "not-found")) return false;
    throw error;
  }
}
