import type { ConnectionKey } from "../platform/connection-key.ts";
import type { LimitOverrides } from "./limits.ts";
import type { ReviewPolicy } from "./review-policy.ts";

/** The access of one partner to one merchant. */
export type Connection = {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  /** The merchant's currency. All prices of the connection are in it. */
  readonly currency: string;
  readonly name: string;
  readonly reviewPolicy: ReviewPolicy;
  /** What the operator has changed of the limits on what the connection can store. */
  readonly limits: LimitOverrides;
  readonly createdAt: Date;
};

export const keyOf = ({ merchantId, id }: Connection): ConnectionKey => ({ merchantId, connectionId: id });
