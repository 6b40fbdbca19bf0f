import { describe, inject, it } from "vitest";

/** True if the tests run on Citus. */
export const isOnCitus = (): boolean => inject("citusNodes").length > 0;

/** A test that says nothing about Citus, or that Citus cannot run. It is skipped there. */
export const itOnPlainPostgres = (_reason: string) => it.skipIf(isOnCitus());
export const describeOnPlainPostgres = (_reason: string) => describe.skipIf(isOnCitus());
