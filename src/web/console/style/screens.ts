import channels from "./channels.css";
import chart from "./chart.css";
import manage from "./manage.css";
import narrow from "./narrow-screens.css";
import rows from "./rows.css";
import tables from "./tables.css";

/** The styles of the screens, which come with their file. The order matters: later rules override earlier ones. */
const screens = new CSSStyleSheet();
screens.replaceSync([tables, chart, rows, manage, channels, narrow].join(""));
document.adoptedStyleSheets.push(screens);
