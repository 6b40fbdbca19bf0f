import { defineConfig } from "vitest/config";

/** Unit tests of the pure rules: no PostgreSQL, no listener, no process. Mutation tests run with this configuration. */
export default defineConfig({
  test: {
    name: "unit",
    include: ["test/unit/**/*.test.ts"],
    pool: "forks",
    // All files share one process. They share nothing else but the modules.
    isolate: false,
    // A busy machine may leave a process waiting for seconds.
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: ["test/support/histories.ts"],
  },
});
