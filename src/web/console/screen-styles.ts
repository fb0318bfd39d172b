import channels from "./style/channels.css";
import chart from "./style/chart.css";
import found from "./style/found.css";
import manage from "./style/manage.css";
import narrow from "./style/narrow-screens.css";
import rows from "./style/rows.css";
import tables from "./style/tables.css";

/** The styles of the screens, which come with their file. The order matters: later rules override earlier ones. */
const screens = new CSSStyleSheet();
screens.replaceSync([tables, chart, rows, manage, channels, found, narrow].join(""));
document.adoptedStyleSheets.push(screens);
