/**
 * The Partner Orders API for programs in JavaScript and TypeScript.
 *
 * @packageDocumentation
 */
export type { HandledOrder, PingAnswer } from "./certification.ts";
export * from "./client.ts";
export * from "./errors.ts";
export type { FollowedEvents, FollowOptions } from "./follow.ts";
export type * from "./generated/types.ts";
export { List, type Page } from "./list.ts";
export { type ConsumeOptions, type DeliveryHandler, type HandlerResponse, Pull } from "./pull.ts";
export { isNewer, type ReconcileOptions, type Reconciliation, type StoredOrder } from "./reconcile.ts";
export type { Attempt, ClientOptions, RequestOptions } from "./transport.ts";
export {
  type ReceivedRequest,
  type UnknownEvent,
  type VerificationFailure,
  type VerifyOptions,
  type WebhookEvent,
  WebhookVerificationError,
} from "./webhooks.ts";

import { answer } from "./certification.ts";
import { verify } from "./webhooks.ts";

/** Webhooks: requests that the service sends. */
export const webhooks: { readonly verify: typeof verify; readonly answer: typeof answer } = {
  verify,
  answer,
};
