import fc from "fast-check";
import pg from "pg";
import { expect, it } from "vitest";
import { parseUtcTimestamp } from "../../../src/platform/time.ts";

const ofTheDriver = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

it("a time that PostgreSQL sends is read as the driver reads it, or left to the driver", () => {
  const noInvalidDate = true;
  const anyTime = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate });
  const anyOffset = fc.constantFrom("+00", "+02", "-11", "+05:30", "+00:53:28", "-00:01");
  fc.assert(
    fc.property(anyTime, fc.nat(6), anyOffset, fc.boolean(), (time, digits, offset, isBeforeChrist) => {
      const iso = time.toISOString();
      const fraction = digits === 0 ? "" : `.${`${iso.slice(20, 23)}987`.slice(0, digits)}`;
      const text = `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction}${offset}${isBeforeChrist ? " BC" : ""}`;
      const isInUtc = offset === "+00" && digits <= 3 && !isBeforeChrist && time.getUTCFullYear() >= 1_000;
      expect(parseUtcTimestamp(text)).toEqual(isInUtc ? ofTheDriver(text) : null);
    }),
  );
});

it("the first and the last moment of a second are read, and times without an end are left to the driver", () => {
  const seconds = ["2026-11-23 07:15:03+00", "2026-11-23 07:15:03.999+00", "2024-02-29 23:59:59.05+00"];
  expect(seconds.map(parseUtcTimestamp)).toEqual([
    new Date("2026-11-23T07:15:03.000Z"),
    new Date("2026-11-23T07:15:03.999Z"),
    new Date("2024-02-29T23:59:59.050Z"),
  ]);
  expect(["infinity", "-infinity"].map(parseUtcTimestamp)).toEqual([null, null]);
});
