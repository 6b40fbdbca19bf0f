import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Scan as Found } from "../../api/schema.d.ts";
import type { Scan } from "./read-scan.ts";

/** What a scan names at present: by the first of its readings that names anything. */
export async function lookUp({ code, others }: Scan): Promise<Found> {
  const first = await find(code);
  if (isKnown(first)) return first;
  for (const other of others) {
    const found = await find(other);
    if (isKnown(found)) return found;
  }
  return first;
}

const find = (code: string): Promise<Found> =>
  dataOf(api.GET("/api/work-list/scan", { params: { query: { code } } }));

const isKnown = ({ orders, products, other }: Found): boolean =>
  orders.length > 0 || products.length > 0 || other !== null;

/** Says what a code is that a page cannot use: a thing of another kind, or nothing, with the reason if the scanner has one. */
export function useCodeText(): (scan: Scan, found: Found) => string {
  const { t } = useTranslation();
  return ({ isOtherLayout }, { code, orders, products, other }) => {
    if (orders.length > 0) return t("scan.other.foundOrder", { code });
    if (products.length > 0) return t("scan.other.foundProduct", { code });
    if (other !== null) {
      const { kind, name } = other;
      const isHidden = name === null && (kind === "merchant" || kind === "connection" || kind === "facility");
      return t(`scan.other.${isHidden ? "hidden" : kind}`, { code, name: name ?? "" });
    }
    const unknown = t("scan.unknown", { code });
    return isOtherLayout ? `${unknown} ${t("scan.layout")}` : unknown;
  };
}
