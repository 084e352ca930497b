// Light or dark: as the system says, until a person chooses.
import { computed, effect, signal } from "./lib.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => { systemDark.value = system.matches; });

export const theme = signal(localStorage.getItem("theme") ?? "system");
export const dark = computed(() =>
  theme.value === "system" ? systemDark.value : theme.value === "dark");

effect(() => { document.documentElement.dataset.theme = dark.value ? "dark" : "light"; });

export function nextTheme() {
  theme.value = dark.value ? "light" : "dark";
  localStorage.setItem("theme", theme.value);
}
