import { Group, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { Setting } from "../../api/schema.d.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Filters, FlagFilter } from "../../ui/list/filters.tsx";
import { Page } from "../../ui/page.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { settingsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/settings");

/** The configuration of the process that responds. It is changed in the environment, never here. */
export function SettingsPage() {
  const { t } = useTranslation();
  const { changed } = route.useSearch();
  const { data: settings } = useSuspenseQuery(settingsQuery());
  const shown = settings.data.filter(({ isDefault }) => changed === undefined || isDefault !== changed);
  return (
    <Page title={t("settings.title")} about={t("settings.about")}>
      <Filters>
        <FlagFilter
          label={t("settings.show")}
          name="changed"
          value={changed}
          yes={t("settings.changed")}
          no={t("settings.defaults")}
        />
      </Filters>
      <DataTable
        label={t("settings.title")}
        rows={shown}
        rowKey={({ name }) => name}
        columns={[
          { name: t("settings.variable"), cell: ({ name }) => <Name>{name}</Name> },
          { name: t("settings.value"), cell: (setting) => <Value of={setting} /> },
          {
            name: t("settings.unit"),
            cell: ({ unit }) => (unit === null ? "–" : t(`settings.units.${unit}`)),
            isMinor: true,
          },
          { name: t("settings.default"), cell: (setting) => <Default of={setting} />, isMinor: true },
        ]}
      />
    </Page>
  );
}

const Name = ({ children }: { children: string }) => (
  <Text span inherit ff="monospace" style={{ whiteSpace: "nowrap" }}>
    {children}
  </Text>
);

const Code = ({ children }: { children: string }) => (
  <Text span inherit ff="monospace" style={{ overflowWrap: "anywhere" }}>
    {children}
  </Text>
);

function Value({ of: { value, isSecret, isSet, isDefault } }: { of: Setting }) {
  const { t } = useTranslation();
  if (isSecret) return <Pill>{t(isSet ? "settings.secret" : "settings.notSet")}</Pill>;
  return (
    <Group gap={6} component="span">
      {value === null ? t("settings.notSet") : <Code>{value}</Code>}
      {!isDefault && <Pill tone="info">{t("settings.changed")}</Pill>}
    </Group>
  );
}

const Default = ({ of }: { of: Setting }) => (of.default === null ? "–" : <Code>{of.default}</Code>);
