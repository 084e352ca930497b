"""What attention replaced: cells that read one word after another, gate by gate.

`step` is a cell in the open, for eyes, tests and the search. `forward` reads a whole
sentence with the same weights in the kernel of `torch.nn.RNN`, `GRU` or `LSTM`.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from dragoman.model.linear import JointLinear

# What a cell carries from word to word, each (row, d_state); it shows the first.
CellState = tuple[Tensor, ...]

# Far more than any sum of inputs: a gate that is told this is shut, or open, exactly.
SHUT = 1e4


class Recurrence(JointLinear):
    """The matrices from a state to the next: turns at first, so that nothing fades."""

    def reset_parameters(self) -> None:
        """Start each part as a rotation."""
        for part in self.weight.split(self.sizes):
            if not part.is_meta:  # where there are no numbers, nothing turns
                nn.init.orthogonal_(part)
        nn.init.zeros_(self.bias)


class Cell(nn.Module, ABC):
    """A state that each word changes; `gates` are the maps that it takes to do so."""

    gates: int
    num_states = 1

    def __init__(self, d_in: int, d_state: int) -> None:
        super().__init__()
        self.d_state = d_state
        self.from_input = JointLinear(d_in, [d_state] * self.gates)
        self.from_state = Recurrence(d_state, [d_state] * self.gates)

    def nothing(self, rows: int, like: Tensor) -> CellState:
        """Give the state of having read nothing."""
        return (like.new_zeros(rows, self.d_state),) * self.num_states

    @abstractmethod
    def step(self, x: Tensor, state: CellState) -> CellState:
        """Read one word (row, d_in) in each row."""

    @abstractmethod
    def forward(
        self, x: Tensor, state: CellState, words: Tensor | None = None
    ) -> tuple[Tensor, CellState]:
        """Read (batch, length, d_in) at once; give what is shown at each place.

        `words` (batch, length) says what is no padding, which comes last. Past it, what
        is shown means nothing, and so does the part of the state that is shown.
        """

    def _weights(self) -> list[Tensor]:
        inputs, states = self.from_input, self.from_state
        return [inputs.weight, states.weight, inputs.bias, states.bias]


class ElmanCell(Cell):
    """h′ = tanh(W x + U h): each word overwrites all of the state."""

    gates = 1

    def step(self, x: Tensor, state: CellState) -> CellState:
        """Mix the word into the state, and squash."""
        (shown,) = state
        return (torch.tanh(self.from_input(x) + self.from_state(shown)),)

    def forward(
        self, x: Tensor, state: CellState, words: Tensor | None = None
    ) -> tuple[Tensor, CellState]:
        """Read a sentence in the kernel of `torch.nn.RNN`."""
        del words
        shown, last = torch.rnn_tanh(
            x, state[0][None], self._weights(), True, 1, 0.0, self.training, False, True
        )
        return shown, (last[0],)


class GRUCell(Cell):
    """A state that keeps what it is told to keep, and takes the rest from the word."""

    gates = 3

    def step(self, x: Tensor, state: CellState) -> CellState:
        """Recall, keep, and write what is not kept."""
        (shown,) = state
        recall_x, keep_x, new_x = self.from_input(x).chunk(3, dim=-1)
        recall_h, keep_h, new_h = self.from_state(shown).chunk(3, dim=-1)
        recall = torch.sigmoid(recall_x + recall_h)  # of the past, for what is new
        keep = torch.sigmoid(keep_x + keep_h)
        new = torch.tanh(new_x + recall * new_h)
        return (keep * shown + (1 - keep) * new,)

    def forward(
        self, x: Tensor, state: CellState, words: Tensor | None = None
    ) -> tuple[Tensor, CellState]:
        """Read a sentence in the kernel of `torch.nn.GRU`."""
        del words
        shown, last = torch.gru(
            x, state[0][None], self._weights(), True, 1, 0.0, self.training, False, True
        )
        return shown, (last[0],)


class LSTMCell(Cell):
    """A memory beside what is shown: gates say what to keep, to write and to output."""

    gates = 4
    num_states = 2

    def __init__(self, d_in: int, d_state: int) -> None:
        super().__init__(d_in, d_state)
        with torch.no_grad():
            _, keep, _, _ = self.from_input.bias.chunk(4)
            keep.fill_(1.0)  # remember until there is a reason to forget

    def step(self, x: Tensor, state: CellState) -> CellState:
        """Keep some of the memory, write into it, and output some of it."""
        shown, memory = state
        gates = self.from_input(x) + self.from_state(shown)
        write, keep, new, output = gates.chunk(4, dim=-1)
        memory = keep.sigmoid() * memory + write.sigmoid() * new.tanh()
        return output.sigmoid() * memory.tanh(), memory

    def forward(
        self, x: Tensor, state: CellState, words: Tensor | None = None
    ) -> tuple[Tensor, CellState]:
        """Read a sentence in the kernel of `torch.nn.LSTM`; padding leaves the memory.

        The kernel knows nothing of padding, so each word says in one more number
        whether it is any, which keeps all and writes nothing.
        """
        weights = self._weights()
        if words is not None:
            x = torch.cat([x, ~words[..., None]], dim=-1)
            weights[0] = torch.cat([weights[0], self._holding(x)], dim=1)
        first = [part[None] for part in state]
        shown, last, memory = torch.lstm(
            x, first, weights, True, 1, 0.0, self.training, False, True
        )
        return shown, (last[0], memory[0])

    def _holding(self, like: Tensor) -> Tensor:
        """Give the weights of "this is padding" (gates × d_state, 1)."""
        gates = like.new_tensor([-SHUT, SHUT, 0.0, 0.0])  # write, keep, new, output
        return gates.repeat_interleave(self.d_state)[:, None]


def build_cell(kind: str, d_in: int, d_state: int) -> Cell:
    """Choose the cell that the settings name."""
    match kind:
        case "elman":
            return ElmanCell(d_in, d_state)
        case "gru":
            return GRUCell(d_in, d_state)
        case _:
            return LSTMCell(d_in, d_state)
