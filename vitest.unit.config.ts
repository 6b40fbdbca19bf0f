import { defineConfig } from "vitest/config";

/** The pure rules. These tests start nothing: no PostgreSQL, no listener, no process. */
export default defineConfig({
  test: {
    name: "unit",
    include: ["test/unit/**/*.test.ts"],
    pool: "forks",
    // One process for all files, since a file shares nothing with another but the modules.
    isolate: false,
  },
});
