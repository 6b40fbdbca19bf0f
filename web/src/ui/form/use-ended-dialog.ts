import { type RefObject, useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";
import { useAnnounce } from "../announce.ts";

type Dialog = {
  readonly label: string;
  /** The button that opened it. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly isSending: boolean;
};

/**
 * Says why a dialog is gone if the page removed it together with its button: another person has done it, or it is no longer
 * possible (docs/design/console.md, "Dialogs"). A person who closes a dialog, or leaves its page, knows why it is gone, and the
 * outcome of what was sent is announced itself.
 */
export function useEndedDialog({ label, button, isSending }: Dialog): void {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const say = useEffectEvent(() => {
    if (!isSending) announce.ended(t("ui.dialogEnded", { action: label }));
  });
  useEffect(() => {
    const opener = button.current;
    const { href } = location;
    return () => {
      if (opener?.isConnected === false && location.href === href) say();
    };
  }, [button]);
}
