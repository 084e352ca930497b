"""Eole's own model, loss and optimizer on the given batches.

Its decoder has its norms before its sublayers only, which costs the same; its
feed-forward networks have a dropout more than the paper's, which is taken out.
"""

import tempfile
from pathlib import Path
from typing import Any

import torch
from eole.config.data import Dataset
from eole.config.models import TransformerModelConfig
from eole.config.run import TrainConfig
from eole.constants import DefaultTokens
from eole.models.model import EncoderDecoderModel
from eole.utils.loss import LossCompute
from eole.utils.optimizers import Optimizer
from peers.protocol import BEGIN, END, PAD, UNKNOWN
from peers.training_protocol import TrainingJob, answer_with_losses, read_training_job


class Vocabulary:
    """Numbers for the special tokens, and a size: all that the model asks for."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, token: str) -> int:
        numbers = {
            DefaultTokens.PAD: PAD,
            DefaultTokens.BOS: BEGIN,
            DefaultTokens.EOS: END,
        }
        return numbers.get(token, UNKNOWN)


def settings(job: TrainingJob) -> Any:
    shape, text = job.model, Path(tempfile.mkdtemp()) / "text"
    text.touch()
    model = TransformerModelConfig(
        hidden_size=shape["d_model"],
        transformer_ff=shape["d_ff"],
        heads=shape["num_heads"],
        encoder={"layers": shape["num_encoder_layers"]},
        decoder={"layers": shape["num_decoder_layers"]},
        embeddings={
            "word_vec_size": shape["d_model"],
            "position_encoding_type": "SinusoidalInterleaved",
        },
        add_qkvbias=True,
        add_ffnbias=True,
        share_embeddings=True,
        share_decoder_embeddings=True,
    )
    return TrainConfig(
        data={"text": Dataset(path_src=str(text), path_tgt=str(text))},
        src_vocab=str(text),
        share_vocab=True,
        model=model,
        training={
            "optim": "adam",
            "learning_rate": job.learning_rate,
            "adam_beta2": 0.98,
            "max_grad_norm": job.clip_norm,
            "label_smoothing": job.label_smoothing,
            "dropout": [shape["dropout"]],
            "attention_dropout": [shape["attention_dropout"]],
            "param_init_method": "xavier_uniform",
            "compute_dtype": "fp32",
            "world_size": 0,
            "gpu_ranks": [],
        },
    )


def main() -> None:
    job = read_training_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)
    config, vocabulary = settings(job), Vocabulary(job.vocabulary)
    specials = {"bos_token": DefaultTokens.BOS, "eos_token": DefaultTokens.EOS}
    vocabs = {"src": vocabulary, "tgt": vocabulary, "specials": specials}
    model = EncoderDecoderModel.for_training(config.model, vocabs, config.training)
    model.train()
    for layer in (
        *model.encoder.transformer_layers,
        *model.decoder.transformer_layers,
    ):
        layer.mlp.dropout_1 = torch.nn.Identity()
    loss_of = LossCompute.from_config(config, model, vocabs)
    optimizer = Optimizer.from_config(model, config)

    def as_batch(sides: tuple[list[list[int]], ...]) -> dict[str, Any]:
        source, target_in, target_out = map(torch.tensor, sides)
        return {
            "src": source,
            "srclen": (source != PAD).sum(dim=1),
            "tgt": torch.cat((target_in[:, :1], target_out), dim=1),
            "cid": ["text"] * len(source),
            "cid_line_number": list(range(len(source))),
        }

    def update(batch: dict[str, Any]) -> float:
        optimizer.zero_grad(set_to_none=True)
        output = model(batch["src"], batch["tgt"], batch["srclen"])
        loss, _, _ = loss_of(batch, output.dec_out, output.attns)
        tokens = int((batch["tgt"][:, 1:] != PAD).sum())
        optimizer.backward(loss / tokens)
        optimizer.step()
        return float(loss.detach()) / tokens

    answer_with_losses([as_batch(sides) for sides in job.padded()], update)


if __name__ == "__main__":
    main()
