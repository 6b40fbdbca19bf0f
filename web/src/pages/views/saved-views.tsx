import IconBookmark from "icon:bookmark";
import { Button, Popover, Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import type { SavedViewsProps } from "./view-list.tsx";

const ViewList = lazy(async () => ({ default: (await import("./view-list.tsx")).Views }));

/** The views of a list that the person has saved, and the way to save the filters of now. */
export function SavedViews({ page, to }: SavedViewsProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconBookmark size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {t("views.title")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("views.title")}>
        {isOpen && (
          <Suspense fallback={<Skeleton height={120} />}>
            <ViewList page={page} to={to} close={() => setOpen(false)} />
          </Suspense>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
