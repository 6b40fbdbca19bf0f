import type { ConnectionKey } from "../platform/connection-key.ts";
import type { ReviewPolicy } from "./review-policy.ts";

/** One partner's line to one merchant: the unit of access. */
export type Connection = {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  /** The merchant's currency, which every price on the connection is in. */
  readonly currency: string;
  readonly name: string;
  readonly reviewPolicy: ReviewPolicy;
  readonly createdAt: Date;
};

export const keyOf = ({ merchantId, id }: Connection): ConnectionKey => ({ merchantId, connectionId: id });
