import { showOwnAddress } from "./client/address.ts";
import { addCopyButtons } from "./client/copy-buttons.ts";
import { startSearch } from "./client/search.ts";
import { makeTabs } from "./client/tabs.ts";

// The script of all pages of documentation. Each page reads well without it.
showOwnAddress();
makeTabs();
addCopyButtons();
startSearch();
