import { SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { changeLanguage, LANGUAGES, type Language } from "../text/i18n.ts";

/** On a narrow page with large letters, the choices are below each other, and none is cut off. */
const WRAPPED = { flexWrap: "wrap" } as const;

/** Light, dark, or as the system is. */
export function ThemeChoice() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      style={WRAPPED}
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

/** The language of the console, for this browser. */
export function LanguageChoice() {
  const { t, i18n } = useTranslation();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      style={WRAPPED}
      aria-label={t("shell.language")}
      value={i18n.language}
      onChange={(value) => void changeLanguage(value as Language)} // One of the values below.
      data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
    />
  );
}
