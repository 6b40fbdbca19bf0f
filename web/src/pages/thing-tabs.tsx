import { useTranslation } from "react-i18next";
import { useHasRole } from "../api/me.ts";
import { paths } from "../paths.ts";
import { Tabs } from "../ui/tabs.tsx";

// The pages about a connection, a merchant or a facility, beside each other. Those that are lists of all such things open with
// a filter, and have their own way back.

export function ConnectionTabs({ connectionId }: { connectionId: string }) {
  const { t } = useTranslation();
  const tests = useHasRole("operator", "merchant", "support", "partner");
  return (
    <Tabs
      label={t("navigation.connections")}
      of={[
        [t("connections.details"), paths.connection(connectionId)],
        [t("products.title"), paths.exposedProducts(connectionId)],
        [t("deliveries.title"), paths.deliveries(connectionId)],
        [t("connections.orders"), paths.orders({ connectionId })],
        ...(tests ? [[t("sandbox.title"), paths.workbench(connectionId)] as const] : []),
      ]}
    />
  );
}

export function MerchantTabs({ merchantId }: { merchantId: string }) {
  const { t } = useTranslation();
  const seesBusiness = useHasRole("operator", "merchant", "support");
  return (
    <Tabs
      label={t("navigation.merchants")}
      of={[
        [t("merchants.details"), paths.merchant(merchantId)],
        [t("products.title"), paths.merchantProducts(merchantId)],
        ...(seesBusiness
          ? ([
              [t("stock.title"), paths.merchantStock(merchantId)],
              [t("money.account"), paths.merchantAccount(merchantId)],
              [t("money.charges"), paths.charges(merchantId)],
            ] as const)
          : []),
        [t("merchants.orders"), paths.orders({ merchantId })],
        ...(seesBusiness ? [[t("overview.title"), paths.overview({ merchantId })] as const] : []),
      ]}
    />
  );
}

export function FacilityTabs({ facilityId }: { facilityId: string }) {
  const { t } = useTranslation();
  return (
    <Tabs
      label={t("navigation.facilities")}
      of={[
        [t("merchants.details"), paths.facility(facilityId)],
        [t("stock.title"), paths.stockList(facilityId)],
        [t("stock.movements"), paths.movements(facilityId)],
        [t("work.title"), paths.work({ facilityId })],
      ]}
    />
  );
}
