"""What JoeyNMT and Eole are told, so that they train the published Transformer-Tiny."""

import argparse
import json
from pathlib import Path
from typing import Any

import sentencepiece
from environments import Environment

LANGUAGES = ("en", "de")
VOCABULARY = 8000
SPECIAL_PIECES = ("<unk>", "<s>", "</s>")


def learn_subwords(data: Path, work: Path) -> None:
    """Learn joint subwords, and list them for who wants a list."""
    sentencepiece.SentencePieceTrainer.train(
        input=[str(data / f"train.{side}") for side in LANGUAGES],
        model_prefix=str(work / "subwords"),
        vocab_size=VOCABULARY,
        model_type="bpe",
        character_coverage=1.0,
        minloglevel=2,
    )
    lines = (work / "subwords.vocab").read_text("utf-8").splitlines()
    pieces = [line.split("\t")[0] for line in lines]
    kept = [piece for piece in pieces if piece not in SPECIAL_PIECES]
    (work / "pieces.txt").write_text("\n".join(kept) + "\n", "utf-8")


def write(path: Path, settings: dict[str, Any]) -> str:
    """Write settings for a peer; what is JSON is YAML too."""
    path.write_text(json.dumps(settings, indent=2), "utf-8")
    return str(path)


def joeynmt(
    environment: Environment, work: Path, options: argparse.Namespace
) -> list[list[str]]:
    """Tell JoeyNMT what to do."""

    def side(language: str) -> dict[str, Any]:
        return {
            "lang": language,
            "level": "bpe",
            "lowercase": False,
            "max_length": 256,
            "voc_file": str(work / "pieces.txt"),
            "tokenizer_type": "sentencepiece",
            "tokenizer_cfg": {"model_file": str(work / "subwords.model")},
        }

    stack = {
        "type": "transformer",
        "num_layers": 4,
        "num_heads": 4,
        "embeddings": {"embedding_dim": 128, "scale": True, "dropout": 0.0},
        "hidden_size": 128,
        "ff_size": 256,
        "dropout": 0.3,
        "layer_norm": "pre",
    }
    settings = {
        "name": "multi30k",
        "model_dir": str(work / "joeynmt"),
        "use_cuda": False,
        "data": {
            "train": str(options.data / "train"),
            "dev": str(options.data / "val"),
            "dataset_type": "plain",
            "src": side(LANGUAGES[0]),
            "trg": side(LANGUAGES[1]),
        },
        "testing": {
            "beam_size": 1,
            "batch_size": 2048,
            "batch_type": "token",
            "max_output_length": 100,
            "eval_metrics": ["bleu"],
            "sacrebleu_cfg": {"tokenize": "13a"},
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "normalization": "tokens",
            "scheduling": "noam",
            "learning_rate_factor": 2.5,
            "learning_rate_warmup": 2000,
            "learning_rate": 0.005,
            "label_smoothing": 0.1,
            "batch_size": 4096,
            "batch_type": "token",
            "early_stopping_metric": "bleu",
            "epochs": 1000,
            "validation_freq": options.every,
            "logging_freq": options.every,
            "print_valid_sents": [],
            "keep_best_ckpts": 1,
            "overwrite": True,
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack,
            "decoder": stack,
        },
    }
    place = write(work / "joeynmt.yaml", settings)
    python = str(environment.python)
    script = str(Path(__file__).parent / "peers" / "joeynmt_command.py")
    return [[python, script, "train", place, "--skip-test"]]


def eole(
    environment: Environment, work: Path, options: argparse.Namespace
) -> list[list[str]]:
    """Tell Eole what to do."""

    def pair(part: str) -> dict[str, str]:
        source, target = (str(options.data / f"{part}.{side}") for side in LANGUAGES)
        return {"path_src": source, "path_tgt": target}

    subwords = str(work / "subwords.model")
    settings = {
        "save_data": str(work / "eole-data"),
        "overwrite": True,
        "report_every": options.every,
        "valid_metrics": ["BLEU"],
        "src_vocab": str(work / "eole-vocabulary"),
        "tgt_vocab": str(work / "eole-vocabulary"),
        "share_vocab": True,
        "src_vocab_size": VOCABULARY,
        "tgt_vocab_size": VOCABULARY,
        "data": {"corpus": pair("train"), "valid": pair("val")},
        "transforms": ["sentencepiece", "filtertoolong"],
        "transforms_configs": {
            "sentencepiece": {
                "src_subword_model": subwords,
                "tgt_subword_model": subwords,
            },
            "filtertoolong": {"src_seq_length": 256, "tgt_seq_length": 256},
        },
        "training": {
            "model_path": str(work / "eole"),
            "train_steps": 1_000_000,
            "valid_steps": options.every,
            "save_checkpoint_steps": 1_000_000,
            "batch_type": "tokens",
            "batch_size": 4096,
            "valid_batch_size": 2048,
            "bucket_size": 30_000,
            "num_workers": 0,
            "world_size": 0,
            "gpu_ranks": [],
            "compute_dtype": "fp32",
            "optim": "adam",
            "adam_beta2": 0.98,
            "decay_method": "noam",
            "learning_rate": 2.5,
            "warmup_steps": 2000,
            "label_smoothing": 0.1,
            "max_grad_norm": 1.0,
            "dropout": [0.3],
            "attention_dropout": [0.0],
            "param_init_method": "xavier_uniform",
            "normalization": "tokens",
        },
        "model": {
            "architecture": "transformer",
            "hidden_size": 128,
            "transformer_ff": 256,
            "heads": 4,
            "layers": 4,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {
                "word_vec_size": 128,
                "position_encoding_type": "SinusoidalInterleaved",
            },
        },
    }
    place = write(work / "eole.yaml", settings)
    listing = write(work / "eole-vocabulary.yaml", settings | {"n_sample": -1})
    program = str(environment.python.parent / "eole")
    return [
        [program, "build_vocab", "-config", listing],
        [program, "train", "-config", place],
    ]
