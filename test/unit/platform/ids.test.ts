import fc from "fast-check";
import { fromUUID, TypeID } from "typeid-js";
import { describe, expect, it } from "vitest";
import {
  bytesOf,
  fromTypeId,
  momentOf,
  newIdsFrom,
  parseUuid,
  toTypeId,
  uuidAt,
  uuidOf,
  wireOrderId,
} from "../../../src/platform/ids.ts";
import { createTestClock } from "../../support/test-clock.ts";

const UUID = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e5f";
const TYPE_ID = "ord_01jthy2z0yfd99ykht3cp3tkjz";

describe("a new id", () => {
  it("sorts after those before it, also within a millisecond and when the clock is set back", () => {
    const clock = createTestClock();
    const newId = newIdsFrom(clock);
    const ids = [newId(), newId()];
    for (const ms of [1, 0, -5_000, 60_000]) {
      clock.advance({ ms });
      ids.push(newId());
    }
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has the clock's time, and follows a clock that is set back by more than ten seconds", () => {
    const clock = createTestClock();
    const newId = newIdsFrom(clock);
    expect(momentOf(newId())).toEqual(clock.now());
    clock.advance({ ms: -10_000 });
    expect(momentOf(newId()).getTime()).toBe(clock.now().getTime() + 10_000);
    clock.advance({ ms: -1 });
    expect(momentOf(newId())).toEqual(clock.now());
  });
});

it("new ids of two processes differ, also within a millisecond", () => {
  const clock = createTestClock();
  const [newId, newIdOfOther] = [newIdsFrom(clock), newIdsFrom(clock)];
  const ids: string[] = [];
  for (let count = 0; count < 1_000; count += 1) {
    clock.advance({ ms: 1 }); // With each millisecond, an id is random again.
    ids.push(newId(), newIdOfOther());
  }
  expect(new Set(ids).size).toBe(ids.length);
});

describe("a TypeID", () => {
  it("contains the prefix and the id", () => {
    expect(toTypeId("ord", UUID)).toBe(TYPE_ID);
    expect(fromTypeId("ord", TYPE_ID)).toBe(UUID);
    fc.assert(
      fc.property(fc.uuid(), (uuid) => void expect(fromTypeId("whe", toTypeId("whe", uuid))).toBe(uuid)),
    );
  });

  it("is what the published library makes and reads, for any UUID and any text of the right length", () => {
    const read = (text: string): string | null => {
      try {
        return TypeID.fromString(text, "ord").toUUID();
      } catch {
        return null;
      }
    };
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const digit = fc.constantFrom(..."0123456789abcdefghjkmnpqrstvwxyz");
    const digits = fc.string({ unit: digit, minLength: 26, maxLength: 26 });
    fc.assert(
      fc.property(bytes, digits, (uuidBytes, suffix) => {
        const uuid = uuidOf(Buffer.from(uuidBytes));
        const id = fromUUID(uuid, "ord");
        expect(toTypeId("ord", uuid)).toBe(id);
        for (const text of [id, `ord_${suffix}`]) expect(fromTypeId("ord", text)).toBe(read(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("can have all bits or none", () => {
    for (const uuid of ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"])
      expect(fromTypeId("ord", toTypeId("ord", uuid))).toBe(uuid);
  });

  it.each([
    "",
    "ord",
    "ord_",
    TYPE_ID.replace("_", "-"),
    toTypeId("ord", "0196a3e1-7c1e-0b52-9f4e-3a1b2c3d4e5f"), // No version of RFC 9562.
    toTypeId("ord", "0196a3e1-7c1e-7b52-1f4e-3a1b2c3d4e5f"), // Another variant.
    UUID,
    TYPE_ID.slice(4),
    TYPE_ID.slice(0, -1),
    `${TYPE_ID}0`,
    TYPE_ID.replace("ord", "test"),
    TYPE_ID.toUpperCase(),
    TYPE_ID.replace("01", "81"), // Above 128 bits.
    ...["i", "l", "o", "u", "-", "é"].map((none) => TYPE_ID.replace("y2", `y${none}`)), // Not a digit.
    ` ${TYPE_ID}`,
  ])("of an order is not %j", (text) => {
    expect(fromTypeId("ord", text)).toBeNull();
  });

  it("distinguishes a test order from a real one", () => {
    expect(wireOrderId({ id: UUID, testMode: false })).toBe(TYPE_ID);
    expect(wireOrderId({ id: UUID, testMode: true })).toBe(TYPE_ID.replace("ord", "test"));
  });
});

describe("a UUID", () => {
  it("is read in either case, and is lower case afterwards", () => {
    expect(parseUuid(UUID.toUpperCase())).toBe(UUID);
    expect(parseUuid(UUID)).toBe(UUID);
  });

  it.each([
    "",
    `${UUID}0`,
    `0${UUID}`,
    UUID.slice(1),
    UUID.replaceAll("-", ""),
    `{${UUID}}`,
    UUID.replace("0", "g"),
  ])("is not %j", (text) => {
    expect(parseUuid(text)).toBeNull();
  });

  it("is converted to 16 bytes and back", () => {
    expect(bytesOf(UUID).toString("hex")).toBe("0196a3e17c1e7b529f4e3a1b2c3d4e5f");
    fc.assert(fc.property(fc.uuid(), (uuid) => void expect(uuidOf(bytesOf(uuid))).toBe(uuid)));
  });

  it("of a moment is before every id of that moment, and after every id before it", () => {
    expect(uuidAt(new Date(0))).toBe("00000000-0000-0000-0000-000000000000");
    expect(uuidAt(new Date(-1))).toBe(uuidAt(new Date(0)));
    expect(uuidAt(new Date(2 ** 48 - 1))).toBe("ffffffff-ffff-0000-0000-000000000000");
    expect(uuidAt(new Date(2 ** 48))).toBe(uuidAt(new Date(2 ** 48 - 1)));
    expect(uuidAt(new Date(0x0196a3e17c1e))).toBe("0196a3e1-7c1e-0000-0000-000000000000");
    expect(momentOf(UUID)).toEqual(new Date(0x0196a3e17c1e));
    const moment = fc.date({ min: new Date(1), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true });
    fc.assert(
      fc.property(moment, (at) => {
        const id = newIdsFrom({ now: () => at })();
        const idBefore = newIdsFrom({ now: () => new Date(at.getTime() - 1) })();
        expect([uuidAt(at), id, idBefore].toSorted()).toEqual([idBefore, uuidAt(at), id]);
        expect(momentOf(id)).toEqual(at);
      }),
    );
  });
});
