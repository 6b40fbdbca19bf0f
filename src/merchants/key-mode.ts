import type { ConnectionKey } from "../platform/connection-key.ts";
import { describedAs, enumeration } from "../platform/wire/schemas.ts";

const KEY_MODES = ["live", "test"] as const;
/** Decision 0074. */
export type KeyMode = (typeof KEY_MODES)[number];

/** One vocabulary for keys and webhook endpoints. */
export const ModeSchema = enumeration(
  "Mode",
  KEY_MODES,
  "`live`: for real orders and test orders. `test`: for test orders only.",
);

export const KeyModeSchema = describedAs(
  ModeSchema,
  "`live`: the key can do everything. `test`: it creates and changes test orders and test endpoints only, and finds no real order.",
);

/** What a key gives access to: its connection, or of its orders only the test orders. */
export type KeyAccess = ConnectionKey & { readonly testOnly: boolean };

export const fullAccess = ({ merchantId, connectionId }: ConnectionKey): KeyAccess => ({
  merchantId,
  connectionId,
  testOnly: false,
});
