// Runs before the first paint, so that a chosen theme does not flash. The policy forbids inline scripts.
(function () {
  "use strict";
  try {
    var theme = localStorage.getItem("materia.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    var language = localStorage.getItem("materia.language");
    if (language === "th" || language === "en") document.documentElement.lang = language;
  } catch (_) {
    // Storage may be off; the system's choice then holds.
  }
})();
