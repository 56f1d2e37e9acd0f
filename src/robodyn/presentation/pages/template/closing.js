// How do loops stay closed while a joint is moved by hand? The others follow, by Newton's method with the least motion:
//
//   x <- x - J^T (J J^T + g)^-1 h,   h(x): residuals of the loops, J: their derivatives by differences

const CLOSED = 1e-8;
const NUDGE = 1e-6;
const LARGEST_STEP = 0.3;

// How far a rotation is from none, about each axis.
const twist = (R) => [(R[2][1] - R[1][2]) / 2, (R[0][2] - R[2][0]) / 2, (R[1][0] - R[0][1]) / 2];

// Residuals of the kinds of closures, as the model has them, of points and rotations of their two ends.
const CLOSURES = {
  spherical: ({ apart }) => apart,
  universal: ({ apart, axes }) => [...apart, dot(...axes)],
  revolute: ({ apart, axes }) => [...apart, ...cross(...axes)],
  fixed: ({ apart, turned }) => [...apart, ...twist(turned)],
  prismatic: ({ apart, axes, turned }) => [...frameAlong(axes[0]).map((square) => dot(apart, square)), ...twist(turned)],
  rod: ({ apart, length }) => [lengthOf(apart) - length],
};

function residualsOf(run, closures) {
  const poses = posesAt(run, 0);
  return closures.flatMap((closure) => {
    if (closure.kind === "linear") {
      const sum = Object.entries(closure.of).reduce((total, [joint, weight]) => total + weight * positionAt(run, joint, 0), 0);
      return [sum - closure.offset];
    }
    const ends = closure.ends.map((name) => namedPoint(run, name));
    const frames = ends.map((point) => carrierOf(poses.get(point.body), point));
    const apart = subtract(...ends.map((point) => pointAt(poses, point)));
    if (closure.kind === "rod") return CLOSURES.rod({ apart, length: closure.length });
    const axes = closure.axes.map((axis, k) => turn(frames[k].R, axis));
    const turned = product(closure.rotation, product(transpose(frames[1].R), frames[0].R));
    return CLOSURES[closure.kind]({ apart, axes, turned });
  });
}

// The solution of A x = b for a symmetric positive A, by elimination.
function solvePositive(A, b) {
  const rows = A.map((row, i) => [...row, b[i]]);
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = row[i] / pivot[i];
      for (let k = i; k < row.length; k++) row[k] -= factor * pivot[k];
    }
  });
  const x = b.map(() => 0);
  for (let i = b.length - 1; i >= 0; i--) {
    const known = x.reduce((sum, value, k) => sum + (k > i ? rows[i][k] * value : 0), 0);
    x[i] = (rows[i][b.length] - known) / rows[i][i];
  }
  return x;
}

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

// Move the samples of these names until all closures hold; `settle` puts what follows them in its place. Whether they do.
function closeLoops(run, closures, names, settle) {
  for (let tries = 0; tries < 60; tries++) {
    const h = residualsOf(run, closures);
    if (largest(h) < CLOSED) return true;
    const columns = names.map((name) => {
      const value = sampleOf(run, name);
      writeSample(run, name, value + NUDGE);
      settle();
      const moved = residualsOf(run, closures);
      writeSample(run, name, value);
      return moved.map((part, i) => (part - h[i]) / NUDGE);
    });
    const A = h.map((_, i) => h.map((__, j) => columns.reduce((sum, column) => sum + column[i] * column[j], 0)));
    // Residuals that depend on each other share the motion.
    const give = 1e-9 * Math.max(1e-12, A.reduce((sum, row, i) => sum + row[i], 0));
    A.forEach((row, i) => (row[i] += give));
    const forces = solvePositive(A, h);
    const step = columns.map((column) => -column.reduce((sum, part, i) => sum + part * forces[i], 0));
    const share = Math.min(1, LARGEST_STEP / (largest(step) || 1));
    if (!Number.isFinite(share)) return false;
    names.forEach((name, k) => writeSample(run, name, sampleOf(run, name) + share * step[k]));
    settle();
  }
  return false;
}
