import IconCheck from "icon:check";
import IconCode from "icon:code";
import { Button, Menu, useMantineTheme } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { type PartnerRequest, toCurl, toTypeScript } from "./partner-request.ts";

export const LANGUAGES = { curl: toCurl, TypeScript: toTypeScript } as const;
export type CodeLanguage = keyof typeof LANGUAGES;
export const CODE_LANGUAGES = ["curl", "TypeScript"] as const satisfies readonly CodeLanguage[];

type Props = {
  /** What it does, for those who hear the button. */
  readonly of: string;
  readonly apiUrl: string;
  readonly request: PartnerRequest;
};

/** Copies a step as a command or a program of the partner. */
export function CodeActions({ of, apiUrl, request }: Props) {
  const { t } = useTranslation();
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  const { primaryColor } = useMantineTheme();
  return (
    <Menu position="bottom-start" withinPortal withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color={copied ? "green" : primaryColor}
          leftSection={copied ? <IconCheck size={14} /> : <IconCode size={14} />}
          aria-label={t("ui.copyOf", { of: `${t("sandbox.code")}: ${of}` })}
        >
          {copied ? t("ui.copied") : t("sandbox.code")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {CODE_LANGUAGES.map((language) => (
          <Menu.Item key={language} onClick={() => copy(LANGUAGES[language](apiUrl, request))}>
            {t("sandbox.copyAs", { language })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
