import { read } from "../../api/read.ts";

/** @param filters as in the address of the list */
export const sandboxConnectionsQuery = (filters: { q?: string | undefined; cursor?: string | undefined }) =>
  read("/api/connections", { params: { query: { limit: 50, ...filters } } });

/** The products that can be ordered, by a part of their SKU or name. */
export const exposedProductsQuery = (id: string, q: string) =>
  read("/api/connections/{id}/products", {
    params: { path: { id }, query: { limit: 20, status: "active", ...(q !== "" && { q }) } },
  });

export const testOrdersQuery = (id: string) =>
  read("/api/connections/{id}/test-orders", { params: { path: { id }, query: { limit: 50 } } });

export const testOrderQuery = (id: string, orderId: string) =>
  read("/api/connections/{id}/test-orders/{orderId}", { params: { path: { id, orderId } } });

export const faultsQuery = (id: string, orderId: string) =>
  read("/api/connections/{id}/test-orders/{orderId}/delivery-faults", { params: { path: { id, orderId } } });

export const orderEventsQuery = (orderId: string) =>
  read("/api/orders/{id}/events", { params: { path: { id: orderId }, query: { limit: 100 } } });

/** Deliveries without their requests: reading those is recorded in the audit log. */
export const orderDeliveriesQuery = (id: string, orderId: string) =>
  read("/api/connections/{id}/deliveries", { params: { path: { id }, query: { orderId, limit: 100 } } });
