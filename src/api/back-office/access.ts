import { type Route, routeTable } from "../http/route.ts";
import type { BackOfficeOperations } from "./operations.ts";

/**
 * Who a request of the back office acts as: the operator's machines, or a person of the warehouse or of one merchant.
 * All of them act through the same operations; decision 0038 tells who may do what.
 */
export type BackOfficeCaller =
  | { readonly kind: "operator" | "warehouse"; readonly name: string }
  /** Sees the things of this merchant, and nothing else. */
  | { readonly kind: "merchant"; readonly merchantId: string; readonly name: string };

type Admission = (caller: BackOfficeCaller) => boolean;

/** Whom a route is for. Every route of the back office names one of these. */
export const operatorOnly: Admission = ({ kind }) => kind === "operator";
export const warehouse: Admission = ({ kind }) => kind !== "merchant";
export const merchantSide: Admission = ({ kind }) => kind !== "warehouse";
export const everyone: Admission = () => true;

/** The merchant that a caller is confined to; null for those who may see every merchant's things. */
export const confinedTo = (caller: BackOfficeCaller): string | null =>
  caller.kind === "merchant" ? caller.merchantId : null;

/** Whether a caller may know that this merchant's things exist. What it may not see answers as missing. */
export const maySee = (caller: BackOfficeCaller, merchantId: string): boolean =>
  caller.kind !== "merchant" || caller.merchantId === merchantId;

/** Declares a row of the back office's table. */
export const route = routeTable<BackOfficeOperations, BackOfficeCaller>();

export type BackOfficeRoute = Route<BackOfficeOperations, BackOfficeCaller>;
