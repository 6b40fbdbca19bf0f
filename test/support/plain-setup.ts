import { afterAll } from "vitest";
import { dropDatabases } from "./test-service.ts";

// The hooks of the file itself run before this one.
afterAll(dropDatabases);
