// What can be undone? Each gesture at a number and each pause in typing is a step; sliders and text have one history.

const MOST_STEPS = 200;

// Steps are states of the document: its text, and the numbers by which it differs from a text that has its model.
function makeHistory(before = [], after = []) {
  return {
    before,
    after,
    keep(state) {
      before.push(state);
      if (before.length > MOST_STEPS) before.shift();
      after.length = 0;
    },
    undo(state) {
      if (before.length === 0) return null;
      after.push(state);
      return before.pop();
    },
    redo(state) {
      if (after.length === 0) return null;
      before.push(state);
      return after.pop();
    },
  };
}

// What stays over a reload of the page, in this tab of the browser alone.

const KEPT = "robodyn studio";
const LARGEST_KEPT = 2_000_000;

function keepState(state) {
  for (const steps of [state.before.length, 5, 0]) {
    const text = JSON.stringify({ ...state, before: state.before.slice(-steps || state.before.length), after: steps ? state.after : [] });
    if (text.length > LARGEST_KEPT) continue;
    try {
      return sessionStorage.setItem(KEPT, text);
    } catch {
      return; // a browser that keeps nothing
    }
  }
}

function recallState() {
  // Who opens the address anew begins anew.
  if (performance.getEntriesByType("navigation")[0]?.type === "navigate") return null;
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}
