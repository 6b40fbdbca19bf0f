import { admittingSupport, type BackOfficeRoute, namingRecentAuthentication } from "./access.ts";
import { auditExportRoutes, auditRoutes } from "./audit.ts";
import { connectionRoutes, usageRoutes } from "./connections.ts";
import { exposureRoutes } from "./exposure.ts";
import { facilityRoutes, rateRoutes } from "./facilities.ts";
import { importRoutes } from "./import.ts";
import { keyRotationRoutes, keyRoutes } from "./keys.ts";
import { merchantRoutes } from "./merchants.ts";
import { accountRoutes, stripeRoutes } from "./money/account.ts";
import { chargeListRoutes, chargeRoutes } from "./money/charges.ts";
import { failureRoutes } from "./money/failures.ts";
import { refundRoutes } from "./money/refunds.ts";
import { statementRoutes } from "./money/statements.ts";
import { deliveryRoutes, orderEventRoutes } from "./orders/deliveries.ts";
import { exportRoutes } from "./orders/export.ts";
import { findRoutes, orderRoutes } from "./orders/orders.ts";
import { shippingRoutes } from "./orders/shipping.ts";
import { orderOperationRoutes } from "./orders/transitions.ts";
import { overviewRoutes } from "./overview.ts";
import { personRoutes, signInMethodRoutes } from "./people/people.ts";
import { exposedProductRoutes, productExposureRoutes, productRoutes } from "./products.ts";
import { resendRoutes } from "./resends.ts";
import { testOrderRoutes } from "./sandbox.ts";
import { searchRoutes } from "./search.ts";
import { productStockRoutes, stockMovementRoutes, stockRoutes } from "./stock.ts";
import { settingsRoutes, systemRoutes } from "./system.ts";
import { meRoutes, tokenRoutes } from "./tokens.ts";
import { updateRoutes } from "./updates/routes.ts";
import { viewRoutes } from "./views.ts";
import { endpointChangeRoutes, endpointRoutes, eventRoutes } from "./webhook-endpoints.ts";
import { scanRoutes } from "./work-list/scan.ts";
import { slipRoutes } from "./work-list/slips.ts";
import { workExportRoutes, workListRoutes } from "./work-list/work-list.ts";
import { workOverviewRoutes } from "./work-overview.ts";

/** All routes of the back office API. Each names who may use it; support may read. */
export const backOfficeRoutes: readonly BackOfficeRoute[] = [
  ...merchantRoutes,
  ...accountRoutes,
  ...statementRoutes,
  ...chargeRoutes,
  ...chargeListRoutes,
  ...failureRoutes,
  ...stripeRoutes,
  ...connectionRoutes,
  ...usageRoutes,
  ...keyRoutes,
  ...keyRotationRoutes,
  ...productRoutes,
  ...importRoutes,
  ...exposedProductRoutes,
  ...productExposureRoutes,
  ...exposureRoutes,
  ...endpointRoutes,
  ...endpointChangeRoutes,
  ...deliveryRoutes,
  ...resendRoutes,
  ...eventRoutes,
  ...testOrderRoutes,
  ...exportRoutes,
  ...findRoutes,
  ...orderRoutes,
  ...orderOperationRoutes,
  ...orderEventRoutes,
  ...refundRoutes,
  ...shippingRoutes,
  ...facilityRoutes,
  ...stockRoutes,
  ...productStockRoutes,
  ...stockMovementRoutes,
  ...rateRoutes,
  ...workOverviewRoutes,
  ...workListRoutes,
  ...workExportRoutes,
  ...scanRoutes,
  ...slipRoutes,
  ...auditExportRoutes,
  ...auditRoutes,
  ...systemRoutes,
  ...settingsRoutes,
  ...tokenRoutes,
  ...overviewRoutes,
  ...viewRoutes,
  ...searchRoutes,
  ...updateRoutes,
  ...personRoutes,
  ...signInMethodRoutes,
  ...meRoutes,
]
  .map(admittingSupport)
  .map(namingRecentAuthentication);
