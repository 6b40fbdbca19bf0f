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
          // All files share one process, because starting one for each took a fifth of the run. Files share only the
          // modules; each has its own database.
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
