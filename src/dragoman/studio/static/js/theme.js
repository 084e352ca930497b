// Before anything is painted: the theme that was chosen, or else the system's own.
const systemsOwn = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.dataset.theme = localStorage.getItem("theme") ?? systemsOwn;
