"""Real, untrained language models of a few words, written into a folder: quick to run, and each prefix counts."""

WORDS = "one two three four five six seven eight nine ten . continue the text user assistant ?".split()
SIZE = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


def write(folder, ends=True, chat=False, positions=512, torn=False, seed=4):
    """A Llama; the tokenizer of a `torn` one takes a full stop and the white space after it as one token."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<end>", "<other>", *WORDS, " ", "\n\n", ". ", ".\n\n", "\n"]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<other>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"\.\s*|[^\s.]+|\s+" if torn else r"\.|[^\s.]+|\s+"), "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<other>", **({"eos_token": "<end>"} if ends else {})
    )
    if chat:
        tokenizer.chat_template = (
            "user {{ messages[0]['content'] }}\n{% if add_generation_prompt %}assistant {% endif %}"
        )
    torch.manual_seed(seed)
    end = 0 if ends else None
    config = LlamaConfig(
        vocab_size=len(words), eos_token_id=end, bos_token_id=None, initializer_range=0.6,
        max_position_embeddings=positions, **SIZE,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
