"""Train a small Transformer and keep the attention of its decoder, for notebook 03.

    coverage-eval demo --folder demo
    python transformer.py demo/train.de demo/train.en sentences.de transformer.jsonl

``transformer.jsonl`` has lines 75 and 256 of ``demo/test.de``: each line a sentence's subwords,
its greedy translation, and cross-attention ``[layers, heads, T, S]``. The script needs PyTorch,
transformers and tokenizers (``make .venv-torch/.torch``), and takes a minute of one core.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import MarianConfig, MarianMTModel

PAD, EOS, UNKNOWN = 0, 1, 2
BATCH, RATE, WARMUP = 32, 3e-3, 100


def lines(path):
    return Path(path).read_text(encoding="utf-8").splitlines()


def subwords_of(texts):
    """One vocabulary of subwords for both languages; ``▁`` begins a word."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", EOS)]
    )
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=160, special_tokens=special)
    )
    return tokenizer


def padded(rows):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True, PAD)


def train(model, pairs, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    pairs = sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0])))
    batches = [pairs[i : i + BATCH] for i in range(0, len(pairs), BATCH)]
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / WARMUP, 1) * max(1 - step / steps, 0.02)
    )
    loss_of = torch.nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
    for epoch in range(epochs):
        total = 0.0
        for number in torch.randperm(len(batches)).tolist():
            source, target = (padded([pair[side] for pair in batches[number]]) for side in (0, 1))
            start = torch.full((len(target), 1), PAD)
            scores = model(
                input_ids=source, attention_mask=(source != PAD).long(),
                decoder_input_ids=torch.cat([start, target[:, :-1]], 1),
            ).logits  # fmt: skip
            loss = loss_of(scores.flatten(0, 1), target.flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(epoch + 1, round(total / len(batches), 3), flush=True)


@torch.no_grad()
def translate(model, tokenizer, sentence):
    """The record of one sentence: its subwords, their translation, and the attention."""
    model.eval()
    source = torch.tensor([tokenizer.encode(sentence).ids])
    written = model.generate(source, max_length=60, num_beams=1, do_sample=False)[0, 1:]
    start = torch.tensor([PAD])
    inputs = torch.cat([start, written[:-1]])[None]
    layers = model(input_ids=source, decoder_input_ids=inputs, output_attentions=True)
    attention = torch.cat(layers.cross_attentions).double()  # [layers, heads, T, S]
    name = tokenizer.id_to_token
    return {
        "attention": [[[[round(weight, 4) for weight in row] for row in head] for head in layer]
                      for layer in attention.tolist()],
        "source": [name(i) for i in source[0].tolist()],
        "hypothesis": [name(i) for i in written.tolist()],
        "src_eos": True, "tgt_eos": written[-1].item() == EOS,
    }  # fmt: skip


def main(sources, targets, sentences, out, epochs="8"):
    torch.manual_seed(1)
    sources, targets = lines(sources), lines(targets)
    tokenizer = subwords_of([*sources, *targets])
    encoded = ([item.ids for item in tokenizer.encode_batch(side)] for side in (sources, targets))
    config = MarianConfig(
        vocab_size=tokenizer.get_vocab_size(), d_model=64, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
        decoder_ffn_dim=128, dropout=0.1, pad_token_id=PAD, eos_token_id=EOS,
        decoder_start_token_id=PAD, forced_eos_token_id=None, max_position_embeddings=128,
        attn_implementation="eager", scale_embedding=True,
    )  # fmt: skip
    model = MarianMTModel(config)
    model.train()
    train(model, zip(*encoded, strict=True), int(epochs))
    records = (translate(model, tokenizer, sentence) for sentence in lines(sentences))
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
