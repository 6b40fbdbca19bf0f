import { Type } from "typebox";
import { SETTING_UNITS, type Setting, settingsOf } from "../../../monitoring/settings.ts";
import { enumeration, noNextCursor, nullable } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../access.ts";

const SettingSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the variable of the environment." }),
    value: nullable(
      Type.String(),
      "The value in use, as one would write it. An address is without user, password and query. Null: it has none, or is secret.",
    ),
    isSecret: Type.Boolean({ description: "Whether the value is never shown." }),
    isSet: Type.Boolean({ description: "Whether it has a value, its own or the default." }),
    isDefault: Type.Boolean({ description: "Whether the value in use is the default." }),
    default: nullable(
      Type.String(),
      "The value without the variable. Null: it has none then, or the service generates it.",
    ),
    unit: nullable(
      enumeration(
        "SettingUnit",
        SETTING_UNITS,
        "Unit of the value: `seconds`, `milliseconds`, `days` or `requests per minute`.",
      ),
      "Unit of the value, or of each value of a list. Null: it has none.",
    ),
  },
  {
    title: "Setting",
    description: "A variable of the configuration. It changes only when the process starts again.",
  },
);

const SettingsSchema = Type.Object(
  {
    documentation: Type.String({ description: "The page of the documentation that explains each variable." }),
    data: Type.Array(SettingSchema, { description: "All variables." }),
    nextCursor: noNextCursor,
  },
  { title: "Settings", description: "The configuration of a process." },
);

const toWireSetting = (setting: Setting) => ({
  ...setting,
  isDefault: setting.isSecret ? !setting.isSet : setting.value === setting.default,
});

export const settingsRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/settings",
    operationId: "listSettings",
    admits: operatorOnly,
    tag: "System",
    summary: "List the settings of the service",
    description:
      "The configuration of the process that responds, without secrets. Processes with other roles can have another one.",
    responses: { 200: { description: "The settings.", schema: SettingsSchema } },
    problems: [],
    handle: async (_request, { context }) => ({
      status: 200,
      body: {
        documentation: "docs/configuration.md",
        data: settingsOf(context.config).map(toWireSetting),
        nextCursor: null,
      },
    }),
  }),
];
