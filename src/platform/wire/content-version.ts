import { createHash } from "node:crypto";
import { Type } from "typebox";
import type { Problem } from "./problems.ts";

const VERSION_BYTES = 12;

/**
 * Names what is stored, so that a change can require that it is still the same
 * (docs/design/api-conventions.md, "Expected versions"). It follows from the content alone: what is changed and changed back
 * has its earlier version again. Keys of objects must come in a fixed order.
 */
export const versionOf = (content: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(content))
    .digest()
    .subarray(0, VERSION_BYTES)
    .toString("base64url");

/** @param what that is named, such as `these rates` */
export const versionField = (what: string) =>
  Type.String({
    description: `Version of ${what}, to be sent as \`expectedVersion\`. The same content has the same version. Do not parse it.`,
    examples: ["qL8R4QIcQ-ZsRSkz"],
  });

/** @param named the field that returned it, such as `version` */
export const expectedVersionField = (named: string) =>
  Type.Optional(
    Type.String({
      maxLength: 100,
      description: `The \`${named}\` that was read. If it is another one by now, the request is rejected with \`version-changed\`, unless nothing would change. Absent: the change is made in any case.`,
      examples: ["qL8R4QIcQ-ZsRSkz"],
    }),
  );

/**
 * Our choice (docs/design/api-conventions.md, "Expected versions"): 409, because the request is valid and only the state has
 * changed.
 * @param what has changed, such as `The rates`
 */
export const versionChanged = (what: string, version: string): Problem => ({
  code: "version-changed",
  detail: `${what} have changed since they were read. Read them again, and send the change with their new version.`,
  members: { version },
});
