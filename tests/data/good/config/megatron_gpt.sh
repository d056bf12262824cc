#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
#
# Own sample of a launch script, with what public ones have in them: options in strings and arrays, variables with
# defaults, arithmetic, branches, switches that are commented out.
set -euo pipefail
export CUDA_DEVICE_MAX_CONNECTIONS=1

MODEL=${MODEL:-8b}
GPUS_PER_NODE=8
NODES=${SLURM_NNODES:-4}
TP=4
PP=${PP:-2}
CP=2
DATA_PARALLEL=8
DATA_PATH=${1:?usage: megatron_gpt.sh DATA}

case $MODEL in
    1b)
        HIDDEN=2048
        LAYERS=16
        ;;
    8b | 8B)
        HIDDEN=4096
        ;;
    *)
        echo "unknown model $MODEL" >&2
        exit 1
        ;;
esac

if [[ $PP -gt 1 ]]; then
    CHUNKS=(--num-virtual-stages-per-pipeline-rank 2)
else
    CHUNKS=()
fi

LAUNCH="torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NODES"

MODEL_ARGS="
    --num-layers 32 \
    --hidden-size $HIDDEN \
    --ffn-hidden-size 14336 --swiglu \
    --num-attention-heads 32 \
    --group-query-attention --num-query-groups 8 \
    --seq-length 8192 \
    --max-position-embeddings 8192 \
    --position-embedding-type rope \
    --normalization RMSNorm \
    --disable-bias-linear \
    --untie-embeddings-and-output-weights \
    --attention-dropout 0.0 --hidden-dropout 0.0 \
    --vocab-size 128256
"

PARALLEL_ARGS=(
	--tensor-model-parallel-size $TP
	--pipeline-model-parallel-size ${PP}
	--context-parallel-size "$CP"
	--sequence-parallel
	--use-distributed-optimizer # shards the optimizer's state
	# --num-experts 8
)

TRAIN_ARGS=(
    --micro-batch-size 1
    --global-batch-size $((16 * DATA_PARALLEL))
    "--lr 3e-4"
    --bf16
    --attention-backend flash
    --data-path "$DATA_PATH"
)
TRAIN_ARGS+=(
    --recompute-granularity=full
    --recompute-method=uniform
    --recompute-num-layers=1
)

cat > run.json <<-EOF
	{"--num-layers": 99, "note": "not an option of the command"}
	EOF

OMP_NUM_THREADS=1 $LAUNCH pretrain_gpt.py \
    $MODEL_ARGS \
    "${PARALLEL_ARGS[@]}" \
    "${CHUNKS[@]}" \
    ${TRAIN_ARGS[@]} \
    --save checkpoints/llama_tp${TP}_pp${PP} \
    --save-interval 500 2>&1 | tee "train_$MODEL.log"
