# Own sample of an InternEvo config, with what public ones have in them.
JOB_NAME = "7b_train"
SEQ_LEN = 2048
HIDDEN_SIZE = 4096
NUM_ATTENTION_HEAD = 32
MLP_RATIO = 8 / 3
NUM_LAYER = 32
VOCAB_SIZE = 103168

SAVE_CKPT_FOLDER = "local:llm_ckpts"
CHECKPOINT_EVERY = 50

data = dict(
    seq_len=SEQ_LEN,
    micro_num=4,  # micro-batches per step
    micro_bsz=2,
    packed_length=2 * SEQ_LEN,
    total_steps=50000,
    train_folder=None,
)

hybrid_zero_optimizer = dict(
    # Enable overlap of gradient reduction.
    overlap_sync_grad=True,
    reduce_bucket_size=512 * 1024 * 1024,
    clip_grad_norm=1.0,
)

model = dict(
    checkpoint=False,  # recompute: True, False or a share of the layers
    num_attention_heads=NUM_ATTENTION_HEAD,
    embed_split_hidden=True,
    vocab_size=VOCAB_SIZE,
    hidden_size=HIDDEN_SIZE,
    num_layers=NUM_LAYER,
    mlp_ratio=MLP_RATIO,
    dtype="torch.bfloat16",
    norm_type="rmsnorm",
    num_chunks=1,
    use_flash_attn=True,
)

"""
zero1 parallel: -1 shards over the whole data-parallel group.
"""
parallel = dict(
    zero1=dict(size=-1),
    tensor=dict(size=2, mode="msp"),
    pipeline=dict(size=2, interleaved_overlap=True),
    weight=dict(size=1, overlap=True),
)
