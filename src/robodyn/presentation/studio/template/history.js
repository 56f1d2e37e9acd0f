// What can be undone? Each gesture at a number, or several taken over at once, is one step.

const MOST_STEPS = 200;

function makeHistory() {
  const [before, after] = [[], []];
  return {
    // Remember numbers as they are before a gesture.
    keep(values) {
      before.push(new Map(values));
      if (before.length > MOST_STEPS) before.shift();
      after.length = 0;
    },
    undo(values) {
      if (before.length === 0) return null;
      after.push(new Map(values));
      return before.pop();
    },
    redo(values) {
      if (after.length === 0) return null;
      before.push(new Map(values));
      return after.pop();
    },
    get undoable() {
      return before.length > 0;
    },
    get redoable() {
      return after.length > 0;
    },
  };
}
