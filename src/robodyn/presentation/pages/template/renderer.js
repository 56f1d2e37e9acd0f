// How do shapes become pixels? WebGL 2 with a depth buffer: a floor grid, shadows on it, lit shapes, lines, clear shapes.
//
// Colours are mixed with their share already multiplied in, so that the page shines through where nothing is drawn.

const NO_WEBGL = "No 3-D picture: this browser has no WebGL 2, or it is switched off.";
const POSE = `
  uniform mat4 view; uniform mat4 pose; uniform float lift;
  vec4 seen(vec3 place) {
    vec4 spot = view * vec4(place, 1.0);
    // As if nearer by a length: in front of what it sits on.
    spot.z += lift / spot.w;
    return spot;
  }`;
const PROGRAMS = {
  solid: {
    vertex: `${POSE}
      layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
      out vec3 n; out vec3 p;
      void main() { vec4 world = pose * vec4(place, 1.0); p = world.xyz; n = mat3(pose) * normal; gl_Position = seen(p); }`,
    fragment: `
      uniform vec3 colour; uniform float alpha; uniform vec3 eye; uniform vec3 up; uniform vec3 key;
      in vec3 n; in vec3 p; out vec4 pixel;
      void main() {
        vec3 normal = normalize(gl_FrontFacing ? n : -n);
        vec3 towards = normalize(eye - p);
        float sky = 0.27 + 0.17 * dot(normal, up);
        float lamp = 0.42 * max(dot(normal, key), 0.0) + 0.14 * max(dot(normal, towards), 0.0);
        float shine = 0.08 * pow(max(dot(normal, normalize(key + towards)), 0.0), 36.0);
        vec3 light = pow(colour, vec3(2.2)) * (sky + lamp) + shine;
        pixel = vec4(pow(min(light, 1.0), vec3(1.0 / 2.2)) * alpha, alpha);
      }`,
  },
  shadow: {
    vertex: `${POSE}
      layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
      uniform vec3 up; uniform vec3 key; uniform float ground;
      void main() {
        vec3 world = (pose * vec4(place, 1.0)).xyz;
        float height = dot(world, up) - ground;
        gl_Position = seen(world - key * (max(height, 0.0) / dot(key, up)) - up * min(height, 0.0));
      }`,
    fragment: `
      uniform vec4 shade; out vec4 pixel;
      void main() { pixel = vec4(shade.rgb * shade.a, shade.a); }`,
  },
  floor: {
    vertex: `${POSE}
      layout(location = 0) in vec2 spot;
      uniform vec3 middle; uniform vec3 across; uniform vec3 along; uniform float size;
      out vec2 grid; out vec2 from;
      void main() {
        vec3 world = middle + size * (spot.x * across + spot.y * along);
        grid = vec2(dot(world, across), dot(world, along)); from = spot; gl_Position = seen(world);
      }`,
    fragment: `
      uniform vec3 colour; uniform float step; in vec2 grid; in vec2 from; out vec4 pixel;
      void main() {
        vec2 cells = grid / step, width = fwidth(cells);
        vec2 off = abs(fract(cells - 0.5) - 0.5) / max(width, 1e-6);
        vec2 lines = clamp(1.1 - off, 0.0, 1.0) * (1.0 - smoothstep(0.3, 0.9, width));
        vec2 axis = vec2(abs(grid.x) < step * 0.5 ? 1.0 : 0.5, abs(grid.y) < step * 0.5 ? 1.0 : 0.5);
        float ink = max(lines.x * axis.x, lines.y * axis.y);
        float fade = 1.0 - smoothstep(0.35, 1.0, length(from));
        pixel = vec4(colour, 1.0) * ink * fade;
      }`,
  },
  line: {
    vertex: `${POSE}
      layout(location = 0) in vec2 spot; layout(location = 1) in vec4 a; layout(location = 2) in vec4 b;
      layout(location = 3) in vec3 tint;
      uniform vec2 canvas; uniform vec2 widths; uniform vec2 alphas; uniform float time; uniform vec3 colour;
      out float strength; out vec3 shade;
      void main() {
        shade = tint.x < 0.0 ? colour : tint;
        bool past = b.w <= time;
        strength = past ? alphas.x : alphas.y;
        vec4 from = seen((pose * vec4(a.xyz, 1.0)).xyz), to = seen((pose * vec4(b.xyz, 1.0)).xyz);
        if (from.w < 1e-4 || to.w < 1e-4) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
        vec2 way = (to.xy / to.w - from.xy / from.w) * canvas;
        vec2 ahead = length(way) > 1e-5 ? normalize(way) : vec2(1.0, 0.0);
        vec4 end = spot.x > 0.0 ? to : from;
        vec2 shift = (ahead * spot.x * 0.4 + vec2(-ahead.y, ahead.x) * spot.y) * 0.5 * (past ? widths.x : widths.y);
        gl_Position = vec4(end.xy + shift / canvas * end.w, end.zw);
      }`,
    fragment: `
      in float strength; in vec3 shade; out vec4 pixel;
      void main() { pixel = vec4(shade, 1.0) * strength; }`,
  },
};

function compileProgram(gl, { vertex, fragment }) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;\n${text}`);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const shaders = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`${gl.getProgramInfoLog(program)} ${shaders.join(" ")}`);
  }
  const places = new Map();
  const uniform = (name) => places.get(name) ?? places.set(name, gl.getUniformLocation(program, name)).get(name);
  return { program, uniform };
}

// A pose {R, p} as the columns of a matrix.
function poseMatrix({ R, p }) {
  return [R[0][0], R[1][0], R[2][0], 0, R[0][1], R[1][1], R[2][1], 0, R[0][2], R[1][2], R[2][2], 0, ...p, 1];
}

// Null where the browser has no WebGL 2. Else {clear, drawFloor, drawShadows, drawShapes, drawLines}: what a picture is
// drawn with, in this order.
function makeRenderer(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, preserveDrawingBuffer: true });
  if (!gl) return null;
  const programs = Object.fromEntries(Object.entries(PROGRAMS).map(([name, texts]) => [name, compileProgram(gl, texts)]));
  const skins = new WeakMap();
  const square = makeBuffer(gl, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
  let current = null;

  const use = (name, view, values) => {
    current = programs[name];
    gl.useProgram(current.program);
    gl.uniformMatrix4fv(current.uniform("view"), false, view.matrix);
    gl.uniform1f(current.uniform("lift"), 0);
    set(values);
  };
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) {
      const place = current.uniform(name);
      if (typeof value === "number") gl.uniform1f(place, value);
      else gl[{ 2: "uniform2fv", 3: "uniform3fv", 4: "uniform4fv" }[value.length]](place, value);
    }
  };
  // Shapes that are made anew for every picture are not kept.
  const skinOf = (shape) => {
    const kept = skins.get(shape);
    if (kept) return kept;
    const made = makeSkinBuffer(gl, makeSkin(shape));
    if (!shape.fleeting) skins.set(shape, made);
    return made;
  };
  const drawSkin = ({ shape, pose }) => {
    const skin = skinOf(shape);
    gl.bindVertexArray(skin.array);
    gl.uniformMatrix4fv(current.uniform("pose"), false, poseMatrix(pose));
    gl.drawElements(gl.TRIANGLES, skin.count, gl.UNSIGNED_INT, 0);
    if (shape.fleeting) freeSkin(gl, skin);
  };

  return {
    clear(width, height) {
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clearStencil(0);
      gl.depthMask(true);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    },

    drawFloor(view, floor) {
      use("floor", view, floor);
      gl.depthMask(false);
      gl.bindVertexArray(square);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      gl.depthMask(true);
    },

    // Where shadows meet they are no darker: each pixel is drawn once.
    drawShadows(view, items, values) {
      use("shadow", view, values);
      gl.depthMask(false);
      gl.disable(gl.DEPTH_TEST);
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      items.forEach(drawSkin);
      gl.disable(gl.STENCIL_TEST);
      gl.enable(gl.DEPTH_TEST);
      gl.depthMask(true);
    },

    // Items are {shape, pose, colour, alpha, lift, layer}; of a layer of clear ones only the nearest to the eye is mixed in.
    drawShapes(view, items, { eye, up, key }) {
      const opaque = items.filter(({ alpha = 1 }) => alpha === 1);
      const clear = items.filter(({ alpha = 1 }) => alpha < 1);
      use("solid", view, { eye, up, key });
      const draw = (item) => {
        set({ colour: item.colour, alpha: item.alpha ?? 1, lift: item.lift ? item.lift * view.lifting : 0 });
        drawSkin(item);
      };
      opaque.forEach(draw);
      for (const group of new Set(clear.map(({ layer = 0 }) => layer))) {
        const together = clear.filter(({ layer = 0 }) => layer === group);
        gl.colorMask(false, false, false, false);
        together.forEach(draw);
        gl.colorMask(true, true, true, true);
        together.forEach(draw);
      }
    },

    // A line is {points: [x, y, z, time, ...], tints: a colour for each piece, if they differ}, drawn [behind, ahead] of a
    // time by widths [pixels] and strengths.
    drawLines(view, lines, canvasSize) {
      use("line", view, { canvas: canvasSize.map((side) => side / 2) });
      for (const { line, colour, widths, alphas, time, lift = 0, pose = AT_REST } of lines) {
        const kept = skins.get(line) ?? skins.set(line, makeLineBuffer(gl, line)).get(line);
        if (kept.count < 1) continue;
        set({ colour, widths, alphas, time, lift: lift * view.lifting });
        gl.uniformMatrix4fv(current.uniform("pose"), false, poseMatrix(pose));
        gl.bindVertexArray(kept.array);
        gl.drawArrays(gl.TRIANGLES, 0, kept.count);
      }
    },
  };
}

function makeBuffer(gl, numbers) {
  const [array, buffer] = [gl.createVertexArray(), gl.createBuffer()];
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  return array;
}

function makeSkinBuffer(gl, skin) {
  const [array, buffer, order] = [gl.createVertexArray(), gl.createBuffer(), gl.createBuffer()];
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, skin.numbers, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, order);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, skin.triangles, gl.STATIC_DRAW);
  for (const k of [0, 1]) {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k);
  }
  return { array, buffers: [buffer, order], count: skin.triangles.length };
}

function freeSkin(gl, { array, buffers }) {
  gl.deleteVertexArray(array);
  buffers.forEach((buffer) => gl.deleteBuffer(buffer));
}

const SQUARE = [[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]];

// Two triangles for each piece between two points that follow each other; each corner knows both ends.
function makeLineBuffer(gl, { points, tints = null }) {
  const numbers = [];
  for (let k = 0; k + 4 < points.length; k += 4) {
    const ends = points.slice(k, k + 8);
    const tint = tints ? tints[k / 4] : [-1, -1, -1];
    for (const corner of SQUARE) numbers.push(...corner, ...ends, ...tint);
  }
  const [array, buffer] = [gl.createVertexArray(), gl.createBuffer()];
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(numbers), gl.STATIC_DRAW);
  [[2, 0], [4, 8], [4, 24], [3, 40]].forEach(([size, offset], k) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, size, gl.FLOAT, false, 52, offset);
  });
  return { array, count: numbers.length / 13 };
}
