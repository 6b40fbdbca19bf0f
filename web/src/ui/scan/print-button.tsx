import { Button } from "@mantine/core";
import { IconPrinter } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";

/** Prints the page. Only its papers are printed: see `base.css`. */
export function PrintButton() {
  const { t } = useTranslation();
  return (
    <Button size="xs" leftSection={<IconPrinter size={14} />} onClick={() => window.print()}>
      {t("ui.print")}
    </Button>
  );
}
