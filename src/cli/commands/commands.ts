import type { RequestCommand } from "./command.ts";
import { MERCHANT_COMMANDS } from "./merchants.ts";
import { ORDER_COMMANDS } from "./orders.ts";
import { DELIVERY_COMMANDS, ENDPOINT_COMMANDS, RESEND_COMMANDS, SANDBOX_COMMANDS } from "./partners.ts";
import { AUDIT_COMMANDS, PERSON_COMMANDS, SYSTEM_COMMANDS, TOKEN_COMMANDS, VIEW_COMMANDS } from "./people.ts";
import { FACILITY_COMMANDS, PRODUCT_COMMANDS, WORK_COMMANDS } from "./warehouse.ts";

/** The commands that are one request each. */
export const COMMANDS: readonly RequestCommand[] = [
  ...MERCHANT_COMMANDS,
  ...PRODUCT_COMMANDS,
  ...ORDER_COMMANDS,
  ...DELIVERY_COMMANDS,
  ...SANDBOX_COMMANDS,
  ...RESEND_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...FACILITY_COMMANDS,
  ...WORK_COMMANDS,
  ...AUDIT_COMMANDS,
  ...TOKEN_COMMANDS,
  ...VIEW_COMMANDS,
  ...PERSON_COMMANDS,
  ...SYSTEM_COMMANDS,
];
