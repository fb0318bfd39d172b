import { showOwnAddress } from "./client/address.ts";
import { addCopyButtons } from "./client/copy-buttons.ts";
import { startSearch } from "./client/search.ts";
import { makeTabs } from "./client/tabs.ts";

// The script of all documentation pages. They work without it.
showOwnAddress();
makeTabs();
addCopyButtons();
startSearch();
