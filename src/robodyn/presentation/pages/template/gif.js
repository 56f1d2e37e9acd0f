// How does a replay become an animated GIF? Pictures at even times, 256 colours for all of them, LZW (GIF89a).

const GIF_RATE = 20;
const GIF_MOST = 200;
const GIF_WIDTH = 560;

// The 256 most frequent colours of some pictures, at five bits a part, and which of them is nearest to each.
function choosePalette(pictures) {
  const counts = new Uint32Array(1 << 15);
  for (const { data } of pictures) for (let k = 0; k < data.length; k += 4) counts[binOf(data, k)]++;
  const bins = [...counts.keys()].filter((bin) => counts[bin] > 0).sort((a, b) => counts[b] - counts[a]).slice(0, 256);
  const parts = (bin) => [bin >> 10, (bin >> 5) & 31, bin & 31].map((part) => (part * 255) / 31);
  const palette = bins.map(parts);
  const nearest = new Int16Array(1 << 15).fill(-1);
  const find = (bin) => {
    if (nearest[bin] < 0) {
      const apart = palette.map((colour) => lengthOf(subtract(colour, parts(bin))));
      nearest[bin] = apart.indexOf(Math.min(...apart));
    }
    return nearest[bin];
  };
  return { palette, find };
}

function binOf(data, k) {
  return ((data[k] >> 3) << 10) | ((data[k + 1] >> 3) << 5) | (data[k + 2] >> 3);
}

// Numbers of eight bits, packed by LZW into codes of nine to twelve bits; blocks of at most 255 bytes.
function packPixels(pixels) {
  const [bytes, first] = [[], 258];
  let [table, width, next, held, bits] = [new Map(), 9, first, 0, 0];
  const emit = (code) => {
    held |= code << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>>= 8) bytes.push(held & 255);
  };
  emit(256);
  let prefix = pixels[0];
  for (const pixel of pixels.subarray(1)) {
    const key = (prefix << 8) | pixel;
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    emit(prefix);
    prefix = pixel;
    if (next === 4096) {
      emit(256);
      [table, width, next] = [new Map(), 9, first];
      continue;
    }
    if (next === 1 << width) width++;
    table.set(key, next++);
  }
  emit(prefix);
  emit(257);
  if (bits > 0) bytes.push(held & 255);
  const blocks = [];
  for (let k = 0; k < bytes.length; k += 255) blocks.push(Math.min(255, bytes.length - k), ...bytes.slice(k, k + 255));
  return [8, ...blocks, 0];
}

const twoBytes = (number) => [number & 255, number >> 8];

// Pictures of one size as a file; delay: between them [hundredths of a second].
function encodeGif(pictures, delay) {
  const [{ width, height }] = pictures;
  const { palette, find } = choosePalette(pictures.filter((_, k) => k % Math.ceil(pictures.length / 12) === 0));
  const colours = Array.from({ length: 256 }, (_, k) => palette[k] ?? [0, 0, 0]).flat().map(Math.round);
  const size = [...twoBytes(width), ...twoBytes(height)];
  const letters = (text) => [...text].map((letter) => letter.charCodeAt(0));
  const head = [...letters("GIF89a"), ...size, 0xf7, 0, 0, ...colours, 0x21, 0xff, 11, ...letters("NETSCAPE2.0"), 3, 1, 0, 0, 0];
  const parts = pictures.map(({ data }) => {
    const pixels = Uint8Array.from({ length: width * height }, (_, k) => find(binOf(data, 4 * k)));
    const control = [0x21, 0xf9, 4, 4, ...twoBytes(delay), 0, 0, 0x2c, 0, 0, 0, 0, ...size, 0];
    return Uint8Array.from([...control, ...packPixels(pixels)]);
  });
  return new Blob([Uint8Array.from(head), ...parts, Uint8Array.of(0x3b)], { type: "image/gif" });
}

// The picture as it stands, on the page's ground.
function takePicture(canvases, colours) {
  const [machine] = canvases;
  const width = Math.min(GIF_WIDTH, machine.width);
  const copy = make("canvas", { width, height: Math.round((width * machine.height) / machine.width) });
  const flat = copy.getContext("2d", { willReadFrequently: true });
  flat.fillStyle = colours.card;
  flat.fillRect(0, 0, copy.width, copy.height);
  for (const canvas of canvases) flat.drawImage(canvas, 0, 0, copy.width, copy.height);
  return flat.getImageData(0, 0, copy.width, copy.height);
}

// Play the whole time once, at the speed that is chosen, and hand the file to the reader.
async function saveGif(store, button) {
  const [start, end] = store.span;
  const [before, seconds] = [store.time, (end - start) / store.speed];
  const count = Math.max(2, Math.min(GIF_MOST, Math.round(seconds * GIF_RATE)));
  const pictures = [];
  button.disabled = true;
  for (let k = 0; k < count; k++) {
    moveTo(store, start + ((end - start) * k) / (count - 1));
    pictures.push(takePicture([byId("machine"), byId("marks")], readColours()));
    button.textContent = `Saving ${Math.round((100 * (k + 1)) / count)} %`;
    await new Promise(requestAnimationFrame);
  }
  saveFile(encodeGif(pictures, Math.max(2, Math.round((100 * seconds) / count))), `${store.runs[store.machine].label}.gif`);
  moveTo(store, before);
  button.textContent = "Save as GIF";
  button.disabled = false;
}
