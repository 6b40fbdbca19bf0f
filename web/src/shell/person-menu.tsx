import { Button, Menu, SegmentedControl, Stack, Text, useMantineColorScheme } from "@mantine/core";
import { IconUserCircle } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useMe } from "../api/me.ts";
import { changeLanguage, LANGUAGES, type Language } from "../text/i18n.ts";

/** Who is signed in, and how the console looks to them. */
export function PersonMenu() {
  const { t } = useTranslation();
  const me = useMe();
  return (
    <Menu position="bottom-end" width={260} withinPortal closeOnItemClick={false}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          leftSection={<IconUserCircle size={18} stroke={1.6} />}
        >
          {me.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Stack gap="sm" p="xs">
          <ThemeChoice />
          <LanguageChoice />
          <Text size="xs" c="dimmed">
            {t("shell.role", { role: t(`roles.${me.role}`) })}
          </Text>
        </Stack>
      </Menu.Dropdown>
    </Menu>
  );
}

function ThemeChoice() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={t("shell.theme")}
      value={colorScheme}
      onChange={(value) => setColorScheme(value as typeof colorScheme)} // One of the values below.
      data={(["auto", "light", "dark"] as const).map((value) => ({
        value,
        label: t(`shell.themes.${value}`),
      }))}
    />
  );
}

function LanguageChoice() {
  const { t, i18n } = useTranslation();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={t("shell.language")}
      value={i18n.language}
      onChange={(value) => void changeLanguage(value as Language)} // One of the values below.
      data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
    />
  );
}
