// How do page and server talk? A connection that is made again when it is lost, for as long as the page is open.

const AGAIN = [300, 600, 1200, 2500, 5000];

// handlers: opened(), lost(), received(message), framed(header, columns).
function connect(handlers) {
  const address = `ws://${location.host}/studio${location.search}`;
  const link = { socket: null, tries: 0 };
  const open = () => {
    const socket = (link.socket = new WebSocket(address));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      link.tries = 0;
      handlers.opened();
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") handlers.received(JSON.parse(data));
      else handlers.framed(...readFrame(data));
    });
    socket.addEventListener("close", () => {
      handlers.lost();
      setTimeout(open, AGAIN[Math.min(link.tries++, AGAIN.length - 1)]);
    });
  };
  open();
  link.send = (request) => {
    const ready = link.socket.readyState === WebSocket.OPEN;
    if (ready) link.socket.send(JSON.stringify(request));
    return ready;
  };
  return link;
}

// Header and columns of a frame; see frames.py.
function readFrame(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  let place = 8 + padded(length);
  const take = (Kind, count) => {
    const values = new Kind(buffer, place, count);
    place += padded(count * Kind.BYTES_PER_ELEMENT);
    return values;
  };
  const time = take(Float64Array, header.kept);
  const values = header.columns.map(({ type }) => take(type === "f8" ? Float64Array : Float32Array, header.kept));
  const knots = header.knots ? take(Uint8Array, header.kept) : null;
  return [header, { time, values, knots }];
}

function padded(length) {
  return Math.ceil(length / 8) * 8;
}
