// What every module of the console takes from the vendored files.
import {h, render, Fragment} from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export {render, Fragment};
export {useEffect, useLayoutEffect, useMemo, useRef, useState, useId} from "../vendor/hooks.js";
export {signal, computed, effect, batch} from "../vendor/signals.js";

/** Makes elements of a template. A value in it becomes a text node or an attribute, never markup. */
export const html = htm.bind(h);
