import { Button } from "@mantine/core";
import { IconPrinter } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";

/** Prints the page. Only its papers are printed: see `base.css`. Not primary where people do something else at first. */
export function PrintButton({ isPrimary = true }: { isPrimary?: boolean }) {
  const { t } = useTranslation();
  return (
    <Button
      size="xs"
      variant={isPrimary ? "filled" : "default"}
      leftSection={<IconPrinter size={14} />}
      onClick={() => window.print()}
    >
      {t("ui.print")}
    </Button>
  );
}
