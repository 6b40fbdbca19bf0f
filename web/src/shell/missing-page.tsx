import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { paths } from "../paths.ts";
import { TextLink } from "../ui/link.tsx";
import { Page } from "../ui/page.tsx";

/** An address that no page has. */
export function MissingPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("shell.missing")}>
      <Text size="sm">{t("shell.missingHelp")}</Text>
      <TextLink to={paths.overview()}>{t("shell.toStart")}</TextLink>
    </Page>
  );
}
