import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/count-reporter.ts"],
    projects: [
      "vitest.unit.config.ts",
      // Rules over the sources themselves; no database.
      { test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], pool: "forks" } },
      {
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: ["test/unit/**", "test/architecture/**"],
          globalSetup: ["test/support/global-setup.ts"],
          pool: "forks",
          // One process for all files: to start one for each, and to load the service in it, took a fifth of the run. A file
          // shares nothing with another but the modules; each has its own database.
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
