fi done esac ;; ) ( } { in then
x --a ${A[@]:-${B:-${C}} --b $((( --c $(`
