import { admittingSupport, type BackOfficeRoute, namingRecentAuthentication } from "./access.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { auditExportRoutes } from "./audit/export-routes.ts";
import { exposedProductRoutes } from "./catalog/exposed-product-routes.ts";
import { exposureRoutes } from "./catalog/exposure-routes.ts";
import { importRoutes } from "./catalog/import-routes.ts";
import { productExposureRoutes } from "./catalog/product-exposure-routes.ts";
import { productRoutes } from "./catalog/product-routes.ts";
import { facilityRoutes } from "./facilities/facility-routes.ts";
import { productStockRoutes } from "./facilities/product-stock-routes.ts";
import { rateRoutes } from "./facilities/rate-routes.ts";
import { stockMovementRoutes } from "./facilities/stock-movement-routes.ts";
import { stockRoutes } from "./facilities/stock-routes.ts";
import { connectionRoutes } from "./merchants/connection-routes.ts";
import { keyRotationRoutes } from "./merchants/key-rotation-routes.ts";
import { keyRoutes } from "./merchants/key-routes.ts";
import { merchantRoutes } from "./merchants/merchant-routes.ts";
import { usageRoutes } from "./merchants/usage-routes.ts";
import { accountRoutes } from "./money/account-routes.ts";
import { chargeListRoutes } from "./money/charge-list-routes.ts";
import { chargeRoutes } from "./money/charge-routes.ts";
import { failureRoutes } from "./money/failure-routes.ts";
import { refundRoutes } from "./money/refund-routes.ts";
import { statementRoutes } from "./money/statement-routes.ts";
import { stripeRoutes } from "./money/stripe-routes.ts";
import { deliveryRoutes } from "./orders/delivery-routes.ts";
import { exportRoutes } from "./orders/export-routes.ts";
import { findRoutes } from "./orders/find-routes.ts";
import { orderEventRoutes } from "./orders/history/order-event-routes.ts";
import { orderOperationRoutes } from "./orders/order-operation-routes.ts";
import { orderRoutes } from "./orders/order-routes.ts";
import { shippingRoutes } from "./orders/shipping-routes.ts";
import { overviewRoutes } from "./overview/overview-routes.ts";
import { workOverviewRoutes } from "./overview/work-overview-routes.ts";
import { personRoutes } from "./people/manage/person-routes.ts";
import { signInMethodRoutes } from "./people/manage/sign-in-method-routes.ts";
import { testOrderRoutes } from "./sandbox/test-order-routes.ts";
import { searchRoutes } from "./search/search-routes.ts";
import { settingsRoutes } from "./system/settings-routes.ts";
import { systemRoutes } from "./system/system-routes.ts";
import { meRoutes } from "./tokens/me-routes.ts";
import { tokenRoutes } from "./tokens/token-routes.ts";
import { updateRoutes } from "./updates/update-routes.ts";
import { viewRoutes } from "./views/view-routes.ts";
import { endpointChangeRoutes } from "./webhooks/endpoint-change-routes.ts";
import { endpointRoutes } from "./webhooks/endpoint-routes.ts";
import { eventRoutes } from "./webhooks/event-routes.ts";
import { resendRoutes } from "./webhooks/resend-routes.ts";
import { scanRoutes } from "./work-list/scan-routes.ts";
import { slipRoutes } from "./work-list/slip-routes.ts";
import { workExportRoutes } from "./work-list/work-export-routes.ts";
import { workListRoutes } from "./work-list/work-list-routes.ts";

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
