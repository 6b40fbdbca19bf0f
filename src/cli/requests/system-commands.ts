import type { RequestCommand } from "./command.ts";

/** How the service is doing. `doctor` examines the same without the service. */
export const SYSTEM_COMMANDS: readonly RequestCommand[] = [
  { words: "system show", operationId: "getSystem" },
  { words: "system check", operationId: "getSystemChecks" },
  { words: "system settings", operationId: "listSettings" },
];
