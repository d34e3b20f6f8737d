// The player alone, on somebody else's page.
import { dialogs, open as openDialog } from "./dialogs.js";
import { Screen } from "./player/screen.js";

dialogs();
const screen = new Screen(document.querySelector("[data-screen]"), { theatre: () => {}, help: () => openDialog("keys") });
screen.open();
