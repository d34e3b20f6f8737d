// What every page does: appearance, side bar, menu, search key, more pages in place, dates, dialogs, copying.
import { copyButtons } from "./copying.js";
import { dialogs } from "./dialogs.js";
import { fullDates } from "./site/dates.js";
import { foldSide } from "./site/fold_side.js";
import { closeMenus } from "./site/menus.js";
import { pagesInPlace } from "./site/pages.js";
import { searchKey } from "./site/search_key.js";
import { themeChoice } from "./site/theme.js";

themeChoice();
foldSide();
closeMenus();
searchKey();
fullDates();
pagesInPlace();
dialogs();
copyButtons();
