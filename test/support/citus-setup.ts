import { afterAll } from "vitest";
import { dropCitusCopies } from "./test-service.ts";

// The hooks of the file itself run before this one.
afterAll(dropCitusCopies);
