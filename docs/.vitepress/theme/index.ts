import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { rememberExampleForm } from "./example-forms.ts";
import "./style.css";

export default { extends: DefaultTheme, setup: rememberExampleForm } satisfies Theme;
