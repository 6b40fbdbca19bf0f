import {
  admittingSupport,
  forEveryToken,
  namingRecentAuthentication,
  type ScopedRoute,
  within,
} from "./access.ts";
import { auditExportRoutes, auditRoutes } from "./audit.ts";
import { certificationRoutes } from "./certifications.ts";
import { changeRoutes } from "./changes.ts";
import { connectionRoutes, endRoutes, usageRoutes } from "./connections.ts";
import { exposureRoutes } from "./exposure.ts";
import { facilityRoutes, rateRoutes } from "./facilities.ts";
import { importRoutes } from "./import.ts";
import { keyRotationRoutes, keyRoutes } from "./keys.ts";
import { merchantRoutes } from "./merchants.ts";
import { accountRoutes, bankRoutes, stripeRoutes } from "./money/account.ts";
import { chargeListRoutes, chargeRoutes } from "./money/charges.ts";
import { failureRoutes } from "./money/failures.ts";
import { refundRoutes } from "./money/refunds.ts";
import { statementRoutes } from "./money/statements.ts";
import { allDeliveryRoutes, deliveryRoutes, orderEventRoutes } from "./orders/deliveries.ts";
import { exportRoutes } from "./orders/export.ts";
import { findRoutes, orderRoutes } from "./orders/orders.ts";
import { shipManyRoutes } from "./orders/ship-many.ts";
import { shipmentImportRoutes } from "./orders/shipment-import.ts";
import { shippingRoutes } from "./orders/shipping.ts";
import { orderOperationRoutes } from "./orders/transitions.ts";
import { overviewRoutes } from "./overview.ts";
import { personRoutes, signInMethodRoutes } from "./people/people.ts";
import { exposedProductRoutes, productExposureRoutes, productRoutes } from "./products.ts";
import { resendRoutes } from "./resends.ts";
import { testOrderRoutes } from "./sandbox.ts";
import { searchRoutes } from "./search.ts";
import { merchantStockRoutes, productStockRoutes, stockMovementRoutes, stockRoutes } from "./stock.ts";
import { stockImportRoutes } from "./stock-import.ts";
import { settingsRoutes, systemRoutes } from "./system.ts";
import { meRoutes, tokenRoutes } from "./tokens.ts";
import { updateRoutes } from "./updates/routes.ts";
import { viewRoutes } from "./views.ts";
import { allEndpointRoutes, endpointRoutes, eventRoutes } from "./webhook-endpoints.ts";
import { scanRoutes } from "./work-list/scan.ts";
import { slipRoutes } from "./work-list/slips.ts";
import { putAsideRoutes, workExportRoutes, workListRoutes } from "./work-list/work-list.ts";
import { workOverviewRoutes } from "./work-overview.ts";

/**
 * All routes of the back office API. Each names who may use it, and belongs to a scope of tokens; support may read. Rows that
 * name no scope of their own belong to the one of their group: to read for a GET, else to write.
 */
export const backOfficeRoutes: readonly ScopedRoute[] = [
  ...within("merchants", merchantRoutes),
  ...within("money", accountRoutes),
  ...within("money", statementRoutes),
  ...within("money", chargeRoutes),
  ...within("money", chargeListRoutes),
  ...within("money", failureRoutes),
  ...within("money", stripeRoutes),
  ...within("money", bankRoutes),
  ...within("connections", connectionRoutes),
  ...within("connections", endRoutes),
  ...within("connections", usageRoutes),
  ...within("connections", certificationRoutes),
  ...within("keys", keyRoutes),
  ...within("keys", keyRotationRoutes),
  ...within("catalog", productRoutes),
  ...within("catalog", importRoutes),
  ...within("catalog", exposedProductRoutes),
  ...within("catalog", productExposureRoutes),
  ...within("catalog", exposureRoutes),
  ...within("endpoints", allEndpointRoutes),
  ...within("endpoints", endpointRoutes),
  ...within("deliveries", allDeliveryRoutes),
  ...within("deliveries", deliveryRoutes),
  ...within("deliveries", resendRoutes),
  ...within("deliveries", eventRoutes),
  ...within("test-orders", testOrderRoutes),
  ...within("orders", exportRoutes),
  ...within("orders", findRoutes),
  ...within("orders", orderRoutes),
  ...within("orders", orderOperationRoutes),
  ...within("orders", orderEventRoutes),
  ...within("money", refundRoutes),
  ...within("fulfilment", shippingRoutes),
  ...within("fulfilment", shipManyRoutes),
  ...within("fulfilment", shipmentImportRoutes),
  ...within("facilities", facilityRoutes),
  ...within("stock", stockRoutes),
  ...within("stock", productStockRoutes),
  ...within("stock", merchantStockRoutes),
  ...within("stock", stockMovementRoutes),
  ...within("stock", stockImportRoutes),
  ...within("facilities", rateRoutes),
  ...within("fulfilment", workOverviewRoutes),
  ...within("fulfilment", workListRoutes),
  ...within("fulfilment", putAsideRoutes),
  ...within("fulfilment", workExportRoutes),
  ...within("fulfilment", scanRoutes),
  ...within("fulfilment", slipRoutes),
  ...within("audit", auditExportRoutes),
  ...within("audit", auditRoutes),
  ...within("system", systemRoutes),
  ...within("system", settingsRoutes),
  ...within("tokens", tokenRoutes),
  ...within("overview", overviewRoutes),
  ...within("views", viewRoutes),
  ...within("overview", searchRoutes),
  ...within("overview", updateRoutes),
  ...within("changes", changeRoutes),
  ...within("people", personRoutes),
  ...within("people", signInMethodRoutes),
  ...meRoutes.map(forEveryToken),
]
  .map(admittingSupport)
  .map(namingRecentAuthentication);
