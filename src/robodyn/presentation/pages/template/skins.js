// Which triangles and normals are drawn for a shape? Smooth over round parts, sharp at edges.
//
// A shape is {vertices, faces} with faces as rings of vertex numbers, or {corners, triangles} with flat typed arrays.

const CREASE = Math.cos((40 * Math.PI) / 180);
// Cosine between normals that are drawn as one.
const SAME = 0.9998;

function flatten({ vertices, faces, corners, triangles }) {
  if (corners) return { corners, triangles };
  const fans = faces.flatMap((face) => face.slice(2).flatMap((corner, k) => [face[0], face[k + 1], corner]));
  return { corners: Float32Array.from(vertices.flat()), triangles: Uint32Array.from(fans) };
}

// Normal of each triangle, as long as twice its area.
function faceNormals(corners, triangles) {
  const normals = new Float32Array(triangles.length);
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k], 3 * triangles[k + 1], 3 * triangles[k + 2]];
    const [ux, uy, uz] = [corners[b] - corners[a], corners[b + 1] - corners[a + 1], corners[b + 2] - corners[a + 2]];
    const [vx, vy, vz] = [corners[c] - corners[a], corners[c + 1] - corners[a + 1], corners[c + 2] - corners[a + 2]];
    normals[k] = uy * vz - uz * vy;
    normals[k + 1] = uz * vx - ux * vz;
    normals[k + 2] = ux * vy - uy * vx;
  }
  return normals;
}

// The triangles around each corner: `list` from `start[corner]` to `start[corner + 1]`.
function facesAround(triangles, count) {
  const start = new Uint32Array(count + 1);
  for (const corner of triangles) start[corner + 1]++;
  for (let k = 0; k < count; k++) start[k + 1] += start[k];
  const [next, list] = [start.slice(), new Uint32Array(triangles.length)];
  triangles.forEach((corner, k) => (list[next[corner]++] = k - (k % 3)));
  return { start, list };
}

// Corners with their normals, six numbers each, and the triangles by their numbers: {numbers, triangles}. A corner on an
// edge is there once for each side of it.
function makeSkin(shape) {
  const { corners, triangles } = flatten(shape);
  const normals = faceNormals(corners, triangles);
  const around = facesAround(triangles, corners.length / 3);
  const lengths = Float32Array.from({ length: triangles.length / 3 }, (_, k) => lengthOf(normals.subarray(3 * k, 3 * k + 3)));
  const [numbers, numbered, made] = [[], new Uint32Array(triangles.length), Array.from({ length: corners.length / 3 }, () => [])];
  for (let k = 0; k < triangles.length; k++) {
    const corner = triangles[k];
    const normal = smoothNormal(normals, lengths, around, corner, k - (k % 3));
    let known = made[corner].find((number) => dot(normal, numbers.slice(6 * number + 3, 6 * number + 6)) > SAME);
    if (known === undefined) {
      made[corner].push((known = numbers.length / 6));
      numbers.push(corners[3 * corner], corners[3 * corner + 1], corners[3 * corner + 2], ...normal);
    }
    numbered[k] = known;
  }
  return { numbers: Float32Array.from(numbers), triangles: numbered };
}

// The mean normal of the triangles around a corner that are nearly level with one of them.
function smoothNormal(normals, lengths, { start, list }, corner, own) {
  const [nx, ny, nz] = [normals[own], normals[own + 1], normals[own + 2]];
  const least = CREASE * lengths[own / 3];
  let [x, y, z] = [0, 0, 0];
  for (let i = start[corner]; i < start[corner + 1]; i++) {
    const f = list[i];
    if (nx * normals[f] + ny * normals[f + 1] + nz * normals[f + 2] < least * lengths[f / 3]) continue;
    x += normals[f];
    y += normals[f + 1];
    z += normals[f + 2];
  }
  return unitOf([x, y, z]);
}

const COMPASS = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z) => [x, y, z]))).filter(lengthOf);

// The outermost corners of a shape, a few that stand for all when a view is fitted.
function outermost(shape) {
  const { corners } = flatten(shape);
  const found = new Set();
  for (const [x, y, z] of corners.length ? COMPASS : []) {
    let [best, far] = [0, -Infinity];
    for (let k = 0; k < corners.length; k += 3) {
      const reach = x * corners[k] + y * corners[k + 1] + z * corners[k + 2];
      if (reach > far) [best, far] = [k, reach];
    }
    found.add(best);
  }
  return [...found].map((k) => [corners[k], corners[k + 1], corners[k + 2]]);
}
