import { PERSON_COMMANDS } from "./access/person-commands.ts";
import { TOKEN_COMMANDS } from "./access/token-commands.ts";
import { AUDIT_COMMANDS } from "./audit-commands.ts";
import type { RequestCommand } from "./command.ts";
import { FACILITY_COMMANDS } from "./facility-commands.ts";
import { MERCHANT_COMMANDS } from "./merchant-commands.ts";
import { ORDER_COMMANDS } from "./order-commands.ts";
import { DELIVERY_COMMANDS } from "./partners/delivery-commands.ts";
import { ENDPOINT_COMMANDS } from "./partners/endpoint-commands.ts";
import { RESEND_COMMANDS } from "./partners/resend-commands.ts";
import { SANDBOX_COMMANDS } from "./partners/sandbox-commands.ts";
import { PRODUCT_COMMANDS } from "./product-commands.ts";
import { SYSTEM_COMMANDS } from "./system-commands.ts";
import { VIEW_COMMANDS } from "./view-commands.ts";
import { WORK_COMMANDS } from "./work-commands.ts";

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
