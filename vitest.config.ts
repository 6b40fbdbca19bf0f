import { defineConfig, type TestUserConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/**
 * Processes that run tests. They mostly wait for PostgreSQL, so two are faster on two cores. Each has a server of its own;
 * one that is given by TEST_DATABASE_URL serves only one.
 */
const ON_CITUS = process.env["TEST_CITUS_URL"] !== undefined;
const WORKERS = ON_CITUS || process.env["TEST_DATABASE_URL"] !== undefined ? 1 : 2;

/** What tests of the service need: a PostgreSQL, and one process for all files. */
const ON_POSTGRES: TestUserConfig = {
  globalSetup: ["test/support/global-setup.ts"],
  pool: "forks",
  // All files share one process, because starting one for each took a fifth of the run. Files share only the
  // modules; each has its own database.
  isolate: false,
  setupFiles: ["test/support/histories.ts", `test/support/${ON_CITUS ? "citus" : "plain"}-setup.ts`],
  // Longer than anything takes on a busy machine: a test fails because of what it sees, not of how long it takes.
  testTimeout: ON_CITUS ? 120_000 : 90_000,
  expect: { poll: { timeout: 20_000 } },
  // Also for the build of the console.
  hookTimeout: 180_000,
};

const OF_A_RELEASE: TestUserConfig = {
  ...ON_POSTGRES,
  globalSetup: ["test/release/install-packages.ts", "test/support/global-setup.ts"],
  provide: { suite: "release" },
};

/**
 * What takes long and what few changes break, and the longer form of the models. They run before a release, and not for each
 * change (docs/design/testing.md, "Four commands").
 */
const LONG = [
  "test/release/bench/neighbors.test.ts",
  "test/release/docs/deployment.test.ts",
  "test/release/docs/image.test.ts",
  "test/release/embedded-postgres/**/*.test.ts",
  "test/release/long-names.test.ts",
  "test/**/*-model.test.ts",
];

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/count-reporter.ts"],
    projects: [
      // These three are `npm test`: what a change needs.
      "vitest.unit.config.ts",
      // Rules over the sources themselves; no database.
      { test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], pool: "forks" } },
      {
        test: {
          ...ON_POSTGRES,
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", "test/unit/**", "test/architecture/**", "test/release/**"],
          provide: { suite: "test" },
        },
      },
      // With these two, `npm run test:release` proves that a release can be installed, run and documented.
      {
        test: {
          ...OF_A_RELEASE,
          name: "release",
          include: ["test/release/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...LONG],
        },
      },
      { test: { ...OF_A_RELEASE, name: "long", include: LONG } },
    ],
  },
});
