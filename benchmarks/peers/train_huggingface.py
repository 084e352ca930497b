"""Hugging Face `MarianMTModel` in a plain, careful loop."""

import os
from typing import Any

from peers.protocol import BEGIN, END, PAD
from peers.training_protocol import TrainingJob, answer_with_losses, read_training_job

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
import transformers


def build(job: TrainingJob) -> Any:
    shape = job.model
    config = transformers.MarianConfig(
        vocab_size=job.vocabulary,
        decoder_vocab_size=job.vocabulary,
        d_model=shape["d_model"],
        encoder_layers=shape["num_encoder_layers"],
        decoder_layers=shape["num_decoder_layers"],
        encoder_ffn_dim=shape["d_ff"],
        decoder_ffn_dim=shape["d_ff"],
        encoder_attention_heads=shape["num_heads"],
        decoder_attention_heads=shape["num_heads"],
        max_position_embeddings=1024,
        activation_function="relu",
        scale_embedding=True,
        dropout=shape["dropout"],
        attention_dropout=shape["attention_dropout"],
        activation_dropout=shape["feed_forward_dropout"],
        pad_token_id=PAD,
        bos_token_id=BEGIN,
        eos_token_id=END,
        decoder_start_token_id=BEGIN,
        forced_eos_token_id=None,
        use_cache=False,
    )
    assert shape["norm"] == "post", "Marian has its norms after its sublayers"
    return transformers.MarianMTModel(config)


def main() -> None:
    job = read_training_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)
    model = build(job).train()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=job.learning_rate, betas=(0.9, 0.98), fused=True
    )
    batches = [tuple(map(torch.tensor, sides)) for sides in job.padded()]

    def update(batch: Any) -> float:
        source, target_in, target_out = batch
        logits = model(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=target_in,
            use_cache=False,
        ).logits
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            target_out.flatten(),
            ignore_index=PAD,
            label_smoothing=job.label_smoothing,
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    answer_with_losses(batches, update)


if __name__ == "__main__":
    main()
