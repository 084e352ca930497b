// Colour scales that colour-blind eyes and grey printers read in the right order.
const STOPS = {
  viridis: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"],
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"],
};
const INK = {
  light: ["ffffff", "dcefee", "a9d8d6", "6fbcbb", "3a9a9b", "0f7478", "0a4f56", "06323a"],
  dark: ["171d25", "17343a", "19545a", "1f777a", "38a09d", "6cc8c0", "aee6d9", "eefcf4"],
};
// Below nothing and above: orange to petrol, through the background.
const DIVERGING = {
  light: ["8a3a00", "c96a1e", "efb27c", "ffffff", "8fcac8", "23898b", "0a4f56"],
  dark: ["ffc48f", "d98441", "7a4a25", "171d25", "1f5f62", "4bb0ab", "b6f0e6"],
};

const parse = (hex) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

function table(stops) {
  const colours = stops.map(parse);
  const rgb = new Uint8Array(256 * 3);
  for (let k = 0; k < 256; k += 1) {
    const place = (k / 255) * (colours.length - 1);
    const low = Math.min(Math.floor(place), colours.length - 2);
    for (let c = 0; c < 3; c += 1) {
      rgb[3 * k + c] = Math.round(
        colours[low][c] + (place - low) * (colours[low + 1][c] - colours[low][c]),
      );
    }
  }
  return rgb;
}

const tables = new Map();
export function scale(name, dark) {
  const key = `${name}${dark}`;
  if (!tables.has(key)) {
    const shades = dark ? "dark" : "light";
    const stops = name === "diverging" ? DIVERGING[shades] : STOPS[name] ?? INK[shades];
    tables.set(key, table(stops));
  }
  return tables.get(key);
}

export const SCALES = ["ink", "viridis", "cividis"];

export function css(rgb, share) {
  const k = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  return `rgb(${rgb[k]},${rgb[k + 1]},${rgb[k + 2]})`;
}

// Black or white, whichever stands out more from the colour.
export function over(rgb, share) {
  const k = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  const [red, green, blue] = [0, 1, 2].map((at) => (rgb[k + at] / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.19 ? "#10151c" : "#ffffff";
}
