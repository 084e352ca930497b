// The pages, in the order of their names on the left.
import { Align } from "./pages/align.js";
import { Compare } from "./pages/compare.js";
import { Examples } from "./pages/examples.js";
import { Head } from "./pages/head.js";
import { Heads } from "./pages/heads.js";
import { Masks } from "./pages/masks.js";
import { Positions } from "./pages/positions.js";
import { Stream } from "./pages/stream.js";
import { Training } from "./pages/training.js";
import { Translate } from "./pages/translate.js";
import { Why } from "./pages/why.js";

export const PAGES = [
  {
    id: "translate", name: "Translate", view: Translate, needsSentence: true,
    lead: "What the model said, how sure it was, and what else it weighed on the way.",
  },
  {
    id: "align", name: "Align", view: Align, needsSentence: true, needsLayers: true,
    lead: "Which source words each predicted word came from, measured in four ways.",
  },
  {
    id: "heads", name: "Heads", view: Heads, needsSentence: true, needsLayers: true,
    lead: "Every head of every layer: what it looks at, and what is lost without it.",
  },
  {
    id: "head", name: "One head", view: Head, needsSentence: true, needsLayers: true,
    lead: "One query of one head, from its input row to the residual stream, with the real numbers.",
  },
  {
    id: "positions", name: "Positions", view: Positions, needsLayers: true,
    lead: "How a model that reads all words at once still knows their order.",
  },
  {
    id: "masks", name: "Masks", view: Masks, needsSentence: true, needsLayers: true,
    lead: "Who may look at whom, and the proof that nobody sees the future.",
  },
  {
    id: "stream", name: "Stream", view: Stream, needsSentence: true, needsLayers: true,
    lead: "The vector of each word on its way through the layers: what is added, normed, and already known.",
  },
  {
    id: "training", name: "Training", view: Training,
    lead: "How the model came about: its curves, live while it still learns, and its attention over time.",
  },
  {
    id: "compare", name: "Compare", view: Compare, needsSentence: true,
    lead: "Two models, or two checkpoints of one, on the same words.",
  },
  {
    id: "why", name: "Why attention", view: Why, needsLayers: true,
    lead: "Three claims of the paper, tried out on this machine.",
  },
  {
    id: "examples", name: "Examples", view: Examples,
    lead: "The validation sentences, to find the ones worth a closer look.",
  },
];
