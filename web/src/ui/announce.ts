import { notifications } from "@mantine/notifications";
import { useTranslation } from "react-i18next";
import { useProblemText } from "./problem-message.tsx";

/** What was not expected stays longer than a success: it has to be read. */
const UNEXPECTED_MS = 10_000;

type Announce = {
  /** The outcome, in a few words. */
  done(message: string): void;
  /** What the page has taken away from the person, and why. */
  ended(message: string): void;
  failed(error: unknown): void;
};

/** Announces what happened in a corner of the page, over whichever page is shown then. */
export function useAnnounce(): Announce {
  const { t } = useTranslation();
  const textOf = useProblemText();
  const closeButtonProps = { "aria-label": t("ui.close") };
  return {
    done: (message) => notifications.show({ message, color: "green", closeButtonProps }),
    ended: (message) =>
      notifications.show({ message, color: "yellow", autoClose: UNEXPECTED_MS, closeButtonProps }),
    failed: (error) =>
      notifications.show({
        message: textOf(error),
        color: "red",
        autoClose: UNEXPECTED_MS,
        closeButtonProps,
      }),
  };
}
