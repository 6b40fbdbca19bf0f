import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    reporters: ["default", "./test/support/count-reporter.ts"],
    pool: "forks",
    // One process for all files: to start one for each, and to load the service in it, took a fifth of the run. A file
    // shares nothing with another but the modules; each has its own database.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
