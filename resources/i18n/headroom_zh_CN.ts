<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>Opens logs, configs or a folder with the logs of a run</source>
        <translation>打开日志、配置，或存放一次训练全部日志的文件夹</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>关闭(&amp;C)</translation>
    </message>
    <message>
        <source>Closes the log and the config</source>
        <translation>关闭日志和配置</translation>
    </message>
    <message>
        <source>&amp;Export config…</source>
        <translation>导出配置(&amp;E)…</translation>
    </message>
    <message>
        <source>Shows what changed in the config and saves it</source>
        <translation>显示配置的改动并保存</translation>
    </message>
    <message>
        <source>Reads the open files again; what you turned stays</source>
        <translation>重新读取已打开的文件；已做的调节保留</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Leaves Headroom</source>
        <translation>退出 Headroom</translation>
    </message>
    <message>
        <source>&amp;Copy verdict</source>
        <translation>复制结论(&amp;C)</translation>
    </message>
    <message>
        <source>Copies the verdict as a sentence</source>
        <translation>把结论复制为一句话</translation>
    </message>
    <message>
        <source>Reset &amp;all</source>
        <translation>全部重置(&amp;A)</translation>
    </message>
    <message>
        <source>Sets every knob back to what the files say</source>
        <translation>把所有调节项恢复为文件中的值</translation>
    </message>
    <message>
        <source>&amp;System</source>
        <translation>跟随系统(&amp;S)</translation>
    </message>
    <message>
        <source>Follows the light or dark colours of the desktop</source>
        <translation>跟随桌面的浅色或深色配色</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>浅色(&amp;L)</translation>
    </message>
    <message>
        <source>Light colours</source>
        <translation>浅色配色</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>深色(&amp;D)</translation>
    </message>
    <message>
        <source>Dark colours</source>
        <translation>深色配色</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <translation>重置布局(&amp;R)</translation>
    </message>
    <message>
        <source>Puts all panels back to where they were at first</source>
        <translation>把所有面板放回最初的位置</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Shows fewer steps</source>
        <translation>显示更少的步数</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Shows more steps</source>
        <translation>显示更多的步数</translation>
    </message>
    <message>
        <source>&amp;Whole run</source>
        <translation>整个训练过程(&amp;W)</translation>
    </message>
    <message>
        <source>Shows all steps</source>
        <translation>显示所有步数</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>后退(&amp;B)</translation>
    </message>
    <message>
        <source>Shows the steps that were shown before</source>
        <translation>显示之前的步数范围</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>前进(&amp;F)</translation>
    </message>
    <message>
        <source>Undoes going back</source>
        <translation>撤销后退</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <translation>全屏(&amp;U)</translation>
    </message>
    <message>
        <source>Fills the screen</source>
        <translation>占满整个屏幕</translation>
    </message>
    <message>
        <source>Set as &amp;baseline</source>
        <translation>设为基线(&amp;B)</translation>
    </message>
    <message>
        <source>Outlines the estimate as it stands, to compare with</source>
        <translation>给当前估算描上轮廓，以便对比</translation>
    </message>
    <message>
        <source>Baseline from the &amp;files</source>
        <translation>以文件为基线(&amp;F)</translation>
    </message>
    <message>
        <source>Outlines what the files say again</source>
        <translation>重新用文件中的值描轮廓</translation>
    </message>
    <message>
        <source>&amp;None</source>
        <translation>不重计算(&amp;N)</translation>
    </message>
    <message>
        <source>Keeps all activations</source>
        <translation>保留全部激活值</translation>
    </message>
    <message>
        <source>&amp;Selective</source>
        <translation>选择性(&amp;S)</translation>
    </message>
    <message>
        <source>Recomputes some layers or modules in the backward pass</source>
        <translation>反向时重计算部分层或模块</translation>
    </message>
    <message>
        <source>&amp;Full</source>
        <translation>全部(&amp;F)</translation>
    </message>
    <message>
        <source>Recomputes every layer in the backward pass</source>
        <translation>反向时重计算每一层</translation>
    </message>
    <message>
        <source>Change &amp;model…</source>
        <translation>更换模型(&amp;M)…</translation>
    </message>
    <message>
        <source>Chooses another model from the list</source>
        <translation>从列表中选择另一个模型</translation>
    </message>
    <message>
        <source>Open m&amp;odel file…</source>
        <translation>打开模型文件(&amp;O)…</translation>
    </message>
    <message>
        <source>Takes the model from a file, such as a config.json of Hugging Face</source>
        <translation>从文件读取模型，例如 Hugging Face 的 config.json</translation>
    </message>
    <message>
        <source>Other GPU &amp;capacity…</source>
        <translation>其他显存容量(&amp;C)…</translation>
    </message>
    <message>
        <source>Sets the memory of one GPU by hand</source>
        <translation>手动设置单张 GPU 的显存</translation>
    </message>
    <message>
        <source>&amp;Shortcuts</source>
        <translation>快捷键(&amp;S)</translation>
    </message>
    <message>
        <source>Lists all keys</source>
        <translation>列出所有按键</translation>
    </message>
    <message>
        <source>&amp;Licences</source>
        <translation>许可证(&amp;L)</translation>
    </message>
    <message>
        <source>Shows the licences of Headroom and of what it is built with</source>
        <translation>显示 Headroom 及其所用组件的许可证</translation>
    </message>
    <message>
        <source>About &amp;Qt</source>
        <translation>关于 Qt(&amp;Q)</translation>
    </message>
    <message>
        <source>Shows the version of Qt</source>
        <translation>显示 Qt 的版本</translation>
    </message>
    <message>
        <source>&amp;About Headroom</source>
        <translation>关于 Headroom(&amp;A)</translation>
    </message>
    <message>
        <source>Shows the version of Headroom</source>
        <translation>显示 Headroom 的版本</translation>
    </message>
    <message>
        <source>&amp;Find in log…</source>
        <translation>在日志中查找(&amp;F)…</translation>
    </message>
    <message>
        <source>Searches the text of the open files</source>
        <translation>在已打开文件的文本中搜索</translation>
    </message>
    <message>
        <source>Find &amp;next</source>
        <translation>查找下一个(&amp;N)</translation>
    </message>
    <message>
        <source>Goes to the next line with what is searched</source>
        <translation>转到下一处匹配的行</translation>
    </message>
    <message>
        <source>Find &amp;previous</source>
        <translation>查找上一个(&amp;P)</translation>
    </message>
    <message>
        <source>Goes to the line before with what is searched</source>
        <translation>转到上一处匹配的行</translation>
    </message>
    <message>
        <source>Go to &amp;line…</source>
        <translation>转到行(&amp;L)…</translation>
    </message>
    <message>
        <source>Shows a line of the open file by its number</source>
        <translation>按行号显示已打开文件中的一行</translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation>重新加载(&amp;L)</translation>
    </message>
    <message>
        <source>Save re&amp;port…</source>
        <translation>保存报告(&amp;P)…</translation>
    </message>
    <message>
        <source>Saves verdict, charts, formulas and findings as one HTML or Markdown file</source>
        <translation>把结论、图表、公式和诊断结果保存为一个 HTML 或 Markdown 文件</translation>
    </message>
    <message>
        <source>Compare &amp;with…</source>
        <translation>与另一次运行比较(&amp;W)…</translation>
    </message>
    <message>
        <source>Sets the run before, a log or a config, beside what is open</source>
        <translation>把之前的运行（日志或配置）与当前打开的并排比较</translation>
    </message>
    <message>
        <source>Co&amp;mpare losses…</source>
        <translation>比较损失(&amp;M)…</translation>
    </message>
    <message>
        <source>Tells whether the losses of two runs agree, from JSON lines or logs</source>
        <translation>根据 JSON 行文件或日志判断两次运行的损失是否一致</translation>
    </message>
    <message>
        <source>Find what fi&amp;ts</source>
        <translation>查找放得下的改动(&amp;T)</translation>
    </message>
    <message>
        <source>Lists the smallest changes with which the run fits the GPU</source>
        <translation>列出能让运行放进 GPU 的最小改动</translation>
    </message>
    <message>
        <source>Save chart &amp;image…</source>
        <translation>保存图表图像(&amp;I)…</translation>
    </message>
    <message>
        <source>Saves the measured peaks as PNG, PDF or SVG</source>
        <translation>将实测峰值保存为 PNG、PDF 或 SVG</translation>
    </message>
    <message>
        <source>Save &amp;values in view…</source>
        <translation>保存视图中的数值(&amp;V)…</translation>
    </message>
    <message>
        <source>Saves the steps in view as comma-separated values</source>
        <translation>将视图中的各步保存为逗号分隔的数值</translation>
    </message>
    <message>
        <source>Copy c&amp;hart</source>
        <translation>复制图表(&amp;H)</translation>
    </message>
    <message>
        <source>Copies a picture of the measured peaks</source>
        <translation>复制实测峰值的图像</translation>
    </message>
    <message>
        <source>Marker &amp;A at cursor</source>
        <translation>在光标处放置标记 A(&amp;A)</translation>
    </message>
    <message>
        <source>Puts marker A to the cursor&apos;s step, or takes it away</source>
        <translation>将标记 A 放到光标所在的步，或将其移除</translation>
    </message>
    <message>
        <source>&amp;Marker B at cursor</source>
        <translation>在光标处放置标记 B(&amp;M)</translation>
    </message>
    <message>
        <source>Puts marker B to the cursor&apos;s step; the differences to A are shown</source>
        <translation>将标记 B 放到光标所在的步，并显示与 A 的差值</translation>
    </message>
    <message>
        <source>Clear mar&amp;kers</source>
        <translation>清除标记(&amp;K)</translation>
    </message>
    <message>
        <source>Takes both markers away</source>
        <translation>移除两个标记</translation>
    </message>
    <message>
        <source>Follow &amp;log</source>
        <translation>跟随日志(&amp;L)</translation>
    </message>
    <message>
        <source>Keeps the newest steps in view while the log grows</source>
        <translation>日志增长时始终显示最新的步</translation>
    </message>
    <message>
        <source>Li&amp;nk charts</source>
        <translation>联动图表(&amp;N)</translation>
    </message>
    <message>
        <source>The heat map of the ranks covers the steps in view, else all</source>
        <translation>各 rank 的热力图只覆盖视图中的步，否则覆盖全部</translation>
    </message>
    <message>
        <source>Lo&amp;g y</source>
        <translation>对数 y 轴(&amp;G)</translation>
    </message>
    <message>
        <source>A logarithmic axis for the amounts</source>
        <translation>显存量使用对数轴</translation>
    </message>
    <message>
        <source>Step time and &amp;speed</source>
        <translation>步时间与速度(&amp;S)</translation>
    </message>
    <message>
        <source>Step time, tokens per second and loss below the peaks</source>
        <translation>在峰值下方显示步时间、每秒 token 数和损失</translation>
    </message>
    <message>
        <source>&amp;Channels…</source>
        <translation>通道(&amp;C)…</translation>
    </message>
    <message>
        <source>Chooses the lines of the chart by phase, rank and kind</source>
        <translation>按阶段、rank 和种类选择图表中的线</translation>
    </message>
    <message>
        <source>&amp;Calibrate on the log</source>
        <translation>用日志校准(&amp;C)</translation>
    </message>
    <message>
        <source>Corrects the estimate by the peaks that the log shows</source>
        <translation>用日志中的峰值修正估算</translation>
    </message>
    <message>
        <source>&amp;Save calibration…</source>
        <translation>保存校准(&amp;S)…</translation>
    </message>
    <message>
        <source>Keeps what the log&apos;s peaks say, for other plans</source>
        <translation>保留日志峰值给出的系数，供其他方案使用</translation>
    </message>
    <message>
        <source>&amp;Use calibration…</source>
        <translation>使用校准(&amp;U)…</translation>
    </message>
    <message>
        <source>Corrects the estimate by a calibration that was saved</source>
        <translation>用已保存的校准修正估算</translation>
    </message>
    <message>
        <source>&amp;Remove calibration</source>
        <translation>移除校准(&amp;R)</translation>
    </message>
    <message>
        <source>Goes back to theory&apos;s own estimate</source>
        <translation>恢复为理论估算</translation>
    </message>
    <message>
        <source>Export &amp;as…</source>
        <translation>导出为其他格式(&amp;A)…</translation>
    </message>
    <message>
        <source>Writes the plan in the format of another framework</source>
        <translation>按其他框架的格式写出方案</translation>
    </message>
    <message>
        <source>All &amp;values</source>
        <translation>全部取值(&amp;V)</translation>
    </message>
    <message>
        <source>Lists every value of the plan and where it comes from</source>
        <translation>列出方案的每个取值及其来源</translation>
    </message>
    <message>
        <source>Enlarge &amp;details</source>
        <translation>放大详情(&amp;D)</translation>
    </message>
    <message>
        <source>Gives the details the room of the charts, and back</source>
        <translation>让详情占用图表的空间，再按一次恢复</translation>
    </message>
    <message>
        <source>&amp;Show history</source>
        <translation>显示历史(&amp;S)</translation>
    </message>
    <message>
        <source>Lists the runs tried so far, each beside the one before</source>
        <translation>列出到目前为止试过的运行，每个都与前一个对照</translation>
    </message>
    <message>
        <source>&amp;Add current run</source>
        <translation>添加当前运行(&amp;A)</translation>
    </message>
    <message>
        <source>Puts the open run, or the estimate as it stands, at the end of the history</source>
        <translation>把打开的运行或当前的估算加到历史末尾</translation>
    </message>
    <message>
        <source>Add run from &amp;files…</source>
        <translation>从文件添加运行(&amp;F)…</translation>
    </message>
    <message>
        <source>Puts another run, its log or config, at the end of the history</source>
        <translation>把另一次运行的日志或配置加到历史末尾</translation>
    </message>
    <message>
        <source>Re&amp;name run</source>
        <translation>重命名运行(&amp;N)</translation>
    </message>
    <message>
        <source>Gives the chosen run of the history another name</source>
        <translation>给历史中选中的运行换个名字</translation>
    </message>
    <message>
        <source>R&amp;eference</source>
        <translation>参照(&amp;E)</translation>
    </message>
    <message>
        <source>Measures all runs of the history by the chosen one, or by the one before again</source>
        <translation>以选中的运行为参照衡量历史中的所有运行，或恢复为与前一个对照</translation>
    </message>
    <message>
        <source>Move run &amp;up</source>
        <translation>上移(&amp;U)</translation>
    </message>
    <message>
        <source>Puts the chosen run before the one above it</source>
        <translation>把选中的运行移到上一个之前</translation>
    </message>
    <message>
        <source>Move run &amp;down</source>
        <translation>下移(&amp;D)</translation>
    </message>
    <message>
        <source>Puts the chosen run after the one below it</source>
        <translation>把选中的运行移到下一个之后</translation>
    </message>
    <message>
        <source>&amp;Remove run</source>
        <translation>移除运行(&amp;R)</translation>
    </message>
    <message>
        <source>Takes the chosen run out of the history</source>
        <translation>把选中的运行从历史中移除</translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <source>bf16 + fp32 master, 16 B</source>
        <translation>bf16 + fp32 主权重，16 B</translation>
    </message>
    <message>
        <source>fp16 + fp32 master, 16 B</source>
        <translation>fp16 + fp32 主权重，16 B</translation>
    </message>
    <message>
        <source>fp32, 16 B</source>
        <translation>fp32，16 B</translation>
    </message>
    <message>
        <source>bf16 + fp32 gradients, 18 B</source>
        <translation>bf16 + fp32 梯度，18 B</translation>
    </message>
    <message>
        <source>fp16, Megatron, 20 B</source>
        <translation>fp16、Megatron 方式，20 B</translation>
    </message>
    <message>
        <source>bf16 throughout, 8 B</source>
        <translation>全 bf16，8 B</translation>
    </message>
    <message>
        <source>bf16 + 8-bit moments, 10 B</source>
        <translation>bf16 + 8 位动量，10 B</translation>
    </message>
    <message>
        <source>bf16, 8-bit, no master, 6 B</source>
        <translation>bf16、8 位、无主权重，6 B</translation>
    </message>
    <message>
        <source>fp32, one moment, 12 B</source>
        <translation>fp32、单动量，12 B</translation>
    </message>
    <message>
        <source>fp32, no moments, 8 B</source>
        <translation>fp32、无动量，8 B</translation>
    </message>
    <message>
        <source>bf16, Muon, 14 B</source>
        <translation>bf16、Muon，14 B</translation>
    </message>
    <message>
        <source>as the file says</source>
        <translation>按文件所写</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Sharding</source>
        <translation>切分</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层实现</translation>
    </message>
    <message>
        <source>The order of forward and backward passes. It decides how many micro-batches a stage holds at once.</source>
        <translation>前向与反向的先后顺序。它决定一个阶段同时持有多少个微批次。</translation>
    </message>
    <message>
        <source>Data types of weights, gradients, master weights and moments, with the bytes they take for each parameter.</source>
        <translation>权重、梯度、主权重和动量的数据类型，以及每个参数占用的字节数。</translation>
    </message>
    <message>
        <source>What the optimizer keeps for each parameter: AdamW two moments, SGD with momentum one, Adafactor a few rows and columns.</source>
        <translation>优化器为每个参数保存的内容：AdamW 两个动量，带动量的 SGD 一个，Adafactor 只有若干行和列。</translation>
    </message>
    <message>
        <source>What data-parallel ranks share: ZeRO-1 and the distributed optimizer the optimizer state, ZeRO-2 gradients too, ZeRO-3 and FSDP parameters as well.</source>
        <translation>数据并行各 rank 分摊的内容：ZeRO-1 和分布式优化器分摊优化器状态，ZeRO-2 还分摊梯度，ZeRO-3 和 FSDP 连参数也分摊。</translation>
    </message>
    <message>
        <source>Whose layers the exact figures describe: every implementation keeps other tensors.</source>
        <translation>精确数值描述的是哪种实现的层：每种实现保存的张量不同。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Interleaved 1F1B</source>
        <translation>交错 1F1B</translation>
    </message>
    <message>
        <source>Distributed optimizer</source>
        <translation>分布式优化器</translation>
    </message>
    <message>
        <source>8-bit AdamW</source>
        <translation>8 位 AdamW</translation>
    </message>
    <message>
        <source>SGD with momentum</source>
        <translation>带动量的 SGD</translation>
    </message>
    <message>
        <source>Megatron local</source>
        <translation>Megatron 本地层</translation>
    </message>
    <message>
        <source>not described</source>
        <translation>未描述</translation>
    </message>
    <message>
        <source>attention core</source>
        <translation>注意力核心</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>norms</source>
        <translation>归一化</translation>
    </message>
</context>
<context>
    <name>CompareText</name>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>%1 (estimate)</source>
        <translation>%1（估算）</translation>
    </message>
    <message>
        <source>Allocated, by phase</source>
        <translation>已分配，按阶段</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>单步时间</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>各级</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>token/秒</translation>
    </message>
    <message>
        <source>Peaks of the runs</source>
        <translation>各次运行的峰值</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>capacity %1</source>
        <translation>容量 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>另有 %n 项</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CopyableView</name>
    <message>
        <source>&amp;Copy as table</source>
        <translation>复制为表格(&amp;C)</translation>
    </message>
    <message>
        <source>Copies the chosen rows as tab-separated text</source>
        <translation>把选中的行复制为制表符分隔的文本</translation>
    </message>
</context>
<context>
    <name>HelpDialogs</name>
    <message>
        <source>Left, Right</source>
        <translation>←、→</translation>
    </message>
    <message>
        <source>Charts: moves the cursor by a step, or to the next stage</source>
        <translation>图表：光标移动一步，或移到相邻的流水级</translation>
    </message>
    <message>
        <source>Shift+Left, Shift+Right</source>
        <translation>Shift+←、Shift+→</translation>
    </message>
    <message>
        <source>Peaks: moves the cursor by ten steps</source>
        <translation>峰值图：光标移动十步</translation>
    </message>
    <message>
        <source>+, −</source>
        <translation>+、−</translation>
    </message>
    <message>
        <source>Peaks: zooms in and out</source>
        <translation>峰值图：放大和缩小</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Home</translation>
    </message>
    <message>
        <source>Peaks: shows the whole run</source>
        <translation>峰值图：显示整个训练过程</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>退格键</translation>
    </message>
    <message>
        <source>Peaks: goes back to the steps shown before</source>
        <translation>峰值图：回到之前显示的步数范围</translation>
    </message>
    <message>
        <source>Wheel</source>
        <translation>滚轮</translation>
    </message>
    <message>
        <source>Peaks: zooms around the pointer</source>
        <translation>峰值图：以指针为中心缩放</translation>
    </message>
    <message>
        <source>Shift+drag</source>
        <translation>Shift+拖动</translation>
    </message>
    <message>
        <source>Peaks: zooms to what is framed</source>
        <translation>峰值图：放大到框选的范围</translation>
    </message>
    <message>
        <source>Knobs: the next smaller or larger value that is possible</source>
        <translation>调节项：取下一个更小或更大的可用值</translation>
    </message>
    <message>
        <source>Page Up, Page Down</source>
        <translation>Page Up、Page Down</translation>
    </message>
    <message>
        <source>Knobs: larger steps</source>
        <translation>调节项：更大的步幅</translation>
    </message>
    <message>
        <source>Home, End</source>
        <translation>Home、End</translation>
    </message>
    <message>
        <source>Knobs: the smallest or largest value</source>
        <translation>调节项：取最小值或最大值</translation>
    </message>
    <message>
        <source>Knobs: back to what the files say; so does a double-click</source>
        <translation>调节项：恢复为文件中的值；双击也可以</translation>
    </message>
    <message>
        <source>Escape</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Knobs: drops what was typed</source>
        <translation>调节项：放弃已输入的内容</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>What they do</source>
        <translation>作用</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Headroom is free software under the GNU General Public License, version 3 or later, printed below.

It is built with:
  Qt, GNU Lesser General Public License 3
  QCustomPlot by Emanuel Eichhammer, GNU General Public License 3 or later
  yaml-cpp by Jesse Beder, MIT licence
  {fmt} by Victor Zverovich and contributors, MIT licence
  tl::expected by Sy Brand, CC0
</source>
        <translation>Headroom 是自由软件，按 GNU 通用公共许可证第 3 版或更高版本发布，许可证全文见下。

它使用了：
  Qt，GNU 宽通用公共许可证第 3 版
  QCustomPlot，作者 Emanuel Eichhammer，GNU 通用公共许可证第 3 版或更高版本
  yaml-cpp，作者 Jesse Beder，MIT 许可证
  {fmt}，作者 Victor Zverovich 及贡献者，MIT 许可证
  tl::expected，作者 Sy Brand，CC0
</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Explorer for the GPU memory of training runs.
Where is the peak, why is it there, and what is the smallest change that fits?</source>
        <translation>训练任务的显存分析工具。
峰值出现在哪里、为什么出现、最小改动多少才放得下？</translation>
    </message>
    <message>
        <source>About Headroom</source>
        <translation>关于 Headroom</translation>
    </message>
    <message>
        <source>P</source>
        <translation>P</translation>
    </message>
    <message>
        <source>Training step: moves the cursor to the peak</source>
        <translation>训练步：把光标移到峰值</translation>
    </message>
    <message>
        <source>Ctrl+Left, Ctrl+Right</source>
        <translation>Ctrl+左、Ctrl+右</translation>
    </message>
    <message>
        <source>Training step: moves the cursor by a pass</source>
        <translation>训练步：光标移动一趟</translation>
    </message>
</context>
<context>
    <name>Knobs</name>
    <message>
        <source>Pipeline stages</source>
        <translation>流水线级数</translation>
    </message>
    <message>
        <source>Tensor parallel</source>
        <translation>张量并行</translation>
    </message>
    <message>
        <source>Data parallel</source>
        <translation>数据并行</translation>
    </message>
    <message>
        <source>Micro-batch size</source>
        <translation>微批次大小</translation>
    </message>
    <message>
        <source>Accumulation steps</source>
        <translation>梯度累积步数</translation>
    </message>
    <message>
        <source>Sequence length</source>
        <translation>序列长度</translation>
    </message>
    <message>
        <source>Recomputed layers</source>
        <translation>重计算层数</translation>
    </message>
    <message>
        <source>GPUs that share the layers. More stages: fewer layers on each GPU, but more micro-batches in flight on the first ones. The global batch stays.</source>
        <translation>分摊各层的 GPU 数。级数越多，每张 GPU 上的层越少，但靠前的流水级在途微批次越多。全局批次不变。</translation>
    </message>
    <message>
        <source>GPUs that share every layer. It must divide the attention heads.</source>
        <translation>共同分担每一层的 GPU 数，必须能整除注意力头数。</translation>
    </message>
    <message>
        <source>Copies of the model that train on different samples. The memory of one GPU changes only where the state is sharded.</source>
        <translation>用不同样本训练的模型副本数。只有状态被切分时，单张 GPU 的显存才会变化。</translation>
    </message>
    <message>
        <source>Samples in one forward pass of one copy. The activations grow in proportion to it.</source>
        <translation>一个副本一次前向的样本数。激活值与它成正比。</translation>
    </message>
    <message>
        <source>Micro-batches per training step. It costs no memory beyond the micro-batches in flight.</source>
        <translation>每个训练步的微批次数。除在途微批次外不占用额外显存。</translation>
    </message>
    <message>
        <source>Tokens of one sample. The activations grow in proportion to it.</source>
        <translation>一个样本的 token 数。激活值与它成正比。</translation>
    </message>
    <message>
        <source>Layers of each stage whose activations are computed again in the backward pass.</source>
        <translation>每个流水级中，反向时重新计算激活值的层数。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Selective</source>
        <translation>选择性</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Virtual chunks per stage</source>
        <translation>每流水级虚拟块数</translation>
    </message>
    <message>
        <source>Context parallel</source>
        <translation>上下文并行</translation>
    </message>
    <message>
        <source>Expert parallel</source>
        <translation>专家并行</translation>
    </message>
    <message>
        <source>Pieces of the model that a stage runs in turn. More chunks: less waiting, but more activations in flight, on the last stage too.</source>
        <translation>一个阶段轮流运行的模型块数。块越多，等待越少，但在途激活越多，最后一个阶段也是如此。</translation>
    </message>
    <message>
        <source>GPUs that share every sequence. Each keeps the activations of its part of the tokens.</source>
        <translation>共同处理每条序列的 GPU 数。每块 GPU 只保存自己那部分 token 的激活。</translation>
    </message>
    <message>
        <source>GPUs that share the experts of every layer. It must divide their number.</source>
        <translation>分担每层专家的 GPU 数。它必须整除专家数。</translation>
    </message>
    <message>
        <source>set %1 on the left</source>
        <translation>请在左侧设置 %1</translation>
    </message>
    <message>
        <source>set %1 in the tab Plan</source>
        <translation>请在“方案”选项卡中设置 %1</translation>
    </message>
</context>
<context>
    <name>PeaksChart</name>
    <message>
        <source>No peaks found in this log.
Headroom looks for lines that say which phase and step
they are from and the memory allocated at the peak.</source>
        <translation>此日志中没有峰值。
Headroom 查找写明阶段、步数
以及峰值时已分配显存的行。</translation>
    </message>
    <message>
        <source>No peaks found in this log. It ran out of memory at line %1.</source>
        <translation>此日志中没有峰值。它在第 %1 行显存不足。</translation>
    </message>
    <message>
        <source>%1 allocated</source>
        <translation>已分配 %1</translation>
    </message>
    <message>
        <source>%1 reserved</source>
        <translation>已预留 %1</translation>
    </message>
    <message>
        <source>%1 asked for</source>
        <translation>申请 %1</translation>
    </message>
    <message>
        <source>%1 in the device</source>
        <translation>设备共 %1</translation>
    </message>
</context>
<context>
    <name>Verdict</name>
    <message>
        <source>Peaks at %1 in %2 on stage %3. Choose a GPU to see whether it fits</source>
        <translation>峰值 %1，在流水级 %3 的%2。选择 GPU 后可判断是否放得下</translation>
    </message>
    <message>
        <source>Does not fit: stage %1 peaks at %2 of %3 in %4, %5 over</source>
        <translation>放不下：流水级 %1 的峰值在%4，达 %2 / %3，超出 %5</translation>
    </message>
    <message>
        <source>Tight: stage %1 peaks at %2 of %3 in %4, only %5 left</source>
        <translation>余量很小：流水级 %1 的峰值在%4，达 %2 / %3，仅剩 %5</translation>
    </message>
    <message>
        <source>Fits: stage %1 peaks at %2 of %3 in %4, %5 left</source>
        <translation>放得下：流水级 %1 的峰值在%4，达 %2 / %3，剩余 %5</translation>
    </message>
    <message>
        <source>every tensor counted (%1)</source>
        <translation>逐张量统计（%1）</translation>
    </message>
    <message>
        <source>textbook recipe, k = %1 set by you</source>
        <translation>教科书公式，k = %1（由您设定）</translation>
    </message>
    <message>
        <source>textbook recipe, k = %1 derived</source>
        <translation>教科书公式，k = %1（推导得出）</translation>
    </message>
    <message>
        <source>%1 % above the log&apos;s peak</source>
        <translation>比日志峰值高 %1 %</translation>
    </message>
    <message>
        <source>%1 % below the log&apos;s peak</source>
        <translation>比日志峰值低 %1 %</translation>
    </message>
    <message>
        <source>Measured peak %1 in %2, step %3 (%4). Choose a GPU to see how much is left</source>
        <translation>实测峰值 %1，出现在 %2 阶段第 %3 步（%4）。选择 GPU 后可看到余量</translation>
    </message>
    <message>
        <source>Measured peak %1 of %2 in %3, step %4 (%5)</source>
        <translation>实测峰值 %1 / %2，出现在 %3 阶段第 %4 步（%5）</translation>
    </message>
    <message>
        <source>allocated, as logged</source>
        <translation>已分配，按日志记录</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器阶段</translation>
    </message>
    <message>
        <source>No estimate: %1</source>
        <translation>无法估算：%1</translation>
    </message>
    <message>
        <source>one step replayed (%1)</source>
        <translation>已回放一步（%1）</translation>
    </message>
    <message>
        <source>%1, calibrated by measurement</source>
        <translation>%1，已按实测校准</translation>
    </message>
</context>
<context>
    <name>cli</name>
    <message>
        <source>preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>隐藏维度</translation>
    </message>
    <message>
        <source>heads</source>
        <translation>头数</translation>
    </message>
    <message>
        <source>vocabulary</source>
        <translation>词表</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>id</source>
        <translation>标识</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>architecture</source>
        <translation>架构</translation>
    </message>
    <message>
        <source>config format</source>
        <translation>配置格式</translation>
    </message>
    <message>
        <source>title</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>keys</source>
        <translation>键数</translation>
    </message>
    <message>
        <source>log format</source>
        <translation>日志格式</translation>
    </message>
    <message>
        <source>framework</source>
        <translation>框架</translation>
    </message>
    <message>
        <source>print JSON</source>
        <translation>输出 JSON</translation>
    </message>
    <message>
        <source>the model presets that ship, and your own</source>
        <translation>自带的和自己添加的模型预设</translation>
    </message>
    <message>
        <source>the GPUs that are known, and your own</source>
        <translation>已知的和自己添加的 GPU</translation>
    </message>
    <message>
        <source>the config and log formats that are read</source>
        <translation>能读取的配置格式和日志格式</translation>
    </message>
    <message>
        <source>%1 micro × %2 accumulate × %3 data-parallel = %4, global batch %5 %6</source>
        <translation>%1 微批次 × %2 累积 × %3 数据并行 = %4，全局批次 %5 %6</translation>
    </message>
    <message>
        <source>the number of GPUs, %1, follows from %2</source>
        <translation>GPU 数为 %1，由 %2 得出</translation>
    </message>
    <message>
        <source>the number of GPUs is not in these files; %1 taken (--world N)</source>
        <translation>这些文件没有给出 GPU 数；取 %1（--world N）</translation>
    </message>
    <message>
        <source>not known from these files: %1</source>
        <translation>这些文件没有给出：%1</translation>
    </message>
    <message>
        <source>recompute in effect: %1  [%2, %3]</source>
        <translation>实际生效的重计算：%1  [%2, %3]</translation>
    </message>
    <message>
        <source>%1 layers on a single stage</source>
        <translation>单个流水级，共 %1 层</translation>
    </message>
    <message>
        <source>%1 layers on each of %2 stages</source>
        <translation>%2 个流水级，每级 %1 层</translation>
    </message>
    <message>
        <source>%1 to %2 layers on each of %3 stages</source>
        <translation>%3 个流水级，每级 %1 到 %2 层</translation>
    </message>
    <message>
        <source>also read: %1</source>
        <translation>还读取了：%1</translation>
    </message>
    <message>
        <source>Holds.</source>
        <translation>成立。</translation>
    </message>
    <message>
        <source>Holds, as far as these files say.</source>
        <translation>就这些文件而言成立。</translation>
    </message>
    <message>
        <source>Does not hold.</source>
        <translation>不成立。</translation>
    </message>
    <message>
        <source>does the batch equation hold, is recompute really on, what contradicts itself</source>
        <translation>检查批次等式是否成立、重计算是否真的开启、有无自相矛盾之处</translation>
    </message>
    <message>
        <source>config files, later ones win</source>
        <translation>配置文件，后面的优先</translation>
    </message>
    <message>
        <source>the log of the run, for what it says about the config</source>
        <translation>该次运行的日志，用来核对配置</translation>
    </message>
    <message>
        <source>model preset or file (an HF config.json)</source>
        <translation>模型预设或文件（如 HF 的 config.json）</translation>
    </message>
    <message>
        <source>number of GPUs of the run</source>
        <translation>运行所用的 GPU 数</translation>
    </message>
    <message>
        <source>runs side by side, each after the one before: what changed, and what it did</source>
        <translation>并排比较各次运行：相对前一次改了什么、有何效果</translation>
    </message>
    <message>
        <source>two or more in their order: logs, or configs whose estimate is taken</source>
        <translation>按顺序给出两个或更多：日志，或取其估算的配置</translation>
    </message>
    <message>
        <source>config of a log; repeated for the logs in their order</source>
        <translation>日志的配置；按日志顺序重复给出</translation>
    </message>
    <message>
        <source>config of the second log</source>
        <translation>第二份日志的配置</translation>
    </message>
    <message>
        <source>with more than two runs: the one, counted from 1, that all are measured against</source>
        <translation>多于两次运行时：以第几次（从 1 数起）为基准</translation>
    </message>
    <message>
        <source>model preset or file of all</source>
        <translation>全部运行的模型预设或文件</translation>
    </message>
    <message>
        <source>number of GPUs of all</source>
        <translation>全部运行的 GPU 数</translation>
    </message>
    <message>
        <source>peaks</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>after</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>change</source>
        <translation>改动</translation>
    </message>
    <message>
        <source>allocated peak</source>
        <translation>已分配峰值</translation>
    </message>
    <message>
        <source>reserved peak</source>
        <translation>已预留峰值</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>step time, s</source>
        <translation>单步时间（秒）</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>%1 (estimate)</source>
        <translation>%1（估算）</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>step, s</source>
        <translation>单步（秒）</translation>
    </message>
    <message>
        <source>run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>before: %1</source>
        <translation>之前：%1</translation>
    </message>
    <message>
        <source>after:  %1</source>
        <translation>之后：%1</translation>
    </message>
    <message>
        <source>Same settings</source>
        <translation>设置相同</translation>
    </message>
    <message>
        <source>What changed</source>
        <translation>改变之处</translation>
    </message>
    <message>
        <source>Peaks in GiB, with the change against run %1 (←)</source>
        <translation>峰值（GiB）及相对第 %1 次运行（←）的变化</translation>
    </message>
    <message>
        <source>Peaks in GiB, with the change against the run before</source>
        <translation>峰值（GiB）及相对前一次运行的变化</translation>
    </message>
    <message>
        <source>%1, after %2</source>
        <translation>%1，在 %2 之后</translation>
    </message>
    <message>
        <source>same settings</source>
        <translation>设置相同</translation>
    </message>
    <message>
        <source>%1, assumed; --set implementation.profile=… for another</source>
        <translation>%1，假定；换用其他请加 --set implementation.profile=…</translation>
    </message>
    <message>
        <source>the textbook recipe, since %1</source>
        <translation>教科书公式，因为%1</translation>
    </message>
    <message>
        <source>the textbook recipe at k = %1</source>
        <translation>教科书公式，k = %1</translation>
    </message>
    <message>
        <source>the tensors of each layer, summed in closed form (%1)</source>
        <translation>逐层张量的闭式求和（%1）</translation>
    </message>
    <message>
        <source>one training step replayed tensor by tensor through the allocator (%1)</source>
        <translation>在分配器上逐张量重放一个训练步（%1）</translation>
    </message>
    <message>
        <source>Without --set it is %1. A step takes %2 (a ratio only).</source>
        <translation>不加 --set 时为 %1。一步的时间：%2（仅为比值）。</translation>
    </message>
    <message>
        <source>Without --set it is %1.</source>
        <translation>不加 --set 时为 %1。</translation>
    </message>
    <message>
        <source>Incomplete: %1 changes what is allocated and is not estimated</source>
        <translation>不完整：%1 会改变分配量，但未计入估算</translation>
    </message>
    <message>
        <source>Textbook: </source>
        <translation>教科书：</translation>
    </message>
    <message>
        <source>12h² = %1 per block, %2 parameters, %3 static, %4 activations per micro-batch at k = %5, %6 in flight</source>
        <translation>12h² = 每块 %1，参数 %2，静态 %3，k = %5 时每个微批次激活值 %4，在途 %6 个</translation>
    </message>
    <message>
        <source>Detailed: </source>
        <translation>详细：</translation>
    </message>
    <message>
        <source>%1 parameters, fullest stage %2; from %3</source>
        <translation>参数 %1，占用最多的流水级 %2；依据：%3</translation>
    </message>
    <message>
        <source>The recipe&apos;s working</source>
        <translation>公式的计算过程</translation>
    </message>
    <message>
        <source>give the model with --model PRESET|FILE (headroom-cli models lists the presets), or its sizes with --set model.layers=VALUE and so on</source>
        <translation>请用 --model 预设|文件 指定模型（headroom-cli models 列出预设），或用 --set model.layers=值 等给出尺寸</translation>
    </message>
    <message>
        <source>give it with --set %1=VALUE</source>
        <translation>请用 --set %1=值 给出</translation>
    </message>
    <message>
        <source>memory of every pipeline stage, recomputed from the configuration</source>
        <translation>由配置重新计算每个流水级的显存</translation>
    </message>
    <message>
        <source>sum the tensors in closed form instead of replaying a step</source>
        <translation>用闭式求和代替重放一步</translation>
    </message>
    <message>
        <source>the recipe alone, as --k does</source>
        <translation>只用教科书公式，与 --k 相同</translation>
    </message>
    <message>
        <source>show every formula with its numbers</source>
        <translation>显示每个公式及代入的数值</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>not said: %1 = %2 (%3 means %4)</source>
        <translation>未写出：%1 = %2（%3 的含义是 %4）</translation>
    </message>
    <message>
        <source>assumed: %1 = %2 (by %3, the config does not say)</source>
        <translation>假定：%1 = %2（由 %3 假定，配置没有说明）</translation>
    </message>
    <message>
        <source>write the config in another format</source>
        <translation>用另一种格式写出配置</translation>
    </message>
    <message>
        <source>format of the new file: base-yaml, megatron-args, deepspeed-json, …</source>
        <translation>新文件的格式：base-yaml、megatron-args、deepspeed-json …</translation>
    </message>
    <message>
        <source>write the new file here; otherwise it is printed</source>
        <translation>把新文件写到这里；否则打印出来</translation>
    </message>
    <message>
        <source>Exit code 1: the format has no words for some values; they are listed.</source>
        <translation>退出码 1：该格式无法表达某些值；会列出它们。</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>单步时间</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>set</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Largest micro-batch that fits</source>
        <translation>放得下的最大微批次</translation>
    </message>
    <message>
        <source>Longest sequence that fits</source>
        <translation>放得下的最长序列</translation>
    </message>
    <message>
        <source>Fewest GPUs</source>
        <translation>最少 GPU 数</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>保持不变</translation>
    </message>
    <message>
        <source>Fits: the fullest stage takes %1 of %2, %3% of which stay free</source>
        <translation>放得下：占用最多的流水级用 %1，共 %2，其中留空 %3%</translation>
    </message>
    <message>
        <source>Does not fit: the fullest stage takes %1 of %2, %3% of which stay free</source>
        <translation>放不下：占用最多的流水级用 %1，共 %2，其中留空 %3%</translation>
    </message>
    <message>
        <source>Its batch does not add up (%1 samples where %2 are stated); every change below makes it %2</source>
        <translation>批次对不上（得 %1 个样本，而写明的是 %2）；下面的每项改动都会使其为 %2</translation>
    </message>
    <message>
        <source>One change that makes it fit, cheapest first</source>
        <translation>一项改动即可放下，代价小的在前</translation>
    </message>
    <message>
        <source>No single change is enough. Two that are, cheapest first</source>
        <translation>单项改动不够；两项改动可以放下，代价小的在前</translation>
    </message>
    <message>
        <source>No change of one or two settings makes it fit. The closest</source>
        <translation>改动一项或两项设置都放不下；最接近的是</translation>
    </message>
    <message>
        <source>Adapters would fit; they train less than the config asks for</source>
        <translation>用适配器放得下；但训练的内容比配置要求的少</translation>
    </message>
    <message>
        <source>the smallest change with which every stage fits the GPU</source>
        <translation>让每个流水级都放得下的最小改动</translation>
    </message>
    <message>
        <source>what stays as it is: global_batch, gpus, training (all three), or none</source>
        <translation>保持不变的：global_batch、gpus、training（默认三者），或 none</translation>
    </message>
    <message>
        <source>share of the GPU&apos;s memory that has to stay free</source>
        <translation>GPU 显存中必须留空的比例</translation>
    </message>
    <message>
        <source>config files, later ones win; --model alone will do</source>
        <translation>配置文件，后面的优先；只给 --model 也可以</translation>
    </message>
    <message>
        <source>key=value over the files, as in --set parallel.pipeline_parallel_size=4</source>
        <translation>覆盖文件的 键=值，如 --set parallel.pipeline_parallel_size=4</translation>
    </message>
    <message>
        <source>GPU the run is meant for; headroom-cli gpus lists them</source>
        <translation>目标 GPU；headroom-cli gpus 列出全部</translation>
    </message>
    <message>
        <source>memory of one GPU, as in 80GiB</source>
        <translation>单个 GPU 的显存，如 80GiB</translation>
    </message>
    <message>
        <source>activation copies per layer, token and hidden unit</source>
        <translation>每层、每 token、每隐藏单元的激活值份数</translation>
    </message>
    <message>
        <source>log of a run with this config: its measured peaks correct the estimate</source>
        <translation>用此配置运行的日志：以其实测峰值修正估算</translation>
    </message>
    <message>
        <source>keep what --calibrate found, under a name in the configuration folder or in a file</source>
        <translation>保存 --calibrate 的结果：配置文件夹中的名称，或文件</translation>
    </message>
    <message>
        <source>calibration that was saved: its name or file</source>
        <translation>已保存的校准：名称或文件</translation>
    </message>
    <message>
        <source>error: %1</source>
        <translation>错误：%1</translation>
    </message>
    <message>
        <source>warning: %1</source>
        <translation>警告：%1</translation>
    </message>
    <message>
        <source>note: %1</source>
        <translation>说明：%1</translation>
    </message>
    <message>
        <source>peaks per phase and the largest values of a training log</source>
        <translation>训练日志中各阶段的峰值和最大的数值</translation>
    </message>
    <message>
        <source>logs, or folders of per-rank logs</source>
        <translation>日志，或按 rank 存放日志的文件夹</translation>
    </message>
    <message>
        <source>how many of the largest values to list</source>
        <translation>列出多少个最大值</translation>
    </message>
    <message>
        <source>print every measurement as comma-separated values</source>
        <translation>以逗号分隔值输出每个测量</translation>
    </message>
    <message>
        <source>print measurements as they are written, until interrupted</source>
        <translation>随写入输出测量，直到中断</translation>
    </message>
    <message>
        <source>seconds between two looks at a followed log</source>
        <translation>跟踪日志时两次查看之间的秒数</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Peak of each phase</source>
        <translation>各阶段的峰值</translation>
    </message>
    <message>
        <source>Largest %1</source>
        <translation>最大的 %1 个</translation>
    </message>
    <message>
        <source>Largest reserved (the log has no peaks of what was allocated)</source>
        <translation>最大的已预留（日志没有已分配的峰值）</translation>
    </message>
    <message>
        <source>Parameters: %1%2, from %3</source>
        <translation>参数：%1%2，见 %3</translation>
    </message>
    <message>
        <source>Parameters: %1%2, from %3; the largest of %4 counts</source>
        <translation>参数：%1%2，见 %3；取 %4 个计数中最大的</translation>
    </message>
    <message>
        <source>The framework&apos;s own estimate: %1 of weights and optimizer, %2 with activations, from %3</source>
        <translation>框架自己的估算：权重和优化器 %1，连同激活值 %2，见 %3</translation>
    </message>
    <message>
        <source>The framework&apos;s own estimate: %1 of weights and optimizer, from %2</source>
        <translation>框架自己的估算：权重和优化器 %1，见 %2</translation>
    </message>
    <message>
        <source>part of a step</source>
        <translation>一步中的部分</translation>
    </message>
    <message>
        <source>median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>longest</source>
        <translation>最长</translation>
    </message>
    <message>
        <source>line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>%1 more are in --json.</source>
        <translation>另有 %1 个见 --json。</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>amount</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>allocated when the line was printed</source>
        <translation>打印该行时已分配</translation>
    </message>
    <message>
        <source>active, waiting for a stream included</source>
        <translation>活跃（含等待流的）</translation>
    </message>
    <message>
        <source>taken on the device, all processes</source>
        <translation>设备上被占用（所有进程）</translation>
    </message>
    <message>
        <source>Other amounts</source>
        <translation>其他数量</translation>
    </message>
    <message>
        <source>%1 asked for</source>
        <translation>申请 %1</translation>
    </message>
    <message>
        <source>%1 allocated</source>
        <translation>已分配 %1</translation>
    </message>
    <message>
        <source>%1 reserved</source>
        <translation>已预留 %1</translation>
    </message>
    <message>
        <source>%1 in private pools</source>
        <translation>私有池中 %1</translation>
    </message>
    <message>
        <source>%1 taken by the process</source>
        <translation>本进程占用 %1</translation>
    </message>
    <message>
        <source>%1 by other processes</source>
        <translation>其他进程占用 %1</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>空闲 %1</translation>
    </message>
    <message>
        <source>%1 allowed</source>
        <translation>允许 %1</translation>
    </message>
    <message>
        <source>%1 in the device</source>
        <translation>设备共 %1</translation>
    </message>
    <message>
        <source>Out of memory again at %1</source>
        <translation>再次显存不足，见 %1</translation>
    </message>
    <message>
        <source>Out of memory at %1</source>
        <translation>显存不足，见 %1</translation>
    </message>
    <message>
        <source>, rank %1</source>
        <translation>，在 rank %1 上</translation>
    </message>
    <message>
        <source>, in %1</source>
        <translation>，处于%1</translation>
    </message>
    <message>
        <source>%1 more out-of-memory messages.</source>
        <translation>另有 %1 条显存不足的消息。</translation>
    </message>
    <message>
        <source>%1 line</source>
        <translation>%1 行</translation>
    </message>
    <message>
        <source>%1 lines</source>
        <translation>%1 行</translation>
    </message>
    <message>
        <source>%1 measurement</source>
        <translation>%1 个测量</translation>
    </message>
    <message>
        <source>%1 measurements</source>
        <translation>%1 个测量</translation>
    </message>
    <message>
        <source>%1 rank</source>
        <translation>%1 个 rank</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 个 rank</translation>
    </message>
    <message>
        <source>; formats: %1</source>
        <translation>；格式：%1</translation>
    </message>
    <message>
        <source>Memory of the device: %1</source>
        <translation>设备显存：%1</translation>
    </message>
    <message>
        <source>Median step: %1 s</source>
        <translation>单步时间中位数：%1 秒</translation>
    </message>
    <message>
        <source>Median tokens per second: %1</source>
        <translation>每秒 token 数中位数：%1</translation>
    </message>
    <message>
        <source>Last loss: %1</source>
        <translation>最后的损失：%1</translation>
    </message>
    <message>
        <source>Arguments in the log: %1, from %2</source>
        <translation>日志中的参数：%1 个，从 %2 起</translation>
    </message>
    <message>
        <source>Device mesh: %1, from %2</source>
        <translation>设备网格：%1，见 %2</translation>
    </message>
    <message>
        <source>%1: %2 steps</source>
        <translation>%1：%2 步</translation>
    </message>
    <message>
        <source>common steps</source>
        <translation>共同的步</translation>
    </message>
    <message>
        <source>largest difference, first %1 steps</source>
        <translation>前 %1 步的最大差值</translation>
    </message>
    <message>
        <source>largest difference (step %1)</source>
        <translation>最大差值（第 %1 步）</translation>
    </message>
    <message>
        <source>tolerance</source>
        <translation>容差</translation>
    </message>
    <message>
        <source>change of the difference per step</source>
        <translation>差值每步的变化</translation>
    </message>
    <message>
        <source>departs at step</source>
        <translation>开始偏离的步</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>whether two runs&apos; losses agree, and if not, what sets them apart</source>
        <translation>两次运行的损失是否一致；若不一致，差在哪里</translation>
    </message>
    <message>
        <source>two files of JSON lines, {&quot;step&quot;: 1, &quot;loss&quot;: 2.5}, or logs</source>
        <translation>两个 JSON 行文件，{&quot;step&quot;: 1, &quot;loss&quot;: 2.5}，或日志</translation>
    </message>
    <message>
        <source>largest difference that is still alike; derived unless given</source>
        <translation>仍算一致的最大差值；不给则推算</translation>
    </message>
    <message>
        <source>how many of the first common steps are judged by themselves</source>
        <translation>单独评判开头多少个共同的步</translation>
    </message>
    <message>
        <source>config of the first run, to look for the cause; a log&apos;s own arguments without</source>
        <translation>第一次运行的配置，用来查找原因；不给则用日志自身的参数</translation>
    </message>
    <message>
        <source>config of the second run</source>
        <translation>第二次运行的配置</translation>
    </message>
    <message>
        <source>Headroom: where does the GPU memory of a training run peak, why, and what would fit?
Exit codes: 0 fits or holds, 1 does not, 2 bad input or usage.</source>
        <translation>Headroom：训练的显存峰值在哪里、为什么、怎样才放得下？
退出码：0 放得下或成立，1 不成立，2 输入或用法有误。</translation>
    </message>
    <message>
        <source>language of texts, such as en or zh_CN; the environment&apos;s unless given</source>
        <translation>文字的语言，如 en 或 zh_CN；不给则随环境</translation>
    </message>
    <message>
        <source>%1 is neither a command nor an option; --help lists them</source>
        <translation>%1 既不是命令也不是选项；--help 列出全部</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>in flight</source>
        <translation>在途</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>logits 值</translation>
    </message>
    <message>
        <source>working set</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>tensor traffic</source>
        <translation>张量并行通信</translation>
    </message>
    <message>
        <source>context traffic</source>
        <translation>上下文并行通信</translation>
    </message>
    <message>
        <source>expert traffic</source>
        <translation>专家并行通信</translation>
    </message>
    <message>
        <source>pipeline traffic</source>
        <translation>流水线通信</translation>
    </message>
    <message>
        <source>data traffic</source>
        <translation>数据并行通信</translation>
    </message>
    <message>
        <source>working</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>流水级</translation>
    </message>
    <message>
        <source>params</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>held</source>
        <translation>在途</translation>
    </message>
    <message>
        <source>or between</source>
        <translation>或介于</translation>
    </message>
    <message>
        <source>Peaks on one GPU of each stage, GiB (← the fullest; held: micro-batches in flight)</source>
        <translation>各流水级单个 GPU 的峰值，GiB（← 占用最多；在途：同时保留激活值的微批次数）</translation>
    </message>
    <message>
        <source>What is allocated at the peak, and the context with NCCL beside it, GiB</source>
        <translation>峰值时已分配的组成，以及上下文和 NCCL，GiB</translation>
    </message>
    <message>
        <source>more</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>stage %1: %2</source>
        <translation>流水级 %1：%2</translation>
    </message>
    <message>
        <source>, on %1 × the GPUs</source>
        <translation>，GPU 数为 %1 倍</translation>
    </message>
    <message>
        <source>: estimate %1</source>
        <translation>：估算 %1</translation>
    </message>
    <message>
        <source>%1 to %2 GiB</source>
        <translation>%1 到 %2 GiB</translation>
    </message>
    <message>
        <source>    → or </source>
        <translation>    → 或 </translation>
    </message>
    <message>
        <source>Stage %1 may need %2 to %3 of device memory</source>
        <translation>流水级 %1 可能需要 %2 到 %3 的设备显存</translation>
    </message>
    <message>
        <source>not given</source>
        <translation>未给出</translation>
    </message>
    <message>
        <source>taken</source>
        <translation>取值</translation>
    </message>
    <message>
        <source>instead</source>
        <translation>改为</translation>
    </message>
    <message>
        <source>change, GiB</source>
        <translation>变化，GiB</translation>
    </message>
    <message>
        <source>Assumed, and what the allocated peak of stage %1 would be otherwise</source>
        <translation>假定的取值，以及若不如此流水级 %1 的已分配峰值如何变化</translation>
    </message>
    <message>
        <source>about the same time for the same samples</source>
        <translation>同样的样本，时间大致相同</translation>
    </message>
    <message>
        <source>%1 × the time for the same samples</source>
        <translation>同样的样本，时间为 %1 倍</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>公式</translation>
    </message>
    <message>
        <source>value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Peaks at %1 on stage %2 in %3. No GPU is named, so nothing says whether that fits (--gpu, --capacity).</source>
        <translation>峰值为 %1，在流水级 %2 的%3。没有指定 GPU，无法判断是否放得下（--gpu、--capacity）。</translation>
    </message>
    <message>
        <source>stage %1 peaks at %2 of %3 in %4, %5 over</source>
        <translation>流水级 %1 的峰值在%4，%2 / %3，超出 %5</translation>
    </message>
    <message>
        <source>stage %1 peaks at %2 of %3 in %4, %5 left</source>
        <translation>流水级 %1 的峰值在%4，%2 / %3，余 %5</translation>
    </message>
    <message>
        <source>Close: %1, but %2 are possible: it may yet fit.</source>
        <translation>临界：%1，但可能为 %2：也许放得下。</translation>
    </message>
    <message>
        <source>Close: %1, but %2 are possible: it may not fit.</source>
        <translation>临界：%1，但可能为 %2：也许放不下。</translation>
    </message>
    <message>
        <source>Does not fit: %1.</source>
        <translation>放不下：%1。</translation>
    </message>
    <message>
        <source>Fits: %1.</source>
        <translation>放得下：%1。</translation>
    </message>
    <message>
        <source>Stage %1, allocated: %2 by theory alone, %3 by measurement (95 %: %4 to %5)</source>
        <translation>流水级 %1，已分配：仅按理论 %2，按实测 %3（95 %：%4 到 %5）</translation>
    </message>
    <message>
        <source>Calibrated: </source>
        <translation>已校准：</translation>
    </message>
    <message>
        <source>by “%1”, made on %2 from %3 measured peaks of %4. Activations are %5 × theory, %6 beside them</source>
        <translation>用“%1”，%2 由 %4 的 %3 个实测峰值得出。激活值为理论的 %5 倍，另加 %6</translation>
    </message>
    <message>
        <source>Not calibrated: </source>
        <translation>未校准：</translation>
    </message>
    <message>
        <source>the log looks as if %1; with that the estimate meets its peaks within %2 %, so the difference is not put into a coefficient</source>
        <translation>从日志看，似乎%1；照此估算与实测峰值相差不超过 %2 %，因此不把差别计入系数</translation>
    </message>
    <message>
        <source>on %1 measured peaks. Activations are %2 × theory (95 %: %3 to %4), k = %5 where theory has %6; %7 beside them (95 %: %8 to %9)</source>
        <translation>依据 %1 个实测峰值。激活值为理论的 %2 倍（95 %：%3 到 %4），k = %5，理论为 %6；另加 %7（95 %：%8 到 %9）</translation>
    </message>
    <message>
        <source>everything about a run as one page: HTML with charts, or Markdown</source>
        <translation>把一次运行的全部内容写成一页：带图表的 HTML，或 Markdown</translation>
    </message>
    <message>
        <source>the log of the run, or a folder of per-rank logs</source>
        <translation>该次运行的日志，或按 rank 存放日志的文件夹</translation>
    </message>
    <message>
        <source>file to write, .html or .md; Markdown to the terminal without</source>
        <translation>要写的文件，.html 或 .md；不给则把 Markdown 输出到终端</translation>
    </message>
    <message>
        <source>change values of a config and nothing else of the file</source>
        <translation>只改配置中的值，文件其余部分不动</translation>
    </message>
    <message>
        <source>the config file</source>
        <translation>配置文件</translation>
    </message>
    <message>
        <source>keys canonical (parallel.pipeline_parallel_size) or the file&apos;s own</source>
        <translation>键可用规范名（parallel.pipeline_parallel_size）或文件自己的名称</translation>
    </message>
    <message>
        <source>write the changed file here</source>
        <translation>把改后的文件写到这里</translation>
    </message>
    <message>
        <source>write the changed file over the old one, atomically</source>
        <translation>用改后的文件原子地替换旧文件</translation>
    </message>
    <message>
        <source>print the difference; without -o or --in-place nothing is written</source>
        <translation>打印差异；没有 -o 或 --in-place 时不写文件</translation>
    </message>
    <message>
        <source>print the changes, the difference and the changed file as JSON</source>
        <translation>以 JSON 输出改动、差异和改后的文件</translation>
    </message>
    <message>
        <source>Without --diff, -o or --in-place the changed file is printed.</source>
        <translation>没有 --diff、-o 或 --in-place 时打印改后的文件。</translation>
    </message>
    <message>
        <source>Usage</source>
        <translation>用法</translation>
    </message>
    <message>
        <source>Positionals</source>
        <translation>位置参数</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Print this help message and exit</source>
        <translation>显示此帮助并退出</translation>
    </message>
    <message>
        <source>term</source>
        <translation>项</translation>
    </message>
    <message>
        <source>whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>number</source>
        <translation>数字</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true 或 false</translation>
    </message>
    <message>
        <source>size, as in 80GiB</source>
        <translation>大小，如 80GiB</translation>
    </message>
    <message>
        <source>words, separated by commas</source>
        <translation>以逗号分隔的词</translation>
    </message>
    <message>
        <source>word</source>
        <translation>词</translation>
    </message>
    <message>
        <source>field</source>
        <translation>字段</translation>
    </message>
    <message>
        <source>unless stated</source>
        <translation>未写明时</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>可用值</translation>
    </message>
    <message>
        <source>no field has “%1” in its name</source>
        <translation>没有名称含“%1”的字段</translation>
    </message>
    <message>
        <source>no field has “%1” in its name; did you mean %2?</source>
        <translation>没有名称含“%1”的字段；您是指 %2 吗？</translation>
    </message>
    <message>
        <source>the fields of a plan, which --set and set take, and their values</source>
        <translation>方案的字段（供 --set 和 set 使用）及其可用值</translation>
    </message>
    <message>
        <source>only those that have this in their name, as in parallel.</source>
        <translation>只列出名称含此内容的字段，如 parallel.</translation>
    </message>
</context>
<context>
    <name>core</name>
    <message>
        <source>%1 GPUs cannot be divided into groups of %2</source>
        <translation>%1 张 GPU 不能按每组 %2 张划分</translation>
    </message>
    <message>
        <source>a global batch of %1 is not a multiple of %2 samples per micro-step</source>
        <translation>全局批次 %1 不是每个微步 %2 个样本的整数倍</translation>
    </message>
    <message>
        <source>must be at least 1</source>
        <translation>至少为 1</translation>
    </message>
    <message>
        <source>is longer than any training sequence</source>
        <translation>超过任何训练序列的长度</translation>
    </message>
    <message>
        <source>a stage has only %1 layers</source>
        <translation>一个流水级只有 %1 层</translation>
    </message>
    <message>
        <source>there is no such file</source>
        <translation>没有这个文件</translation>
    </message>
    <message>
        <source>is not a regular file</source>
        <translation>不是普通文件</translation>
    </message>
    <message>
        <source>cannot be read: permission denied or damaged</source>
        <translation>无法读取：没有权限或文件损坏</translation>
    </message>
    <message>
        <source>is empty</source>
        <translation>是空文件</translation>
    </message>
    <message>
        <source>is binary, neither a log nor a config</source>
        <translation>是二进制文件，既不是日志也不是配置</translation>
    </message>
    <message>
        <source>was replaced by %1: one config is open at a time</source>
        <translation>已被 %1 取代：一次只能打开一个配置</translation>
    </message>
    <message>
        <source>no config is open</source>
        <translation>没有打开的配置</translation>
    </message>
    <message>
        <source>the file has changed since it was opened; reload it first</source>
        <translation>文件打开后已被改动；请先重新加载</translation>
    </message>
    <message>
        <source>“%1” is not understood here</source>
        <translation>此处无法理解“%1”</translation>
    </message>
    <message>
        <source>“%1” is not a number of parameters</source>
        <translation>“%1”不是参数量</translation>
    </message>
    <message>
        <source>A model needs an id, model.layers and model.hidden</source>
        <translation>模型需要 id、model.layers 和 model.hidden</translation>
    </message>
    <message>
        <source>A GPU needs an id and its memory</source>
        <translation>GPU 需要 id 和显存容量</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>文件为空</translation>
    </message>
    <message>
        <source>the file is UTF-16 text; save it as UTF-8</source>
        <translation>文件是 UTF-16 文本；请另存为 UTF-8</translation>
    </message>
    <message>
        <source>the file is binary, not text</source>
        <translation>文件是二进制数据，不是文本</translation>
    </message>
    <message>
        <source>the line is not valid UTF-8 text</source>
        <translation>这一行不是有效的 UTF-8 文本</translation>
    </message>
    <message>
        <source>the file holds no settings, only comments or blanks</source>
        <translation>文件中没有设置，只有注释或空白</translation>
    </message>
    <message>
        <source>the file is not a mapping of keys to values</source>
        <translation>文件不是键值映射</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be set to “%2” without rewriting more of the file</source>
        <translation>要把“%1”设为“%2”，就得改写文件的其他部分，因此不予修改</translation>
    </message>
    <message>
        <source>the change would also change “%1”, which shares the value of line %2</source>
        <translation>这一改动会同时改变“%1”，它与第 %2 行共用同一个值</translation>
    </message>
    <message>
        <source>the change would also add “%1”</source>
        <translation>这一改动会同时添加“%1”</translation>
    </message>
    <message>
        <source>the file is larger than %1 MiB, so it is hardly a config</source>
        <translation>文件大于 %1 MiB，不像是配置文件</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be set to “%2”: the file would no longer be readable (%3)</source>
        <translation>不能把“%1”设为“%2”：文件将无法再读取（%3）</translation>
    </message>
    <message>
        <source>where the value of “%1” stands in the file could not be told, so it is not changed</source>
        <translation>无法确定“%1”的值在文件中的位置，因此未作改动</translation>
    </message>
    <message>
        <source>replacing the text block of “%1” would lose the comment after its first line</source>
        <translation>替换“%1”的文本块会丢失其首行后的注释</translation>
    </message>
    <message>
        <source>“%1” holds several values; a single one can&apos;t take their place</source>
        <translation>“%1”含有多个值，不能用单个值取代</translation>
    </message>
    <message>
        <source>replacing the list “%1” would lose the comments in it</source>
        <translation>替换列表“%1”会丢失其中的注释</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be added below a value without a place of its own</source>
        <translation>不能把“%1”添加到一个没有独立位置的值之下</translation>
    </message>
    <message>
        <source>the end of the mapping that “%1” belongs to could not be found</source>
        <translation>找不到“%1”所属映射的结尾</translation>
    </message>
    <message>
        <source>“%1” is shared through the anchor on line %2; change it there</source>
        <translation>“%1”通过第 %2 行的锚点共用；请在那里修改</translation>
    </message>
    <message>
        <source>“%1” names a place in a list, but there is a mapping</source>
        <translation>“%1”指向列表中的位置，但那里是一个映射</translation>
    </message>
    <message>
        <source>“%1” comes from a merged mapping on line %2; change it there</source>
        <translation>“%1”来自第 %2 行合并的映射；请在那里修改</translation>
    </message>
    <message>
        <source>there is no list for “%1” to be added to</source>
        <translation>没有可以添加“%1”的列表</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be added to a mapping without braces inside a list</source>
        <translation>不能把“%1”添加到列表内不带花括号的映射</translation>
    </message>
    <message>
        <source>“%1” is not in the list, which has %2 values</source>
        <translation>“%1”不在列表中，该列表有 %2 个值</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be added: the file has a single value where its mapping would be</source>
        <translation>不能添加“%1”：文件中本应是映射的位置是一个单值</translation>
    </message>
    <message>
        <source>“%1” is not a key</source>
        <translation>“%1”不是键</translation>
    </message>
    <message>
        <source>%1 comes from %2, not from this file, so it can&apos;t be changed here</source>
        <translation>%1 来自 %2，而不是这个文件，因此不能在此修改</translation>
    </message>
    <message>
        <source>%1 can be changed but not removed</source>
        <translation>%1 可以修改，但不能删除</translation>
    </message>
    <message>
        <source>%2 has no key for %1</source>
        <translation>%2 中没有对应 %1 的键</translation>
    </message>
    <message>
        <source>there is no place for %1 in this file: other values stand where “%2” would be</source>
        <translation>这个文件中没有 %1 的位置：“%2”应在之处已有其他值</translation>
    </message>
    <message>
        <source>%1 is the number of items of “%2”; it can&apos;t be written</source>
        <translation>%1 是“%2”的项数，不能写入</translation>
    </message>
    <message>
        <source>with its aliases expanded, the file holds more than %1 values, %2 levels or %3 MiB</source>
        <translation>展开别名后，文件超过 %1 个值、%2 层嵌套或 %3 MiB</translation>
    </message>
    <message>
        <source>“%1” is already on line %2; the last one, on line %3, is used</source>
        <translation>“%1”在第 %2 行已出现；采用最后一个，即第 %3 行</translation>
    </message>
    <message>
        <source>only mappings can be merged with &lt;&lt;; this is not one</source>
        <translation>&lt;&lt; 只能合并映射；这不是映射</translation>
    </message>
    <message>
        <source>this key is a list or a mapping itself; it is not read</source>
        <translation>这个键本身是列表或映射；不予读取</translation>
    </message>
    <message>
        <source>you have no permission for this file</source>
        <translation>您没有访问这个文件的权限</translation>
    </message>
    <message>
        <source>this is a folder, not a file</source>
        <translation>这是文件夹，不是文件</translation>
    </message>
    <message>
        <source>there is no space left on the disk</source>
        <translation>磁盘空间不足</translation>
    </message>
    <message>
        <source>the system refused: %1</source>
        <translation>系统拒绝：%1</translation>
    </message>
    <message>
        <source>this is not a regular file</source>
        <translation>这不是普通文件</translation>
    </message>
    <message>
        <source>a mapping belongs here</source>
        <translation>此处应为映射</translation>
    </message>
    <message>
        <source>a single value belongs here</source>
        <translation>此处应为单个值</translation>
    </message>
    <message>
        <source>“%1” names no scope of this file</source>
        <translation>“%1”不是这个文件中的作用域</translation>
    </message>
    <message>
        <source>“%1” is not a field of a plan</source>
        <translation>“%1”不是方案的字段</translation>
    </message>
    <message>
        <source>“%1” is not known here</source>
        <translation>此处不认识“%1”</translation>
    </message>
    <message>
        <source>“%1” is missing here</source>
        <translation>此处缺少“%1”</translation>
    </message>
    <message>
        <source>no known config format has these keys; a config has blocks such as parallel, train or recompute</source>
        <translation>没有哪种已知的配置格式包含这些键；配置中应有 parallel、train 或 recompute 之类的块</translation>
    </message>
    <message>
        <source>“%1” is neither a model preset nor a file; headroom-cli models lists the presets</source>
        <translation>“%1”既不是模型预设，也不是文件；headroom-cli models 可列出预设</translation>
    </message>
    <message>
        <source>this file does not describe a model: neither layers nor hidden size</source>
        <translation>这个文件没有描述模型：既没有层数，也没有隐藏维度</translation>
    </message>
    <message>
        <source>“%1” is not a GPU known here; give its capacity, or see headroom-cli gpus</source>
        <translation>不认识 GPU“%1”；请给出它的显存容量，或查看 headroom-cli gpus</translation>
    </message>
    <message>
        <source>“%1” is not a model known here</source>
        <translation>不认识模型“%1”</translation>
    </message>
    <message>
        <source>“%1” is not used: “%2” on line %3 sets the same and comes first</source>
        <translation>“%1”未被采用：第 %3 行的“%2”设置同一项且优先</translation>
    </message>
    <message>
        <source>“%1” is filled in by another program, so %2 is not known from this file</source>
        <translation>“%1”由其他程序填入，因此无法从这个文件得知 %2</translation>
    </message>
    <message>
        <source>“%1” is not a size such as 80GiB, which %2 needs</source>
        <translation>“%1”不是 80GiB 这样的大小，而 %2 需要大小</translation>
    </message>
    <message>
        <source>%1 more keys are not of this format, so they are not used</source>
        <translation>另有 %1 个键不属于这种格式，未被采用</translation>
    </message>
    <message>
        <source>“%1” is a single value; its keys belong below it</source>
        <translation>“%1”是单个值；它的键应写在它下面</translation>
    </message>
    <message>
        <source>“%1” is not a key of this format, so it is not used</source>
        <translation>“%1”不是这种格式的键，未被采用</translation>
    </message>
    <message>
        <source>“%1” is not a key of this format, so it is not used; is “%2” meant?</source>
        <translation>“%1”不是这种格式的键，未被采用；是否想写“%2”？</translation>
    </message>
    <message>
        <source>“%1” is not a block of this format, so it is not used; is “%2” meant?</source>
        <translation>“%1”不是这种格式的块，未被采用；是否想写“%2”？</translation>
    </message>
    <message>
        <source>“%1” is not one of the values of %2</source>
        <translation>“%1”不是 %2 的可用值</translation>
    </message>
    <message>
        <source>“%1” is not a kind of model known here: what it does without saying so in the file (gated MLP, biases, norms) is not known</source>
        <translation>不认识模型类型“%1”：文件未写明的结构（门控 MLP、偏置、归一化）无从得知</translation>
    </message>
    <message>
        <source>“%1” is not a precision recipe known here; fp32, bf16-mixed and megatron-bf16 are some</source>
        <translation>不认识精度方案“%1”；可用的有 fp32、bf16-mixed、megatron-bf16 等</translation>
    </message>
    <message>
        <source>granularity is %1 and enabled is not written, so recompute is taken as enabled</source>
        <translation>granularity 为 %1 且未写 enabled，因此视为已启用重计算</translation>
    </message>
    <message>
        <source>granularity is selective, but neither num_layers nor modules says what is recomputed</source>
        <translation>granularity 为 selective，但 num_layers 和 modules 都没有说明重计算哪些内容</translation>
    </message>
    <message>
        <source>the alias %1 stands inside the anchor it names, so the value would contain itself</source>
        <translation>别名 %1 位于它所指的锚点之内，值会包含自身</translation>
    </message>
    <message>
        <source>the quote that opens here is not closed</source>
        <translation>此处开始的引号没有闭合</translation>
    </message>
    <message>
        <source>values are nested more than %1 deep</source>
        <translation>值的嵌套超过 %1 层</translation>
    </message>
    <message>
        <source>the file holds more than %1 values</source>
        <translation>文件中的值超过 %1 个</translation>
    </message>
    <message>
        <source>this is not valid YAML or JSON: %1</source>
        <translation>这不是有效的 YAML 或 JSON：%1</translation>
    </message>
    <message>
        <source>the line is indented with a tab, which YAML does not allow; use blanks</source>
        <translation>这一行用制表符缩进，YAML 不允许；请改用空格</translation>
    </message>
    <message>
        <source>comments with // are neither YAML nor JSON; use #</source>
        <translation>// 注释既不是 YAML 也不是 JSON；请改用 #</translation>
    </message>
    <message>
        <source>the text from here on does not belong to what is above it; is the indentation right?</source>
        <translation>从这里开始的文本与上文不衔接；缩进是否正确？</translation>
    </message>
    <message>
        <source>a second document begins here; only the first one is read</source>
        <translation>此处开始第二个文档；只读取第一个</translation>
    </message>
    <message>
        <source>%1 is not known</source>
        <translation>%1 未知</translation>
    </message>
    <message>
        <source>The layers cannot be split over the pipeline stages as asked</source>
        <translation>各层无法按要求划分到流水级</translation>
    </message>
    <message>
        <source>Textbook</source>
        <translation>教科书公式</translation>
    </message>
    <message>
        <source>This model</source>
        <translation>本模型</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>Latent attention, norms and biases</source>
        <translation>潜在注意力、归一化和偏置</translation>
    </message>
    <message>
        <source>Norms and biases</source>
        <translation>归一化和偏置</translation>
    </message>
    <message>
        <source>Block parameters</source>
        <translation>单层参数量</translation>
    </message>
    <message>
        <source>Routed experts</source>
        <translation>路由专家</translation>
    </message>
    <message>
        <source>Attention, router and norms</source>
        <translation>注意力、路由器和归一化</translation>
    </message>
    <message>
        <source>Parameters on stage %1</source>
        <translation>流水级 %1 的参数量</translation>
    </message>
    <message>
        <source>%1 layers: linear layers</source>
        <translation>%1 层：线性层</translation>
    </message>
    <message>
        <source>Embedding and output layer</source>
        <translation>嵌入层和输出层</translation>
    </message>
    <message>
        <source>LoRA adapters</source>
        <translation>LoRA 适配器</translation>
    </message>
    <message>
        <source>Vision encoder</source>
        <translation>视觉编码器</translation>
    </message>
    <message>
        <source>Projector</source>
        <translation>投影层</translation>
    </message>
    <message>
        <source>Static state</source>
        <translation>静态状态</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>fp32 gradient copies</source>
        <translation>fp32 梯度副本</translation>
    </message>
    <message>
        <source>Master weights</source>
        <translation>主权重</translation>
    </message>
    <message>
        <source>Optimizer moments</source>
        <translation>优化器动量</translation>
    </message>
    <message>
        <source>Activations of one micro-batch</source>
        <translation>单个微批次的激活值</translation>
    </message>
    <message>
        <source>k of a whole layer, given</source>
        <translation>整层的 k，给定</translation>
    </message>
    <message>
        <source>k of a whole layer, from its tensors</source>
        <translation>整层的 k，由其张量得出</translation>
    </message>
    <message>
        <source>k after recomputation</source>
        <translation>重计算后的 k</translation>
    </message>
    <message>
        <source>k on this GPU</source>
        <translation>这张 GPU 上的 k</translation>
    </message>
    <message>
        <source>In flight on stage %1</source>
        <translation>流水级 %1 的在途微批次</translation>
    </message>
    <message>
        <source>Vision encoder, frozen, and projector: one micro-batch</source>
        <translation>视觉编码器（冻结）和投影层：单个微批次</translation>
    </message>
    <message>
        <source>Vision encoder, one micro-batch</source>
        <translation>视觉编码器，单个微批次</translation>
    </message>
    <message>
        <source>Peak, allocated</source>
        <translation>峰值，已分配</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Optimizer step</source>
        <translation>优化器更新</translation>
    </message>
    <message>
        <source>Working set of recomputation</source>
        <translation>重计算的工作集</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备占用</translation>
    </message>
    <message>
        <source>%1 layers cannot be split over %2 pipeline stages as asked</source>
        <translation>%1 层无法按要求划分到 %2 个流水级</translation>
    </message>
    <message>
        <source>the tapes do not describe %1</source>
        <translation>分步模型尚不支持 %1</translation>
    </message>
    <message>
        <source>the sizes of the plan are beyond what any machine holds</source>
        <translation>方案的规模超出任何机器的容量</translation>
    </message>
    <message>
        <source>Micro-batch %1 → %2, accumulate %3</source>
        <translation>微批次 %1 → %2，梯度累积 %3</translation>
    </message>
    <message>
        <source>Recompute every layer</source>
        <translation>重计算每一层</translation>
    </message>
    <message>
        <source>Pipeline stages %1 → %2 (twice the GPUs)</source>
        <translation>流水线级数 %1 → %2（GPU 数翻倍）</translation>
    </message>
    <message>
        <source>%1 = %2</source>
        <translation>%1 = %2</translation>
    </message>
    <message>
        <source>%1 = %2 (%3)</source>
        <translation>%1 = %2（%3）</translation>
    </message>
    <message>
        <source>step %1, %2 allocated</source>
        <translation>第 %1 步，已分配 %2</translation>
    </message>
    <message>
        <source>step %1, rank %3, %2 allocated</source>
        <translation>第 %1 步，rank %3，已分配 %2</translation>
    </message>
    <message>
        <source>%1 × %2 × %3 = %4, but the global batch is %5</source>
        <translation>%1 × %2 × %3 = %4，但全局批次是 %5</translation>
    </message>
    <message>
        <source>Set accumulation to %1</source>
        <translation>把梯度累积设为 %1</translation>
    </message>
    <message>
        <source>Set the global batch to %1</source>
        <translation>把全局批次设为 %1</translation>
    </message>
    <message>
        <source>Micro-batch was taken for the global batch</source>
        <translation>把微批次当成了全局批次</translation>
    </message>
    <message>
        <source>micro_batch_size is the samples of one forward on one GPU, and activations grow with it. Here it equals the global batch of %1, which %2 accumulation steps and %3 data-parallel ranks are meant to share.</source>
        <translation>micro_batch_size 是单张 GPU 一次前向的样本数，激活值随它增长。这里它等于全局批次 %1，而全局批次本应由 %2 步梯度累积和 %3 个数据并行 rank 分摊。</translation>
    </message>
    <message>
        <source>Micro-batch %1 → %2</source>
        <translation>微批次 %1 → %2</translation>
    </message>
    <message>
        <source>Global batch does not match</source>
        <translation>全局批次不一致</translation>
    </message>
    <message>
        <source>Peak is in forward</source>
        <translation>峰值在前向</translation>
    </message>
    <message>
        <source>Activations or the sequence length fill the memory; a smaller micro-batch and recompute act most directly.</source>
        <translation>显存主要被激活值占用，或序列过长；减小微批次和重计算最直接有效。</translation>
    </message>
    <message>
        <source>Peak is in backward</source>
        <translation>峰值在反向</translation>
    </message>
    <message>
        <source>Activations and gradients are alive together; recompute gains most here.</source>
        <translation>激活值和梯度同时存在；此时重计算收益最大。</translation>
    </message>
    <message>
        <source>Peak is in the optimizer step</source>
        <translation>峰值在优化器更新</translation>
    </message>
    <message>
        <source>Static state (optimizer state, master weights) fills the memory; the micro-batch hardly matters. Split the layers further or lower the precision of the optimizer state.</source>
        <translation>显存主要被静态状态（优化器状态、主权重）占用，微批次几乎没有影响。请进一步切分各层，或降低优化器状态的精度。</translation>
    </message>
    <message>
        <source>The peaks never fall: statistics were not reset</source>
        <translation>峰值从不下降：统计未重置</translation>
    </message>
    <message>
        <source>Every value is at least as large as the one before it, so they are running maxima and do not tell which phase peaks. Call torch.cuda.reset_peak_memory_stats() before each phase.</source>
        <translation>每个值都不小于前一个值，说明它们是累计最大值，看不出峰值在哪个阶段。请在每个阶段之前调用 torch.cuda.reset_peak_memory_stats()。</translation>
    </message>
    <message>
        <source>Reserved exceeds allocated by %1</source>
        <translation>已预留比已分配多 %1</translation>
    </message>
    <message>
        <source>The caching allocator keeps blocks for reuse. That is normal, no leak, and no sign that recompute is off: judge recompute by the allocated peak.</source>
        <translation>缓存分配器会保留显存块以便复用。这是正常现象，不是泄漏，也不说明重计算未生效：请按已分配峰值判断重计算。</translation>
    </message>
    <message>
        <source>step %1: %2 reserved</source>
        <translation>第 %1 步：已预留 %2</translation>
    </message>
    <message>
        <source>%1 layers do not divide over %2 stages</source>
        <translation>%1 层不能均分到 %2 个流水级</translation>
    </message>
    <message>
        <source>Some frameworks refuse this; others give some stages %1 layers and the rest %2. The estimate takes the uneven split with the larger stages first.</source>
        <translation>有的框架会拒绝这种设置；有的框架给部分流水级 %1 层，其余 %2 层。估算采用不均匀切分，层数多的流水级在前。</translation>
    </message>
    <message>
        <source>Pipeline stages %1 → %2</source>
        <translation>流水线级数 %1 → %2</translation>
    </message>
    <message>
        <source>Micro-batches in flight: %1 → %2</source>
        <translation>在途微批次：%1 → %2</translation>
    </message>
    <message>
        <source>Pipeline %1 → %2 keeps %3 micro-batches on stage 0: their activations add %4, fewer layers per stage change the static state by %5.</source>
        <translation>流水线级数 %1 → %2 使流水级 0 保留 %3 个微批次：其激活值增加 %4，每级层数减少使静态状态变化 %5。</translation>
    </message>
    <message>
        <source>Recompute is written but not in effect</source>
        <translation>写了重计算但未生效</translation>
    </message>
    <message>
        <source>Recompute is enabled with granularity none: nothing is recomputed.</source>
        <translation>重计算已启用，但 granularity 为 none：不做任何重计算。</translation>
    </message>
    <message>
        <source>Granularity is %1, but recompute is not enabled, and that wins: nothing is recomputed.</source>
        <translation>granularity 为 %1，但重计算未启用，且以后者为准：不做任何重计算。</translation>
    </message>
    <message>
        <source>Enable recompute (%1)</source>
        <translation>启用重计算（%1）</translation>
    </message>
    <message>
        <source>“%1” is not a whole number, which %2 needs</source>
        <translation>“%1”不是整数，而 %2 需要整数</translation>
    </message>
    <message>
        <source>“%1” is not a number, which %2 needs</source>
        <translation>“%1”不是数，而 %2 需要数值</translation>
    </message>
    <message>
        <source>“%1” is neither true nor false, which %2 needs</source>
        <translation>“%1”既不是 true 也不是 false，而 %2 需要其一</translation>
    </message>
    <message>
        <source>%2 is not a field of a plan</source>
        <translation>%2 不是方案的字段</translation>
    </message>
    <message>
        <source>%1 is %2; it must be between %3 and %4</source>
        <translation>%1 为 %2；必须在 %3 到 %4 之间</translation>
    </message>
    <message>
        <source>%1 = %2 does not divide %3 = %4</source>
        <translation>%1 = %2 不能整除 %3 = %4</translation>
    </message>
    <message>
        <source>sequence parallelism does nothing without tensor parallelism</source>
        <translation>没有张量并行时，序列并行不起作用</translation>
    </message>
    <message>
        <source>%1 GPUs cannot be divided into groups of %2 (tensor × pipeline × context parallel)</source>
        <translation>%1 张 GPU 不能按每组 %2 张划分（张量并行 × 流水线并行 × 上下文并行）</translation>
    </message>
    <message>
        <source>%1 layers of a stage cannot be split into %2 chunks</source>
        <translation>一个流水级的 %1 层不能切分为 %2 个模型块</translation>
    </message>
    <message>
        <source>%1= has no readable value: %2</source>
        <translation>%1= 后没有可读的值：%2</translation>
    </message>
    <message>
        <source>%1= is negative: %2</source>
        <translation>%1= 的值为负：%2</translation>
    </message>
    <message>
        <source>%1= is not a finite number: %2</source>
        <translation>%1= 的值不是有限数：%2</translation>
    </message>
    <message>
        <source>%1= is larger than any real value: %2</source>
        <translation>%1= 的值大于任何真实值：%2</translation>
    </message>
    <message>
        <source>%1= has an unknown unit: %2</source>
        <translation>%1= 的单位未知：%2</translation>
    </message>
    <message>
        <source>%1= is a fraction without a unit: %2</source>
        <translation>%1= 的值是小数但没有单位：%2</translation>
    </message>
    <message>
        <source>%1= has a comma between digits, which could mean two numbers: %2</source>
        <translation>%1= 的数字间有逗号，可能是两个数：%2</translation>
    </message>
    <message>
        <source>%1= is not a number of the expected kind: %2</source>
        <translation>%1= 的值不是所需类型的数：%2</translation>
    </message>
    <message>
        <source>line numbers are counted up to %1 only</source>
        <translation>行号最多计到 %1</translation>
    </message>
    <message>
        <source>there are more than %1 phase names; the others are read as one</source>
        <translation>阶段名称超过 %1 个；其余的合并为一个</translation>
    </message>
    <message>
        <source>reading it is not permitted</source>
        <translation>没有读取权限</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>不是普通文件</translation>
    </message>
    <message>
        <source>it can&apos;t be opened: %1</source>
        <translation>无法打开：%1</translation>
    </message>
    <message>
        <source>the folder holds no files</source>
        <translation>文件夹中没有文件</translation>
    </message>
    <message>
        <source>no log file was named</source>
        <translation>没有指定日志文件</translation>
    </message>
    <message>
        <source>%1 files are more than can be read at once</source>
        <translation>%1 个文件超出一次可读取的数量</translation>
    </message>
    <message>
        <source>the file is compressed; unpack it with %1 first</source>
        <translation>文件已压缩；请先用 %1 解压</translation>
    </message>
    <message>
        <source>the file is UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8 first</source>
        <translation>文件是 UTF-16 文本；请先用 iconv -f UTF-16 -t UTF-8 转换</translation>
    </message>
    <message>
        <source>the file holds binary data, not text</source>
        <translation>文件是二进制数据，不是文本</translation>
    </message>
    <message>
        <source>the line is longer than %1 KiB and was not read</source>
        <translation>这一行超过 %1 KiB，未读取</translation>
    </message>
    <message>
        <source>the file ends inside this line; it may still be being written</source>
        <translation>文件在这一行中间结束；可能仍在写入</translation>
    </message>
    <message>
        <source>phase= and peak_alloc= stand here without step=</source>
        <translation>此处有 phase= 和 peak_alloc=，但没有 step=</translation>
    </message>
    <message>
        <source>reading stopped with an error: %1</source>
        <translation>读取因错误中止：%1</translation>
    </message>
    <message>
        <source>the file became shorter while it was read; open it again</source>
        <translation>读取时文件变短了；请重新打开</translation>
    </message>
    <message>
        <source>reading was cancelled</source>
        <translation>读取已取消</translation>
    </message>
    <message>
        <source>there is not enough memory to read this log</source>
        <translation>内存不足，无法读取这个日志</translation>
    </message>
    <message>
        <source>“%1” is not a unit of size; use B, KiB, MiB, GiB, MB or GB</source>
        <translation>“%1”不是大小单位；请用 B、KiB、MiB、GiB、MB 或 GB</translation>
    </message>
    <message>
        <source>“%1” is not a size</source>
        <translation>“%1”不是大小</translation>
    </message>
    <message>
        <source>“%1” is not a size a GPU can have</source>
        <translation>“%1”不是 GPU 可能有的显存大小</translation>
    </message>
    <message>
        <source>the profile %1 does not describe %2</source>
        <translation>实现方案 %1 尚不支持 %2</translation>
    </message>
    <message>
        <source>%1 stages with %2 chunks and %3 micro-batches are too many to walk</source>
        <translation>%1 个流水级、%2 个模型块、%3 个微批次太多，无法逐步推演</translation>
    </message>
    <message>
        <source>%1 data-parallel ranks of %2 GPUs (tensor × pipeline × context parallel) are %3 GPUs, not %4</source>
        <translation>%1 个数据并行 rank、每个 %2 张 GPU（张量并行 × 流水线并行 × 上下文并行），共 %3 张 GPU，而不是 %4 张</translation>
    </message>
    <message>
        <source>a replay of %1 stages would take too long</source>
        <translation>%1 个流水级的逐步回放耗时过长</translation>
    </message>
    <message>
        <source>%1 (%2) cannot be split over %3 ranks</source>
        <translation>%1（%2）无法切分到 %3 个 rank 上</translation>
    </message>
    <message>
        <source>the head sizes of latent attention (%1) are not known</source>
        <translation>潜在注意力的头尺寸（%1）未知</translation>
    </message>
    <message>
        <source>no tape describes the plan</source>
        <translation>没有磁带描述此方案</translation>
    </message>
    <message>
        <source>“%1” can&apos;t be set to “%2” within the quotes that are there</source>
        <translation>在现有引号内无法把“%1”设为“%2”</translation>
    </message>
    <message>
        <source>“%1” is put together from several places, so it is not changed</source>
        <translation>“%1”由多处拼接而成，因此不作修改</translation>
    </message>
    <message>
        <source>the values of “%1” don&apos;t stand in one row, so they are not changed</source>
        <translation>“%1”的各个值不在同一行，因此不作修改</translation>
    </message>
    <message>
        <source>there is no place for “%1” in this script</source>
        <translation>此脚本中没有可放置“%1”的位置</translation>
    </message>
    <message>
        <source>neither a vocabulary nor a tokenizer is given: GPT-2&apos;s vocabulary of %1 is assumed</source>
        <translation>未给出词表大小或分词器：假定使用 GPT-2 的词表（%1）</translation>
    </message>
    <message>
        <source>the vocabulary stands in the files of the tokenizer %1, so model.vocab is not known from here</source>
        <translation>词表在分词器 %1 的文件中，因此无法由此得知 model.vocab</translation>
    </message>
    <message>
        <source>“%1” is not understood: every layer is taken to have experts</source>
        <translation>无法理解“%1”：视为每层都有专家</translation>
    </message>
    <message>
        <source>“%1” is known only when the file runs, so %2 is not known from it</source>
        <translation>“%1”只有在运行该文件时才能得知，因此 %2 未知</translation>
    </message>
    <message>
        <source>“%1” changes what is allocated in a way that is not estimated, so the estimate is incomplete</source>
        <translation>“%1”会以未被估算的方式改变显存分配，因此估算不完整</translation>
    </message>
    <message>
        <source>the script holds neither variables nor a command with flags</source>
        <translation>脚本中既没有变量，也没有带参数的命令</translation>
    </message>
    <message>
        <source>the file is not valid TOML: %1</source>
        <translation>文件不是有效的 TOML：%1</translation>
    </message>
    <message>
        <source>Framework not known: layers of Megatron-LM with Transformer Engine taken</source>
        <translation>框架未知：按 Megatron-LM 与 Transformer Engine 的层计算</translation>
    </message>
    <message>
        <source>No GPU named: workspaces and attention kernel of a Hopper GPU taken</source>
        <translation>未指定 GPU：按 Hopper GPU 的工作区和注意力内核计算</translation>
    </message>
    <message>
        <source>Attention kernel not given: the one the library prefers on this GPU taken</source>
        <translation>未给出注意力内核：按库在该 GPU 上优先选用的内核计算</translation>
    </message>
    <message>
        <source>Attention implementation not given: SDPA taken</source>
        <translation>未给出注意力实现：按 SDPA 计算</translation>
    </message>
    <message>
        <source>Loss implementation not given: cross entropy in fp32 over all logits taken</source>
        <translation>未给出损失实现：按对全部 logits 的 fp32 交叉熵计算</translation>
    </message>
    <message>
        <source>Fusion of gradient accumulation not given: taken to be on</source>
        <translation>未给出梯度累加融合：按开启计算</translation>
    </message>
    <message>
        <source>Library age not known: one since 2025 taken, with an unused gradient per weight shape</source>
        <translation>库的新旧未知：按 2025 年以后的版本计算，每种权重形状多留一个未用的梯度</translation>
    </message>
    <message>
        <source>Masks from the data loader not given: taken to be made</source>
        <translation>未给出数据加载器是否生成掩码：按生成计算</translation>
    </message>
    <message>
        <source>Fusion of rotary positions not given: taken to be on</source>
        <translation>未给出旋转位置编码融合：按开启计算</translation>
    </message>
    <message>
        <source>PyTorch&apos;s age not known: one that gives cuBLAS 32 MiB on Blackwell taken</source>
        <translation>PyTorch 的新旧未知：按在 Blackwell 上给 cuBLAS 32 MiB 的版本计算</translation>
    </message>
    <message>
        <source>Whether the logits stay during backward not given: taken to be dropped</source>
        <translation>未给出反向时 logits 是否保留：按已释放计算</translation>
    </message>
    <message>
        <source>Optimizer implementation not given: the framework&apos;s usual one taken</source>
        <translation>未给出优化器实现：按框架惯用的实现计算</translation>
    </message>
    <message>
        <source>Routing not known: balanced taken, the busiest rank may get half as much again</source>
        <translation>路由情况未知：按均衡计算，最忙的 rank 可能多出一半</translation>
    </message>
    <message>
        <source>Token dispatcher not given: all-gather, Megatron-LM&apos;s default, taken</source>
        <translation>未给出 token 分发方式：按 Megatron-LM 的默认 all-gather 计算</translation>
    </message>
    <message>
        <source>Grouped expert products not given: one by one taken</source>
        <translation>未给出专家是否分组相乘：按逐个计算</translation>
    </message>
    <message>
        <source>Library age not known: one since 2025-10 taken, whose deterministic runs keep what experts return</source>
        <translation>库的版本未知：按 2025-10 之后的版本计算，其确定性运行会保留专家的输出</translation>
    </message>
    <message>
        <source>Neither accumulation nor global batch given: one micro-batch a step taken</source>
        <translation>未给出累积步数和全局批次：按每步一个微批次计算</translation>
    </message>
    <message>
        <source>Neither data-parallel size nor number of GPUs given: one replica taken</source>
        <translation>未给出数据并行大小和 GPU 数：按一个副本计算</translation>
    </message>
    <message>
        <source>Precision not given: 16-bit weights and gradients, fp32 optimizer state taken</source>
        <translation>未给出精度：按 16 位权重和梯度、fp32 优化器状态计算</translation>
    </message>
    <message>
        <source>Recomputation not given: none taken</source>
        <translation>未给出重计算：按不重计算处理</translation>
    </message>
    <message>
        <source>Sequence parallelism not given: taken to be off</source>
        <translation>未给出序列并行：按关闭计算</translation>
    </message>
    <message>
        <source>Distributed optimizer not given: every replica taken to keep the whole state</source>
        <translation>未给出分布式优化器：按每个副本保留全部状态计算</translation>
    </message>
    <message>
        <source>Padding of the vocabulary not given: none taken, Megatron-LM pads to 128 per rank</source>
        <translation>未给出词表填充：按不填充计算，Megatron-LM 按每个 rank 128 填充</translation>
    </message>
    <message>
        <source>Tying of embedding and output layer not given: taken to share their weights</source>
        <translation>未给出词嵌入与输出层是否共享权重：按共享计算</translation>
    </message>
    <message>
        <source>Width of the MLP not given: four times the hidden size without a gate taken</source>
        <translation>未给出 MLP 宽度：按隐藏维度的四倍、无门控计算</translation>
    </message>
    <message>
        <source>Key and value heads not given: as many as query heads taken</source>
        <translation>未给出键值头数：按与查询头相同计算</translation>
    </message>
    <message>
        <source>Dropout not given: none taken</source>
        <translation>未给出 dropout：按没有计算</translation>
    </message>
    <message>
        <source>Images per sample not given: one taken</source>
        <translation>未给出每个样本的图像数：按一张计算</translation>
    </message>
    <message>
        <source>DualPipe needs an even number of stages, and micro-batches at least twice as many and in pairs</source>
        <translation>DualPipe 需要偶数个流水级，微批次数须为偶数且至少为流水级数的两倍</translation>
    </message>
    <message>
        <source>Activations that were measured hold within about %1</source>
        <translation>实测得到的激活值误差约在 %1 以内</translation>
    </message>
    <message>
        <source>The recipe&apos;s k holds within about %1 for a framework it does not know</source>
        <translation>对未知框架，配方的 k 误差约在 %1 以内</translation>
    </message>
    <message>
        <source>What is recomputed selectively is not given: %1 of the activations</source>
        <translation>未给出选择性重计算的内容：激活值的 %1</translation>
    </message>
    <message>
        <source>Framework not known: other fused ones keep up to %1 more or less than %2</source>
        <translation>框架未知：其他融合实现保留的激活值与 %2 相差可达 %1</translation>
    </message>
    <message>
        <source>Layers written in Python differ between versions: %1 of the activations</source>
        <translation>用 Python 写成的层随版本而异：激活值的 %1</translation>
    </message>
    <message>
        <source>Fused layers of a known framework: %1 of the activations</source>
        <translation>已知框架的融合层：激活值的 %1</translation>
    </message>
    <message>
        <source>The recipe leaves out the logits of the last stage</source>
        <translation>配方没有计入最后一个流水级的 logits</translation>
    </message>
    <message>
        <source>Samples of varying length fragment the cache: 5 to %1 over allocated</source>
        <translation>样本长度不一会使缓存碎片化：比已分配多 5 % 到 %1</translation>
    </message>
    <message>
        <source>What the allocator&apos;s cache holds repeats to about %1</source>
        <translation>分配器缓存的占用可重复到约 %1</translation>
    </message>
    <message>
        <source>No allocator was replayed: its cache adds up to %1</source>
        <translation>未重放分配器：其缓存最多增加 %1</translation>
    </message>
    <message>
        <source>CUDA context: %1 to %2</source>
        <translation>CUDA 上下文：%1 到 %2</translation>
    </message>
    <message>
        <source>NCCL buffers, communicators: %1; %2 to %3</source>
        <translation>%1 个通信组的 NCCL 缓冲区：%2 到 %3</translation>
    </message>
    <message>
        <source>NCCL buffers of the experts&apos; all-to-all: %1 to %2</source>
        <translation>专家 all-to-all 的 NCCL 缓冲区：%1 到 %2</translation>
    </message>
    <message>
        <source>the plan has no stage %1</source>
        <translation>方案中没有流水级 %1</translation>
    </message>
    <message>
        <source>recompute is off</source>
        <translation>重计算没有开启</translation>
    </message>
    <message>
        <source>every layer is recomputed</source>
        <translation>每一层都做了重计算</translation>
    </message>
    <message>
        <source>attention stores its scores</source>
        <translation>注意力保存了分数矩阵</translation>
    </message>
    <message>
        <source>attention does not store its scores</source>
        <translation>注意力没有保存分数矩阵</translation>
    </message>
    <message>
        <source>the loss is fused</source>
        <translation>损失是融合计算的</translation>
    </message>
    <message>
        <source>the loss is not fused</source>
        <translation>损失不是融合计算的</translation>
    </message>
    <message>
        <source>the optimizer&apos;s state is sharded</source>
        <translation>优化器状态做了切分</translation>
    </message>
    <message>
        <source>the optimizer&apos;s state is not sharded</source>
        <translation>优化器状态没有切分</translation>
    </message>
    <message>
        <source>sequence parallelism is on</source>
        <translation>序列并行已开启</translation>
    </message>
    <message>
        <source>sequence parallelism is off</source>
        <translation>序列并行没有开启</translation>
    </message>
    <message>
        <source>the schedule is 1F1B</source>
        <translation>调度是 1F1B</translation>
    </message>
    <message>
        <source>the schedule is GPipe</source>
        <translation>调度是 GPipe</translation>
    </message>
    <message>
        <source>there is no measured peak to calibrate on</source>
        <translation>没有可用于校准的实测峰值</translation>
    </message>
    <message>
        <source>the measured peaks are in the optimizer&apos;s step, which says nothing about activations</source>
        <translation>实测峰值都在优化器步骤，无法说明激活值的大小</translation>
    </message>
    <message>
        <source>%1 peaks are few: theory, known to %2 %, counts as a measurement beside them</source>
        <translation>只有 %1 个峰值，偏少：精度约 %2 % 的理论值也作为一次测量参与计算</translation>
    </message>
    <message>
        <source>theory misses the measurements by %1 %, and no single other setting explains that: take the coefficients for this configuration only</source>
        <translation>理论与实测相差 %1 %，且没有任何单个设置能解释：这些系数只适用于当前配置</translation>
    </message>
    <message>
        <source>the log does not say which rank a line is of, so a peak cannot be assigned to one of %1 pipeline stages</source>
        <translation>日志没有说明各行属于哪个 rank，因此无法把峰值归到 %1 个流水线级中的某一级</translation>
    </message>
    <message>
        <source>rank %1 of the log is none of the plan&apos;s GPUs</source>
        <translation>日志中的 rank %1 不属于方案中的任何 GPU</translation>
    </message>
    <message>
        <source>with several pipeline stages the schedule decides how much is in flight, and nobody stated it: set parallel.schedule</source>
        <translation>流水线有多级时，在途数量由调度决定，而调度没有给出：请设置 parallel.schedule</translation>
    </message>
    <message>
        <source>the log has no allocated bytes; reserved ones also hold what is free in the pool, so activations cannot be told from them</source>
        <translation>日志中没有已分配字节数；已预留字节数还包含内存池中的空闲部分，无法由此得出激活值</translation>
    </message>
    <message>
        <source>the log shows only the last pipeline stage, whose peak is made by the logits and one micro-batch in flight</source>
        <translation>日志只有最后一级流水线，它的峰值由 logits 和一个在途微批次构成</translation>
    </message>
    <message>
        <source>%1 settings changed at once</source>
        <translation>同时改变了 %1 项设置</translation>
    </message>
    <message>
        <source>Between the two runs %1 changed. What each of them did cannot be told apart; change one at a time.</source>
        <translation>两次运行之间 %1 都变了，各自的影响无法区分；请一次只改一项。</translation>
    </message>
    <message>
        <source>The logs are of other ranks</source>
        <translation>两份日志的 rank 不同</translation>
    </message>
    <message>
        <source>One log has lines of %1 ranks and the other of %2. Ranks of other pipeline stages have other peaks, so compare logs of the same ranks.</source>
        <translation>一份日志有 %1 个 rank 的行，另一份有 %2 个。不同流水线级的 rank 峰值不同，请比较相同 rank 的日志。</translation>
    </message>
    <message>
        <source>Same settings, same peak</source>
        <translation>设置相同，峰值相同</translation>
    </message>
    <message>
        <source>The plans do not differ in anything that takes memory, and neither do the peaks: the measurement repeats.</source>
        <translation>两个方案在占用显存的方面没有区别，峰值也没有区别：测量可以重复。</translation>
    </message>
    <message>
        <source>The change had no effect on memory</source>
        <translation>这项改动对显存没有影响</translation>
    </message>
    <message>
        <source>Neither allocated nor reserved bytes moved. First see whether the command line overrode the config, so that recompute never came on; then whether it covers only a few layers.</source>
        <translation>已分配和已预留都没有变化。先看命令行是否覆盖了配置，导致重计算根本没有开启；再看它是否只覆盖了少数几层。</translation>
    </message>
    <message>
        <source>Neither allocated nor reserved bytes moved. See whether the command line or another file overrode the setting.</source>
        <translation>已分配和已预留都没有变化。请检查命令行或其他文件是否覆盖了这项设置。</translation>
    </message>
    <message>
        <source>The allocated peak fell by %1, to %2</source>
        <translation>已分配峰值下降 %1，降到 %2</translation>
    </message>
    <message>
        <source>The allocated peak rose by %1, to %2</source>
        <translation>已分配峰值上升 %1，升到 %2</translation>
    </message>
    <message>
        <source>More pipeline stages: each holds fewer layers, but its first stage holds as many micro-batches in flight as there are stages. Where activations outweigh the static state, the peak rises.</source>
        <translation>流水线级数增加：每级的层数变少，但第一级的在途微批次与级数一样多。激活值超过静态状态时，峰值会上升。</translation>
    </message>
    <message>
        <source>From %1 to %2.</source>
        <translation>从 %1 到 %2。</translation>
    </message>
    <message>
        <source>Allocated fell, reserved barely: the pool kept what it had</source>
        <translation>已分配下降而已预留几乎不变：内存池保留了原有的显存</translation>
    </message>
    <message>
        <source>Allocated %1, reserved %2. The caching allocator does not give back what it once took. This is normal, and no sign that the change failed.</source>
        <translation>已分配 %1，已预留 %2。缓存分配器不会归还曾经取得的显存。这是正常现象，不说明改动失败。</translation>
    </message>
    <message>
        <source>Less memory for %1 step time</source>
        <translation>以 %1 的单步时间换来更少的显存</translation>
    </message>
    <message>
        <source>Less memory for %1 tokens/s</source>
        <translation>以 %1 的 tokens/s 换来更少的显存</translation>
    </message>
    <message>
        <source>This is the price to expect, of recomputing for one. Whether it pays shows in the tokens per second with whatever the freed memory is then used for.</source>
        <translation>这是预料中的代价，例如重计算的代价。是否划算，要看把省下的显存派上用场之后的 tokens/s。</translation>
    </message>
    <message>
        <source>The peak was in the optimizer step, where recompute changes little</source>
        <translation>峰值在优化器步骤，重计算对它影响很小</translation>
    </message>
    <message>
        <source>Recompute lowers what lives in backward. The optimizer&apos;s peak is static state: split the layers further, or store the state in fewer bytes.</source>
        <translation>重计算降低的是反向阶段的占用。优化器的峰值是静态状态：请进一步切分各层，或用更少的字节保存状态。</translation>
    </message>
    <message>
        <source>The global batch changed from %1 to %2</source>
        <translation>全局批次从 %1 变为 %2</translation>
    </message>
    <message>
        <source>The runs do not train alike, and step times are of different work. Keep micro-batch × accumulation × data-parallel size the same.</source>
        <translation>两次运行的训练不同，单步时间对应的工作量也不同。请保持 微批次 × 累积 × 数据并行 不变。</translation>
    </message>
    <message>
        <source>Tensor parallel %1 → %2</source>
        <translation>张量并行 %1 → %2</translation>
    </message>
    <message>
        <source>Context parallel %1 → %2</source>
        <translation>上下文并行 %1 → %2</translation>
    </message>
    <message>
        <source>Expert parallel %1 → %2</source>
        <translation>专家并行 %1 → %2</translation>
    </message>
    <message>
        <source>Sequence parallelism on</source>
        <translation>开启序列并行</translation>
    </message>
    <message>
        <source>Model chunks of a stage %1 → %2</source>
        <translation>每级的模型分块 %1 → %2</translation>
    </message>
    <message>
        <source>Recompute %1 of the %2 layers of a stage</source>
        <translation>重计算每级 %2 层中的 %1 层</translation>
    </message>
    <message>
        <source>Shard the optimizer&apos;s state (distributed optimizer)</source>
        <translation>切分优化器状态（分布式优化器）</translation>
    </message>
    <message>
        <source>ZeRO stage %1 → %2</source>
        <translation>ZeRO 级别 %1 → %2</translation>
    </message>
    <message>
        <source>Attention without stored scores (flash)</source>
        <translation>不保存分数矩阵的注意力（flash）</translation>
    </message>
    <message>
        <source>Optimizer&apos;s state in the host&apos;s memory</source>
        <translation>优化器状态放到主机内存</translation>
    </message>
    <message>
        <source>Sequence length %1 → %2</source>
        <translation>序列长度 %1 → %2</translation>
    </message>
    <message>
        <source>the measurements do not tell the unknown coefficients apart</source>
        <translation>这些测量无法区分各个未知系数</translation>
    </message>
    <message>
        <source>%1 and %2 have fewer than two steps with a loss in common</source>
        <translation>%1 和 %2 共有的带损失的步数不足两步</translation>
    </message>
    <message>
        <source>step %1, loss %2</source>
        <translation>第 %1 步，损失 %2</translation>
    </message>
    <message>
        <source>Every common step has the same loss to its last digit.</source>
        <translation>每个共同步的损失直到最后一位都相同。</translation>
    </message>
    <message>
        <source>The largest difference is %1, the tolerance for losses of about %2 is %3, and it does not grow. What is left is rounding: sums in another order.</source>
        <translation>最大差值为 %1；损失约为 %2 时容差为 %3，且差值不增长。剩下的只是求和顺序不同带来的舍入误差。</translation>
    </message>
    <message>
        <source>Moved by one step the losses agree. One run takes its loss before the optimizer&apos;s update and the other after it, or they count steps from 0 and from 1. Take both after the update.</source>
        <translation>错开一步后损失一致。一次运行在优化器更新前取损失，另一次在更新后取，或者两者分别从 0 和 1 开始计步。请都在更新后取。</translation>
    </message>
    <message>
        <source>Every loss of the second run is %1 times that of the first. A loss summed over micro-batches or ranks was not divided by their number, or by another one. If the gradients are scaled alike, so is the learning rate.</source>
        <translation>第二次运行的每个损失都是第一次的 %1 倍。对微批次或 rank 求和的损失没有除以其数量，或除以了别的数。如果梯度也同样缩放，学习率也就变了。</translation>
    </message>
    <message>
        <source>The losses go up and down independently of each other, as they do with other batches: another seed, another order of the data, or samples spread over the ranks differently. Such runs cannot be compared step by step.</source>
        <translation>两条损失曲线的起伏互不相关，就像用了不同的批次：种子不同、数据顺序不同，或样本在各 rank 上的分布不同。这样的运行不能逐步比较。</translation>
    </message>
    <message>
        <source>The losses go up and down independently, and by different amounts: the number of samples in a step is not the same. Changing the pipeline must not change the global batch.</source>
        <translation>两条损失曲线的起伏互不相关，幅度也不同：每步的样本数不一样。改变流水线不能改变全局批次。</translation>
    </message>
    <message>
        <source>The runs start alike and grow apart by %1 per step. Look at three causes: the global batch changed with the stages, accumulation does not sum over the micro-batches correctly, or normalisation statistics are computed inside a micro-batch.</source>
        <translation>两次运行开始时相同，之后每步拉开 %1。请检查三个原因：全局批次随级数改变、梯度累积没有正确地对微批次求和，或归一化统计量是在微批次内部计算的。</translation>
    </message>
    <message>
        <source>The difference exceeds the tolerance of %1 and does not shrink: the runs do not start from the same weights, or do not compute the same thing.</source>
        <translation>差值超过容差 %1 且不缩小：两次运行的初始权重不同，或计算的内容不同。</translation>
    </message>
    <message>
        <source>The global batch differs: %1 and %2 samples</source>
        <translation>全局批次不同：%1 和 %2 个样本</translation>
    </message>
    <message>
        <source>The runs do not take the same step, so their losses need not agree. Keep micro-batch × accumulation × data-parallel size the same, then compare again.</source>
        <translation>两次运行的每一步不同，损失自然不必一致。请保持 微批次 × 累积 × 数据并行 不变后再比较。</translation>
    </message>
    <message>
        <source>%1: %2 steps come twice; the later loss was taken</source>
        <translation>%1：有 %2 步重复出现；取后出现的损失</translation>
    </message>
    <message>
        <source>%1: %2 steps are missing</source>
        <translation>%1：缺少 %2 步</translation>
    </message>
    <message>
        <source>%1: %2 losses are not numbers (NaN or infinite)</source>
        <translation>%1：有 %2 个损失不是有效数字（NaN 或无穷大）</translation>
    </message>
    <message>
        <source>The losses are identical</source>
        <translation>损失完全相同</translation>
    </message>
    <message>
        <source>The losses agree within rounding</source>
        <translation>损失在舍入误差内一致</translation>
    </message>
    <message>
        <source>The losses are the same, one step apart</source>
        <translation>损失相同，只是错开一步</translation>
    </message>
    <message>
        <source>The losses differ by a constant factor</source>
        <translation>损失相差一个固定倍数</translation>
    </message>
    <message>
        <source>The runs saw other batches</source>
        <translation>两次运行用了不同的批次</translation>
    </message>
    <message>
        <source>The runs have another global batch</source>
        <translation>两次运行的全局批次不同</translation>
    </message>
    <message>
        <source>The losses drift apart</source>
        <translation>损失逐渐偏离</translation>
    </message>
    <message>
        <source>The losses differ</source>
        <translation>损失不同</translation>
    </message>
    <message>
        <source>Changed settings</source>
        <translation>改变的设置</translation>
    </message>
    <message>
        <source>setting</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>after</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>Estimate of each pipeline stage</source>
        <translation>每个流水线级的估算</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>级</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>in flight</source>
        <translation>在途</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>component at the peak of the fullest stage</source>
        <translation>占用最多的级在峰值时的组成</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Measured peaks</source>
        <translation>实测峰值</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断结果</translation>
    </message>
    <message>
        <source>Formulas with the numbers in them</source>
        <translation>代入数值的公式</translation>
    </message>
    <message>
        <source>term</source>
        <translation>项</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>公式</translation>
    </message>
    <message>
        <source>numbers</source>
        <translation>代入</translation>
    </message>
    <message>
        <source>value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>The same at the terminal</source>
        <translation>在终端得到相同结果</translation>
    </message>
    <message>
        <source>Logits make the peak: %1 of %2</source>
        <translation>峰值主要来自 logits：%2 中的 %1</translation>
    </message>
    <message>
        <source>Scores for each of the %1 vocabulary entries and every token take more than all layers keep, and recompute does not touch them. A fused or chunked loss, a smaller micro-batch or splitting the vocabulary over tensor parallel ranks does.</source>
        <translation>每个 token 对 %1 个词表项的分数，比所有层保留的还多，而重计算对它们不起作用。融合或分块的损失、更小的微批次，或在张量并行 rank 间切分词表才有用。</translation>
    </message>
    <message>
        <source>Stage %1 holds %2 more than a typical one</source>
        <translation>流水级 %1 比一般的多占 %2</translation>
    </message>
    <message>
        <source>The first stage has the most micro-batches in flight, and the embedding. Fewer layers on it even the stages out.</source>
        <translation>第一级的在途微批次最多，还有词嵌入。减少它的层数可以让各级更均衡。</translation>
    </message>
    <message>
        <source>The last stage has the output layer and the loss. Fewer layers on it even the stages out.</source>
        <translation>最后一级有输出层和损失。减少它的层数可以让各级更均衡。</translation>
    </message>
    <message>
        <source>One layer fewer on stage %1</source>
        <translation>流水级 %1 减少一层</translation>
    </message>
    <message>
        <source>The frozen language model still keeps %1 of activations</source>
        <translation>冻结的语言模型仍保留 %1 的激活值</translation>
    </message>
    <message>
        <source>The projector or the image encoder is trained, and its gradient has to pass backward through every frozen layer. Freezing saves gradients and optimizer state there, but what the layers need for the input&apos;s gradient stays. Recompute helps.</source>
        <translation>投影层或图像编码器参与训练，它的梯度要反向穿过每个冻结层。冻结省下了那里的梯度和优化器状态，但计算输入梯度所需的部分仍要保留。重计算有帮助。</translation>
    </message>
    <message>
        <source>The log and the estimate differ by %1</source>
        <translation>日志与估算相差 %1</translation>
    </message>
    <message>
        <source>Measured %1, estimated %2. No single other setting explains it. See whether the config is the one that ran, whether samples are as long as the config says, and which implementation runs.</source>
        <translation>实测 %1，估算 %2。没有任何单个设置能解释。请确认运行的是否就是这份配置、样本是否与配置中一样长，以及运行的是哪种实现。</translation>
    </message>
    <message>
        <source>Measured %1, estimated %2; with that setting the estimate meets all measured peaks within %3 %. The command line or another file may have overridden the config.</source>
        <translation>实测 %1，估算 %2；换成该设置后，估算与所有实测峰值相差不超过 %3 %。命令行或其他文件可能覆盖了配置。</translation>
    </message>
    <message>
        <source>No framework can run this, so there is nothing to estimate until it is changed.</source>
        <translation>没有框架能这样运行，修改之前无从估算。</translation>
    </message>
    <message>
        <source>The peak grows by %1 per 100 steps</source>
        <translation>峰值每 100 步增长 %1</translation>
    </message>
    <message>
        <source>A run with samples of one length peaks alike in every step. Either the samples get longer, or tensors are kept from step to step: losses or outputs collected with their graph are the usual ones (use .item() or .detach()).</source>
        <translation>样本等长的运行每步峰值相同。要么样本变长了，要么有张量逐步累积：常见的是连同计算图一起收集的损失或输出（请用 .item() 或 .detach()）。</translation>
    </message>
    <message>
        <source>The first step peaks %1 below the others</source>
        <translation>第一步的峰值比其他步低 %1</translation>
    </message>
    <message>
        <source>Adam&apos;s moments are made in the first optimizer step, so a run that survives one step can still run out of memory in the second. Judge by a later step.</source>
        <translation>Adam 的动量在第一次优化器步骤中才创建，因此撑过第一步的运行仍可能在第二步显存不足。请以后面的步为准。</translation>
    </message>
    <message>
        <source>estimated: %1 in the first step, %2 later</source>
        <translation>估算：第一步 %1，之后 %2</translation>
    </message>
    <message>
        <source>Step %1 peaks %2 above the usual %3</source>
        <translation>第 %1 步的峰值比通常的 %3 高出 %2</translation>
    </message>
    <message>
        <source>%1 of %2 steps do. One long sample, or one with many images, decides the peak: cut or bucket the samples by length, or plan for the longest.</source>
        <translation>%2 步中有 %1 步如此。峰值由一个长样本或图像很多的样本决定：请截断样本或按长度分桶，或按最长的样本规划。</translation>
    </message>
    <message>
        <source>The log does not say which rank it is of</source>
        <translation>日志没有说明属于哪个 rank</translation>
    </message>
    <message>
        <source>The log shows rank %1 alone</source>
        <translation>日志只有 rank %1</translation>
    </message>
    <message>
        <source>Each of the %1 pipeline stages has its own peak, so another rank may be the one that runs out of memory. Compare with that stage&apos;s estimate, and log the first and the last stage.</source>
        <translation>%1 个流水线级各有自己的峰值，显存不足的可能是另一个 rank。请与该级的估算比较，并记录第一级和最后一级的日志。</translation>
    </message>
    <message>
        <source>the pipeline layout has more layers than any model</source>
        <translation>流水线布局中的层数超过了任何模型</translation>
    </message>
    <message>
        <source>the pipeline layout closes a parenthesis that is not open</source>
        <translation>流水线布局中有多余的右括号</translation>
    </message>
    <message>
        <source>the pipeline layout does not close a parenthesis</source>
        <translation>流水线布局中有未闭合的括号</translation>
    </message>
    <message>
        <source>the pipeline layout has no number behind “*”</source>
        <translation>流水线布局中“*”后面没有数字</translation>
    </message>
    <message>
        <source>the embedding of the pipeline layout does not come first</source>
        <translation>流水线布局中的嵌入层不在最前面</translation>
    </message>
    <message>
        <source>“%1” in the pipeline layout is none of E, t, m, L and |</source>
        <translation>流水线布局中的“%1”不是 E、t、m、L 或 | 之一</translation>
    </message>
    <message>
        <source>the %1 chunks of the pipeline layout do not go round %2 stages</source>
        <translation>流水线布局的 %1 个模型块不能均匀分到 %2 个流水级</translation>
    </message>
    <message>
        <source>the pipeline layout needs its embedding at the start and its loss at the end</source>
        <translation>流水线布局必须以嵌入层开头、以损失结尾</translation>
    </message>
    <message>
        <source>the pipeline layout has %1 layers, the model %2</source>
        <translation>流水线布局有 %1 层，而模型有 %2 层</translation>
    </message>
    <message>
        <source>the pipeline layout has %1 multi-token prediction layers, the model %2</source>
        <translation>流水线布局有 %1 个多 token 预测层，而模型有 %2 个</translation>
    </message>
    <message>
        <source>DualPipe needs an even number of stages, not %1</source>
        <translation>DualPipe 需要偶数个流水级，而不是 %1 个</translation>
    </message>
    <message>
        <source>DualPipe needs an even number of micro-batches, at least %1; the step has %2</source>
        <translation>DualPipe 需要偶数个微批次且至少 %1 个；当前每步有 %2 个</translation>
    </message>
    <message>
        <source>DualPipeV needs at least %1 micro-batches; the step has %2</source>
        <translation>DualPipeV 至少需要 %1 个微批次；当前每步有 %2 个</translation>
    </message>
    <message>
        <source>“%1” is not a key of log formats</source>
        <translation>“%1”不是日志格式的键</translation>
    </message>
    <message>
        <source>the file has no “formats”</source>
        <translation>文件中没有“formats”</translation>
    </message>
    <message>
        <source>“%1” is not one of the words that belong here</source>
        <translation>此处不能用“%1”这个词</translation>
    </message>
    <message>
        <source>a number of lines up to %1 belongs here</source>
        <translation>此处应为不超过 %1 的行数</translation>
    </message>
    <message>
        <source>an anchor is a literal of %1 to %2 characters</source>
        <translation>锚点是 %1 到 %2 个字符的字面文本</translation>
    </message>
    <message>
        <source>“%1” is not a unit</source>
        <translation>“%1”不是单位</translation>
    </message>
    <message>
        <source>the format has no “pattern”</source>
        <translation>该格式没有“pattern”</translation>
    </message>
    <message>
        <source>the format has no “anchors”: no line would be looked at</source>
        <translation>该格式没有“anchors”：不会查看任何一行</translation>
    </message>
    <message>
        <source>there is no log format “%1”</source>
        <translation>没有名为“%1”的日志格式</translation>
    </message>
    <message>
        <source>“%{” has no “}”</source>
        <translation>“%{”缺少“}”</translation>
    </message>
    <message>
        <source>the pattern is longer than %1 characters</source>
        <translation>模式超过 %1 个字符</translation>
    </message>
    <message>
        <source>the pattern is wrong near “%1”: %2</source>
        <translation>模式在“%1”附近有错误：%2</translation>
    </message>
    <message>
        <source>the pattern has more than 63 groups</source>
        <translation>模式中的分组超过 63 个</translation>
    </message>
    <message>
        <source>not a JSON object, left out</source>
        <translation>不是 JSON 对象，已略过</translation>
    </message>
    <message>
        <source>a loss without a step, left out</source>
        <translation>有损失而没有步数，已略过</translation>
    </message>
    <message>
        <source>a line of more than 64 MiB: these are not JSON lines</source>
        <translation>有一行超过 64 MiB：这不是 JSON Lines 文件</translation>
    </message>
    <message>
        <source>cannot be read: %1</source>
        <translation>无法读取：%1</translation>
    </message>
    <message>
        <source>no line is a JSON object with a step and a loss</source>
        <translation>没有任何一行是带有步数和损失的 JSON 对象</translation>
    </message>
    <message>
        <source>the file ends inside this event; it may still be being written</source>
        <translation>文件在此事件中间结束；可能仍在写入</translation>
    </message>
    <message>
        <source>the length of this event is damaged: what comes after it can&apos;t be read</source>
        <translation>此事件的长度已损坏：其后的内容无法读取</translation>
    </message>
    <message>
        <source>the checksum of this event is wrong; it is left out</source>
        <translation>此事件的校验和不符，已略过</translation>
    </message>
    <message>
        <source>the line is too intricate to be read</source>
        <translation>该行过于复杂，无法读取</translation>
    </message>
    <message>
        <source>the log lists no arguments that are understood</source>
        <translation>日志中没有能理解的参数</translation>
    </message>
    <message>
        <source>the logits in 16 bits (micro-batch × sequence × vocabulary)</source>
        <translation>16 位的 logits（微批次 × 序列长度 × 词表）</translation>
    </message>
    <message>
        <source>the logits in 32 bits (micro-batch × sequence × vocabulary)</source>
        <translation>32 位的 logits（微批次 × 序列长度 × 词表）</translation>
    </message>
    <message>
        <source>the attention scores in 16 bits (micro-batch × heads × sequence²)</source>
        <translation>16 位的注意力分数（微批次 × 头数 × 序列长度²）</translation>
    </message>
    <message>
        <source>the attention scores in 32 bits (micro-batch × heads × sequence²)</source>
        <translation>32 位的注意力分数（微批次 × 头数 × 序列长度²）</translation>
    </message>
    <message>
        <source>Phases are inferred from points such as “%1”. The maximum there counts on over the step, so a phase has a peak of its own only where the maximum rose in it</source>
        <translation>阶段是根据“%1”之类的时点推断的。该处的最大值在整步内持续累计，因此只有最大值在某阶段内上升时，该阶段才有自己的峰值</translation>
    </message>
    <message>
        <source>Phases are inferred from points such as “%1”: the peak counts from the point before, so it is that of what ran in between</source>
        <translation>阶段是根据“%1”之类的时点推断的：峰值从上一时点算起，因此属于两点之间运行的部分</translation>
    </message>
    <message>
        <source>The log does not say the unit of torchtune&apos;s amounts. GiB is taken, which torchtune writes since August 2024; before, it was GB, 7 % less</source>
        <translation>日志未说明 torchtune 数值的单位。此处按 GiB 处理（torchtune 自 2024 年 8 月起使用）；更早的版本使用 GB，数值少 7 %</translation>
    </message>
    <message>
        <source>The Trainer&apos;s figures up to line %1 add up to a peak of the training of %2 allocated: what was there before, what initialising and training added, and the peak beyond that</source>
        <translation>截至第 %1 行，Trainer 的数值之和表明训练的已分配峰值为 %2：包括此前已占用的部分、初始化和训练增加的部分，以及在此之上的峰值</translation>
    </message>
    <message>
        <source>Lines broken at %1 columns, as terminals do, were joined</source>
        <translation>日志行在第 %1 列处被终端折断，已重新拼接</translation>
    </message>
    <message>
        <source>more than %1 arguments, parameter counts and messages; the others are left out</source>
        <translation>参数、参数量和消息超过 %1 条；其余已略过</translation>
    </message>
    <message>
        <source>the file can&apos;t be unpacked: %1</source>
        <translation>文件无法解压：%1</translation>
    </message>
    <message>
        <source>unpacking stopped at %1 MiB: the file grows beyond what a log does</source>
        <translation>解压到 %1 MiB 时停止：文件膨胀超出日志应有的程度</translation>
    </message>
    <message>
        <source>the packed file is damaged or cut off; what could be unpacked was read</source>
        <translation>压缩文件已损坏或不完整；已读取能解压的部分</translation>
    </message>
    <message>
        <source>“%1” is a list or an object; it is changed item by item</source>
        <translation>“%1”是列表或对象，须逐项修改</translation>
    </message>
    <message>
        <source>“%1” is an object; its values are changed one by one</source>
        <translation>“%1”是对象，须逐个修改其中的值</translation>
    </message>
    <message>
        <source>there is no place for “%1” in this file</source>
        <translation>此文件中没有可放置“%1”的位置</translation>
    </message>
    <message>
        <source>the file assigns no values</source>
        <translation>文件中没有任何赋值</translation>
    </message>
    <message>
        <source>it needs tensor parallelism</source>
        <translation>它需要张量并行</translation>
    </message>
    <message>
        <source>one stage has nothing to schedule</source>
        <translation>只有一个阶段，无需调度</translation>
    </message>
    <message>
        <source>one data-parallel rank has nobody to share with</source>
        <translation>只有一个数据并行 rank，无从分摊</translation>
    </message>
    <message>
        <source>%1 GPUs of a stage cannot be divided into expert groups of %2</source>
        <translation>一个阶段的 %1 块 GPU 无法分成每组 %2 块的专家组</translation>
    </message>
    <message>
        <source>one stage has nothing to interleave</source>
        <translation>只有一个阶段，无可交错</translation>
    </message>
    <message>
        <source>the pipeline layout says how many</source>
        <translation>块数由流水线布局决定</translation>
    </message>
    <message>
        <source>attention + MLP + norms</source>
        <translation>注意力 + MLP + 归一化</translation>
    </message>
    <message>
        <source>attention + router + experts + norms</source>
        <translation>注意力 + 路由 + 专家 + 归一化</translation>
    </message>
    <message>
        <source>layers + embedding + head</source>
        <translation>层 + 嵌入 + 输出层</translation>
    </message>
    <message>
        <source>parameters + gradients + optimizer state</source>
        <translation>参数 + 梯度 + 优化器状态</translation>
    </message>
    <message>
        <source>parameters × bytes per parameter</source>
        <translation>参数 × 每参数字节数</translation>
    </message>
    <message>
        <source>projector</source>
        <translation>投影层</translation>
    </message>
    <message>
        <source>tokens·h·L·k·2 + projector</source>
        <translation>token·h·L·k·2 + 投影层</translation>
    </message>
    <message>
        <source>static state + in flight × activations + vision + working set</source>
        <translation>静态状态 + 在途 × 激活 + 视觉 + 工作集</translation>
    </message>
    <message>
        <source>static state + in flight × activations + vision</source>
        <translation>静态状态 + 在途 × 激活 + 视觉</translation>
    </message>
    <message>
        <source>static state + in flight × activations + working set</source>
        <translation>静态状态 + 在途 × 激活 + 工作集</translation>
    </message>
    <message>
        <source>static state + in flight × activations</source>
        <translation>静态状态 + 在途 × 激活</translation>
    </message>
    <message>
        <source>static state</source>
        <translation>静态状态</translation>
    </message>
    <message>
        <source>12h² blocks, in flight × B·S·h·L·k·2</source>
        <translation>12h² 每块，在途 × B·S·h·L·k·2</translation>
    </message>
    <message>
        <source>one layer − its input</source>
        <translation>一层 − 其输入</translation>
    </message>
    <message>
        <source>reserved + context</source>
        <translation>已预留 + 上下文</translation>
    </message>
    <message>
        <source>Output layer and loss</source>
        <translation>输出层与损失</translation>
    </message>
    <message>
        <source>%1 layers with experts</source>
        <translation>%1 个专家层</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 层</translation>
    </message>
    <message>
        <source>Embedding, norms and projections</source>
        <translation>嵌入、归一化与投影</translation>
    </message>
    <message>
        <source>Kept of one micro-batch</source>
        <translation>一个微批次保存的内容</translation>
    </message>
    <message>
        <source>their inputs only: they are recomputed</source>
        <translation>仅保存输入：其余重计算</translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>Activations at the peak</source>
        <translation>峰值时的激活</translation>
    </message>
    <message>
        <source>of the micro-batch being worked on</source>
        <translation>正在处理的微批次</translation>
    </message>
    <message>
        <source>of the others in flight</source>
        <translation>其他在途微批次</translation>
    </message>
    <message>
        <source>Between two steps</source>
        <translation>两步之间</translation>
    </message>
    <message>
        <source>Logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>Working set</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>Reserved by the allocator</source>
        <translation>分配器已预留</translation>
    </message>
    <message>
        <source>CUDA context</source>
        <translation>CUDA 上下文</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>fp32 main gradients</source>
        <translation>fp32 主梯度</translation>
    </message>
    <message>
        <source>master weights</source>
        <translation>主权重</translation>
    </message>
    <message>
        <source>moments</source>
        <translation>动量</translation>
    </message>
    <message>
        <source>residual stream</source>
        <translation>残差流</translation>
    </message>
    <message>
        <source>norm output</source>
        <translation>归一化输出</translation>
    </message>
    <message>
        <source>norm statistics</source>
        <translation>归一化统计量</translation>
    </message>
    <message>
        <source>qkv</source>
        <translation>QKV（合并）</translation>
    </message>
    <message>
        <source>query projection</source>
        <translation>查询投影</translation>
    </message>
    <message>
        <source>key-value projection</source>
        <translation>键值投影</translation>
    </message>
    <message>
        <source>q/k norm input</source>
        <translation>q/k 归一化输入</translation>
    </message>
    <message>
        <source>q/k norm output</source>
        <translation>q/k 归一化输出</translation>
    </message>
    <message>
        <source>rotated q and k</source>
        <translation>旋转后的 q 和 k</translation>
    </message>
    <message>
        <source>rotary tables</source>
        <translation>旋转位置表</translation>
    </message>
    <message>
        <source>value copy</source>
        <translation>值的副本</translation>
    </message>
    <message>
        <source>q, k, v copies</source>
        <translation>q、k、v 副本</translation>
    </message>
    <message>
        <source>repeated k and v</source>
        <translation>重复的 k 和 v</translation>
    </message>
    <message>
        <source>attention softmax</source>
        <translation>注意力 softmax</translation>
    </message>
    <message>
        <source>attention probabilities</source>
        <translation>注意力概率</translation>
    </message>
    <message>
        <source>dropout mask</source>
        <translation>dropout 掩码</translation>
    </message>
    <message>
        <source>attention context</source>
        <translation>注意力上下文</translation>
    </message>
    <message>
        <source>attention context copy</source>
        <translation>注意力上下文副本</translation>
    </message>
    <message>
        <source>softmax statistics</source>
        <translation>softmax 统计量</translation>
    </message>
    <message>
        <source>random state</source>
        <translation>随机数状态</translation>
    </message>
    <message>
        <source>attention mask</source>
        <translation>注意力掩码</translation>
    </message>
    <message>
        <source>fc1 output</source>
        <translation>fc1 输出</translation>
    </message>
    <message>
        <source>activation output</source>
        <translation>激活函数输出</translation>
    </message>
    <message>
        <source>fp8 inputs</source>
        <translation>fp8 输入</translation>
    </message>
    <message>
        <source>norm input in fp32</source>
        <translation>fp32 归一化输入</translation>
    </message>
    <message>
        <source>activated gate</source>
        <translation>激活后的门控</translation>
    </message>
    <message>
        <source>adapter activations</source>
        <translation>适配器激活</translation>
    </message>
    <message>
        <source>router scores</source>
        <translation>路由得分</translation>
    </message>
    <message>
        <source>routing map</source>
        <translation>路由表</translation>
    </message>
    <message>
        <source>sort index</source>
        <translation>排序索引</translation>
    </message>
    <message>
        <source>routed probabilities</source>
        <translation>路由概率</translation>
    </message>
    <message>
        <source>permuted tokens</source>
        <translation>重排的 token</translation>
    </message>
    <message>
        <source>dispatched tokens</source>
        <translation>分发的 token</translation>
    </message>
    <message>
        <source>sorted tokens</source>
        <translation>排序的 token</translation>
    </message>
    <message>
        <source>expert latents</source>
        <translation>专家潜变量</translation>
    </message>
    <message>
        <source>attention latents</source>
        <translation>注意力潜变量</translation>
    </message>
    <message>
        <source>q, k, v from latents</source>
        <translation>由潜变量得到的 q、k、v</translation>
    </message>
    <message>
        <source>q, k, v for context parallelism</source>
        <translation>上下文并行的 q、k、v</translation>
    </message>
    <message>
        <source>ring buffers</source>
        <translation>环形缓冲区</translation>
    </message>
    <message>
        <source>head states</source>
        <translation>输出层状态</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>logits 值</translation>
    </message>
    <message>
        <source>softmax of logits</source>
        <translation>logits 的 softmax</translation>
    </message>
    <message>
        <source>gradient of logits</source>
        <translation>logits 的梯度</translation>
    </message>
    <message>
        <source>loss terms</source>
        <translation>损失项</translation>
    </message>
    <message>
        <source>attention scores</source>
        <translation>注意力得分</translation>
    </message>
    <message>
        <source>gradient of scores</source>
        <translation>得分的梯度</translation>
    </message>
    <message>
        <source>attention workspace</source>
        <translation>注意力工作区</translation>
    </message>
    <message>
        <source>partial contexts</source>
        <translation>部分上下文</translation>
    </message>
    <message>
        <source>expert output</source>
        <translation>专家输出</translation>
    </message>
    <message>
        <source>unsorted tokens</source>
        <translation>还原顺序的 token</translation>
    </message>
    <message>
        <source>returned tokens</source>
        <translation>返回的 token</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>weight gradient</source>
        <translation>权重梯度</translation>
    </message>
    <message>
        <source>gathered input</source>
        <translation>聚合的输入</translation>
    </message>
    <message>
        <source>output before the residual</source>
        <translation>残差相加前的输出</translation>
    </message>
    <message>
        <source>embedding temporary</source>
        <translation>嵌入临时张量</translation>
    </message>
    <message>
        <source>copies of weights</source>
        <translation>权重副本</translation>
    </message>
    <message>
        <source>temporaries of the optimizer</source>
        <translation>优化器临时张量</translation>
    </message>
    <message>
        <source>cast</source>
        <translation>类型转换</translation>
    </message>
    <message>
        <source>boundary tensor</source>
        <translation>边界张量</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>批数据</translation>
    </message>
    <message>
        <source>attention mask of the loader</source>
        <translation>加载器的注意力掩码</translation>
    </message>
    <message>
        <source>cuBLAS workspace</source>
        <translation>cuBLAS 工作区</translation>
    </message>
    <message>
        <source>GEMM workspace</source>
        <translation>GEMM 工作区</translation>
    </message>
    <message>
        <source>global buffer</source>
        <translation>全局缓冲区</translation>
    </message>
    <message>
        <source>placeholder gradients</source>
        <translation>占位梯度</translation>
    </message>
    <message>
        <source>gathered parameters</source>
        <translation>聚合的参数</translation>
    </message>
    <message>
        <source>input of a CUDA graph</source>
        <translation>CUDA graph 的输入</translation>
    </message>
    <message>
        <source>buffer for offloaded activations</source>
        <translation>卸载激活的缓冲区</translation>
    </message>
    <message>
        <source>reduction buffer</source>
        <translation>归约缓冲区</translation>
    </message>
    <message>
        <source>Out of memory on rank %1, asking for %2</source>
        <translation>rank %1 显存不足，当时申请 %2</translation>
    </message>
    <message>
        <source>Out of memory, asking for %1</source>
        <translation>显存不足，当时申请 %1</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>The message says no amounts.</source>
        <translation>这条消息没有给出数量。</translation>
    </message>
    <message>
        <source>the message</source>
        <translation>该消息</translation>
    </message>
    <message>
        <source>%1 of the GPU are taken outside PyTorch&apos;s allocator</source>
        <translation>GPU 上有 %1 在 PyTorch 分配器之外被占用</translation>
    </message>
    <message>
        <source>A CUDA context with its kernels takes 0.4 to 0.6 GiB, NCCL some hundred MiB for every communicator. Look for other processes on this GPU (nvidia-smi), a context on GPU 0 for every rank, or CUDA graphs and libraries with pools of their own.</source>
        <translation>CUDA 上下文及其核函数占 0.4 到 0.6 GiB，每个 NCCL 通信器占几百 MiB。请检查此 GPU 上的其他进程（nvidia-smi）、每个 rank 都在 GPU 0 上建立的上下文，或自带内存池的 CUDA graph 和库。</translation>
    </message>
    <message>
        <source>%1 taken on the device, %2 reserved</source>
        <translation>设备上占用 %1，已预留 %2</translation>
    </message>
    <message>
        <source>The run had %1 = %2, the config says %3</source>
        <translation>运行时 %1 = %2，配置中是 %3</translation>
    </message>
    <message>
        <source>The arguments that the log lists are what took effect. A flag on the command line, a later file or a rule of the framework overrode the config.</source>
        <translation>日志列出的参数才是实际生效的。命令行参数、后加载的文件或框架的规则覆盖了配置。</translation>
    </message>
    <message>
        <source>Take the log&apos;s %1</source>
        <translation>采用日志中的 %1</translation>
    </message>
    <message>
        <source>The log gives amounts as shares of the device or as what was left free, and does not say how large the device is</source>
        <translation>日志以占设备的比例或剩余空闲量给出数值，却没有说明设备有多大</translation>
    </message>
    <message>
        <source>nothing could be opened</source>
        <translation>没有可以打开的内容</translation>
    </message>
    <message>
        <source>neither a config nor a log with memory measurements</source>
        <translation>既不是配置，也不是带显存测量值的日志</translation>
    </message>
    <message>
        <source>open a log or a config to compare with</source>
        <translation>请先打开用来比较的日志或配置</translation>
    </message>
    <message>
        <source>no line has a step and a loss, neither as JSON ({&quot;step&quot;: 1, &quot;loss&quot;: 2.5}) nor as step= and loss=</source>
        <translation>没有一行同时包含步数和损失，既没有 JSON 形式（{&quot;step&quot;: 1, &quot;loss&quot;: 2.5}），也没有 step= 与 loss= 形式</translation>
    </message>
    <message>
        <source>%1 is %2 here and %3 on line %4 of %5; the trainer refuses such a pair, auto there would follow this file</source>
        <translation>%1 在此处为 %2，在 %5 的第 %4 行为 %3；训练器会拒绝这种不一致，在那里写 auto 则跟随本文件</translation>
    </message>
    <message>
        <source>“%1” is not on this machine, so what it says is not known</source>
        <translation>本机上没有“%1”，因此不知道其中的内容</translation>
    </message>
    <message>
        <source>“%1” is overruled</source>
        <translation>“%1”被覆盖</translation>
    </message>
    <message>
        <source>“%1” is %2, but beside “%3” the framework does not take it: “%3” decides.</source>
        <translation>“%1”为 %2，但有“%3”时框架不采用它：由“%3”决定。</translation>
    </message>
    <message>
        <source>“%1” and “%3” cancel each other</source>
        <translation>“%1”与“%3”互相抵消</translation>
    </message>
    <message>
        <source>“%1” = %2 stands beside “%3”, and with both the framework applies neither.</source>
        <translation>“%1” = %2 与“%3”同时存在，此时框架两者都不应用。</translation>
    </message>
    <message>
        <source>“%1” has no effect without “%3”</source>
        <translation>没有“%3”时“%1”不起作用</translation>
    </message>
    <message>
        <source>“%1” is %2, but the framework looks at it only with “%3”.</source>
        <translation>“%1”为 %2，但只有设置了“%3”时框架才会读取它。</translation>
    </message>
    <message>
        <source>“%1” is not what decides</source>
        <translation>起决定作用的不是“%1”</translation>
    </message>
    <message>
        <source>“%1” = %2 is accepted, but the framework goes by “%3”.</source>
        <translation>框架接受“%1” = %2，但实际以“%3”为准。</translation>
    </message>
    <message>
        <source>“%1” does nothing by itself</source>
        <translation>仅有“%1”不起任何作用</translation>
    </message>
    <message>
        <source>“%1” is %2, which counts only where the model&apos;s own code calls the library&apos;s checkpoint function. Models of Hugging Face do not: nothing is recomputed because of it.</source>
        <translation>“%1”为 %2，只有模型自身代码调用该库的检查点函数时才有效。Hugging Face 的模型不会调用：不会因此重计算任何内容。</translation>
    </message>
    <message>
        <source>“%1” and “%3” stop the run</source>
        <translation>“%1”与“%3”会使运行中止</translation>
    </message>
    <message>
        <source>“%1” = %2 beside “%3” is refused by the framework: the run would not start.</source>
        <translation>框架拒绝“%1” = %2 与“%3”同时出现：运行无法启动。</translation>
    </message>
    <message>
        <source>“%1” stops the run</source>
        <translation>“%1”会使运行中止</translation>
    </message>
    <message>
        <source>“%1” = %2 needs “%3”; without it the run would not start.</source>
        <translation>“%1” = %2 需要“%3”；没有它运行无法启动。</translation>
    </message>
    <message>
        <source>On by default: %4</source>
        <translation>默认开启：%4</translation>
    </message>
    <message>
        <source>“%1” is not written, and then the framework takes %4 as true.</source>
        <translation>没有写“%1”，此时框架将 %4 视为 true。</translation>
    </message>
    <message>
        <source>%1 is not written</source>
        <translation>没有写 %1</translation>
    </message>
    <message>
        <source>read in %1</source>
        <translation>出自 %1</translation>
    </message>
    <message>
        <source>Set %1 to %2</source>
        <translation>将 %1 设为 %2</translation>
    </message>
    <message>
        <source>Recompute has details but no granularity</source>
        <translation>重计算有细节设置却没有粒度</translation>
    </message>
    <message>
        <source>A method or a number of layers says how to recompute; without a granularity nothing is recomputed.</source>
        <translation>方法或层数说明如何重计算；没有粒度则不会重计算任何内容。</translation>
    </message>
    <message>
        <source>Recomputing core attention saves next to nothing here</source>
        <translation>在此重计算核心注意力几乎不省显存</translation>
    </message>
    <message>
        <source>Expert parallelism of %1 without experts</source>
        <translation>专家并行为 %1，却没有专家</translation>
    </message>
    <message>
        <source>The model is dense, so expert parallelism shards nothing and frees nothing.</source>
        <translation>模型是稠密的，因此专家并行不切分也不释放任何内容。</translation>
    </message>
    <message>
        <source>Set expert parallelism to 1</source>
        <translation>将专家并行设为 1</translation>
    </message>
    <message>
        <source>What was measured determines the coefficients to within this</source>
        <translation>实测数据把系数确定在此范围内</translation>
    </message>
    <message>
        <source>%1 must be a number</source>
        <translation>%1 必须是数字</translation>
    </message>
    <message>
        <source>there is no coefficient to save: another setting explains what was measured</source>
        <translation>没有可保存的系数：另一个设置就能解释实测结果</translation>
    </message>
    <message>
        <source>this is no calibration: it does not begin with %1</source>
        <translation>这不是校准文件：开头没有 %1</translation>
    </message>
    <message>
        <source>%1 must be above 0 and below %2</source>
        <translation>%1 必须大于 0 且小于 %2</translation>
    </message>
    <message>
        <source>“%1” cannot be the name of a calibration</source>
        <translation>“%1”不能用作校准的名称</translation>
    </message>
    <message>
        <source>there is no home folder to keep calibrations in; give a file</source>
        <translation>没有可存放校准的主目录，请指定文件</translation>
    </message>
    <message>
        <source>“%1” was measured with %2 = %3, the plan has %4: its coefficients may not carry over</source>
        <translation>“%1”是在 %2 = %3 下测得的，而方案中是 %4：其系数可能不适用</translation>
    </message>
    <message>
        <source>no file of the format “%1” can be written</source>
        <translation>无法写出格式“%1”的文件</translation>
    </message>
    <message>
        <source>there is no place for “%1” in a file of this kind</source>
        <translation>这种文件中没有“%1”的位置</translation>
    </message>
    <message>
        <source>%1 is set here but not understood: the estimate goes on without it until you give its value</source>
        <translation>此处设置了 %1，但无法理解：在您给出它的值之前，估算不考虑它</translation>
    </message>
    <message>
        <source>an encoder is placed on first_stage, own_stages or every_stage, not on %1</source>
        <translation>编码器可放在 first_stage、own_stages 或 every_stage，不能放在 %1</translation>
    </message>
    <message>
        <source>an encoder on stages of its own needs the 1F1B or the GPipe schedule</source>
        <translation>编码器独占流水线级时需要 1F1B 或 GPipe 调度</translation>
    </message>
    <message>
        <source>the encoder&apos;s tensor parallel size %1 is above the language model&apos;s, %2</source>
        <translation>编码器的张量并行大小 %1 超过语言模型的 %2</translation>
    </message>
    <message>
        <source>Reentrant recompute over frozen layers</source>
        <translation>在冻结层上使用可重入的重计算</translation>
    </message>
    <message>
        <source>A reentrant segment passes gradients only where one of its inputs needs them, which the output of a frozen embedding does not. With a hook that makes it need them, all frozen layers keep their segments&apos; inputs; use_reentrant: false needs neither.</source>
        <translation>可重入的分段只有在某个输入需要梯度时才传递梯度，而冻结的词嵌入的输出不需要。若用钩子让它需要梯度，所有冻结层都会保留各分段的输入；use_reentrant: false 则两者都不需要。</translation>
    </message>
    <message>
        <source>Recompute without reentry</source>
        <translation>改用不可重入的重计算</translation>
    </message>
    <message>
        <source>One of them is measured, the other estimated</source>
        <translation>一个是实测，另一个是估算</translation>
    </message>
    <message>
        <source>Their difference holds the estimate&apos;s own error beside what the settings did. Calibrate the estimate on the log, or compare two logs.</source>
        <translation>两者之差除了设置的影响，还包含估算本身的误差。请用日志校准估算，或比较两份日志。</translation>
    </message>
    <message>
        <source>Same settings: the estimate is %1 off the measured peak</source>
        <translation>设置相同：估算与实测峰值相差 %1</translation>
    </message>
    <message>
        <source>Measured %1, estimated %2, allocated in both. What is left may be calibrated away, where the log was made with these settings.</source>
        <translation>实测 %1，估算 %2，均为已分配。如果日志正是用这些设置得到的，剩余的差值可以通过校准消除。</translation>
    </message>
    <message>
        <source>of this size: %1 (stage %2, before the first step)</source>
        <translation>大小相符：%1（第 %2 级，第一步之前）</translation>
    </message>
    <message>
        <source>of this size: %1 (stage %2, %3)</source>
        <translation>大小相符：%1（第 %2 级，%3）</translation>
    </message>
    <message>
        <source>Between the two runs %1 changed. Other runs show what each of them does alone.</source>
        <translation>两次运行之间 %1 都变了。其他运行显示了每一项单独的影响。</translation>
    </message>
    <message>
        <source>%1 alone: allocated peak %2</source>
        <translation>只改 %1：已分配峰值 %2</translation>
    </message>
    <message>
        <source>Runs %1 (%2) and %3 (%4) differ in nothing else.</source>
        <translation>运行 %1（%2）和 %3（%4）没有其他区别。</translation>
    </message>
    <message>
        <source>The first run</source>
        <translation>第一次运行</translation>
    </message>
    <message>
        <source>%1 settings changed at once; other runs tell them apart</source>
        <translation>同时改变了 %1 项设置；其他运行可以区分各自的影响</translation>
    </message>
    <message>
        <source>%1 settings changed at once: their effects cannot be told apart</source>
        <translation>同时改变了 %1 项设置：各自的影响无法区分</translation>
    </message>
    <message>
        <source>No clear change</source>
        <translation>没有明显变化</translation>
    </message>
    <message>
        <source>The first run&apos;s batch does not add up: %1 samples by its parts, %2 stated</source>
        <translation>第一次运行的批次对不上：按各因子算是 %1 个样本，写明的是 %2</translation>
    </message>
    <message>
        <source>The second run&apos;s batch does not add up: %1 samples by its parts, %2 stated</source>
        <translation>第二次运行的批次对不上：按各因子算是 %1 个样本，写明的是 %2</translation>
    </message>
    <message>
        <source>Micro-batch × accumulation × data-parallel size is the global batch; one of the four is not what ran. See whether the command line or another file overrides it.</source>
        <translation>微批次 × 累积 × 数据并行 就是全局批次；四者中有一个不是实际运行的值。请检查命令行或其他文件是否覆盖了它。</translation>
    </message>
    <message>
        <source>The loss of a step is the mean over all its samples, however they are split. Divide the sum once, before the backward pass, so that the gradients are those of the mean too.</source>
        <translation>一步的损失是该步所有样本的平均值，与如何切分无关。请在反向之前把总和只除一次，使梯度也是平均值的梯度。</translation>
    </message>
    <message>
        <source>The factor is that of %1, %2 to %3: both runs sum over it</source>
        <translation>倍数正是 %1 的比值，%2 比 %3：两次运行都对它求和而没有平均</translation>
    </message>
    <message>
        <source>The factor is %1 = %2 of the second run: only the first divides by it</source>
        <translation>倍数就是第二次运行的 %1 = %2：只有第一次运行除以了它</translation>
    </message>
    <message>
        <source>The factor is %1 = %2 of the first run: only the second divides by it</source>
        <translation>倍数就是第一次运行的 %1 = %2：只有第二次运行除以了它</translation>
    </message>
    <message>
        <source>The step is accumulated from %1 and from %2 micro-batches</source>
        <translation>一步分别由 %1 个和 %2 个微批次累积而成</translation>
    </message>
    <message>
        <source>Averaging each micro-batch&apos;s loss by itself and then over them weighs a short sample as much as a long one; with other micro-batches that is another mean. Sum the tokens&apos; losses over all micro-batches and ranks, and divide once by the number of all tokens.</source>
        <translation>先在每个微批次内平均、再对微批次平均，会让短样本与长样本权重相同；微批次不同，平均值也就不同。请对所有微批次和 rank 的 token 损失求和，再除以全部 token 数一次。</translation>
    </message>
    <message>
        <source>The micro-batch differs: %1 and %2 samples</source>
        <translation>微批次不同：%1 和 %2 个样本</translation>
    </message>
    <message>
        <source>The experts&apos; balancing loss and the tokens they may take are worked out inside a micro-batch, so its size changes the loss. Compare with the same micro-batch, or balance over the global batch.</source>
        <translation>专家的均衡损失和可接收的 token 数是在微批次内部计算的，因此微批次大小会改变损失。请用相同的微批次比较，或在全局批次上做均衡。</translation>
    </message>
    <message>
        <source>Statistics that are worked out inside a micro-batch change with its size: batch normalisation, also in an image encoder, and losses that contrast a batch&apos;s samples. LayerNorm and RMSNorm do not.</source>
        <translation>在微批次内部计算的统计量会随其大小变化：批归一化（图像编码器中的也算），以及对比批内样本的损失。LayerNorm 和 RMSNorm 不受影响。</translation>
    </message>
    <message>
        <source>The samples are dealt out to %1 and to %2 data-parallel ranks</source>
        <translation>样本分别分给 %1 个和 %2 个数据并行 rank</translation>
    </message>
    <message>
        <source>Where each rank reads a part of the data of its own, or shuffles with a seed of its own, another number of ranks puts other samples into a step.</source>
        <translation>如果每个 rank 读取各自的数据分片，或用各自的种子打乱，rank 数不同，一步中的样本就不同。</translation>
    </message>
    <message>
        <source>The plans differ in what is learned: %1</source>
        <translation>两个方案在学习内容上不同：%1</translation>
    </message>
    <message>
        <source>With these the losses have no reason to agree. Change them back, then compare what the split alone does.</source>
        <translation>有这些区别，损失没有理由一致。请先改回来，再单独比较切分的影响。</translation>
    </message>
    <message>
        <source>The same in both plans, so not the cause: %1</source>
        <translation>两个方案相同，因此不是原因：%1</translation>
    </message>
    <message>
        <source>What the plans do not tell: the seed and the order of the data, how the code averages over micro-batches and ranks, and whether these are the settings that ran.</source>
        <translation>方案没有说明的是：种子和数据顺序、代码如何对微批次和 rank 求平均，以及实际运行的是否就是这些设置。</translation>
    </message>
    <message>
        <source>Reentrant recompute may leave the vision tower without gradients</source>
        <translation>可重入重计算可能使视觉塔得不到梯度</translation>
    </message>
    <message>
        <source>The hook that makes inputs need gradients sits on the text embedding. Pixels need none and the tower&apos;s own layers are frozen below LoRA, so its reentrant segments may pass no gradients; use_reentrant: false does.</source>
        <translation>使输入需要梯度的钩子设在文本嵌入上。像素不需要梯度，而 LoRA 之下视觉塔自身的层是冻结的，因此其可重入片段可能不传递梯度；use_reentrant: false 则会传递。</translation>
    </message>
    <message>
        <source>The frozen vision tower may keep its activations all the same</source>
        <translation>冻结的视觉塔可能仍会保留激活值</translation>
    </message>
    <message>
        <source>Recompute over frozen layers is given inputs that need gradients. Where that hook reaches the tower&apos;s embedding, the tower keeps activations as if it were trained, and freezing it frees only gradients and optimizer state. use_reentrant: false needs no hook.</source>
        <translation>对冻结层重计算时，其输入被设为需要梯度。若该钩子作用到视觉塔的嵌入，视觉塔会像参与训练一样保留激活值，冻结只释放梯度和优化器状态。use_reentrant: false 不需要钩子。</translation>
    </message>
    <message>
        <source>“%1” does nothing at %3</source>
        <translation>“%1”在 %3 时不起作用</translation>
    </message>
    <message>
        <source>“%1” is %2, but at %3 there is nothing for it to do.</source>
        <translation>“%1”为 %2，但在 %3 时它无事可做。</translation>
    </message>
    <message>
        <source>“%1” is not applied</source>
        <translation>“%1”未被采用</translation>
    </message>
    <message>
        <source>“%1” is %2, but the program takes it and nothing comes of it.</source>
        <translation>“%1”为 %2，但程序读入后不作任何处理。</translation>
    </message>
    <message>
        <source>“%1” does not reach the vision tower</source>
        <translation>“%1”不作用于视觉塔</translation>
    </message>
    <message>
        <source>“%1” = %2 recomputes the language model; the vision tower keeps its activations.</source>
        <translation>“%1” = %2 只重计算语言模型；视觉塔仍保留其激活值。</translation>
    </message>
    <message>
        <source>“%1” = %2 recomputes the language model; the vision tower keeps its activations unless “%3” says otherwise.</source>
        <translation>“%1” = %2 只重计算语言模型；除非“%3”另有设定，视觉塔仍保留其激活值。</translation>
    </message>
    <message>
        <source>“%1” gathers the sharded weights once more</source>
        <translation>“%1”会多聚合一次分片的权重</translation>
    </message>
    <message>
        <source>With “%1” = %2 the repeated forward runs outside FSDP&apos;s wrapping and gathers every layer&apos;s weights a second time; “%3” saves the same memory without it.</source>
        <translation>当“%1” = %2 时，重做的前向在 FSDP 的包装之外运行，每层权重要再聚合一次；“%3”节省同样的显存而无此开销。</translation>
    </message>
    <message>
        <source>“%1” is an old name</source>
        <translation>“%1”是旧名称</translation>
    </message>
    <message>
        <source>“%1” = %2 is called “%3” today: a current version stops over it, and only older forks still go by it.</source>
        <translation>“%1” = %2 如今称为“%3”：当前版本遇到它会停止，只有较旧的分支仍采用它。</translation>
    </message>
    <message>
        <source>“%1” = %2 stops the run</source>
        <translation>“%1” = %2 会使运行停止</translation>
    </message>
    <message>
        <source>Neither Trainer nor accelerate fills in “%1”, so “%2” stays there and the run would not start. Write a value.</source>
        <translation>Trainer 和 accelerate 都不会填充“%1”，因此“%2”会原样保留，运行无法启动。请写入具体的值。</translation>
    </message>
    <message>
        <source>Selective recompute of core_attn spares the scores of attention, and %1 attention keeps none: it costs time and frees next to nothing. Versions before Megatron-LM&apos;s pull request 7237 keep the core&apos;s output as well.</source>
        <translation>core_attn 的选择性重计算省去的是注意力分数，而 %1 注意力本就不保留它们：耗费时间却几乎不释放显存。Megatron-LM 拉取请求 7237 之前的版本还会保留其输出。</translation>
    </message>
    <message>
        <source>stage %1: %2 allocated at its peak, a typical one %3</source>
        <translation>流水级 %1：峰值已分配 %2，一般的为 %3</translation>
    </message>
    <message>
        <source>by its estimate, %1 of device memory, this plan fits: what filled the rest is not in it</source>
        <translation>按估算此方案占设备显存 %1，放得下：占满其余显存的部分不在估算之内</translation>
    </message>
    <message>
        <source>no change of one or two settings would have fitted or come closer</source>
        <translation>改动一项或两项设置都放不下，也不会更接近</translation>
    </message>
    <message>
        <source>Let the allocator&apos;s segments grow</source>
        <translation>让分配器的内存段可以扩展</translation>
    </message>
    <message>
        <source>the run needed %1 more than its estimate of %2; what follows leaves that free</source>
        <translation>运行比估算的 %2 至少多需要 %1；下列方案都为此留出空间</translation>
    </message>
    <message>
        <source>One micro-batch would fit; stage %1 holds %2 at once</source>
        <translation>一个微批次放得下；流水级 %1 同时持有 %2 个</translation>
    </message>
    <message>
        <source>With several stages a micro-batch waits for its backward while others follow. Their activations take %1 beside the %2 of the one being worked on, and with them the stage needs %3 of %4.</source>
        <translation>流水线有多级时，一个微批次在等待反向期间，后面的微批次已经跟上。除正在处理的 %2 之外，它们的激活值还占 %1，合计该级需要 %3，而显存只有 %4。</translation>
    </message>
    <message>
        <source>%1 of the %2 reserved are beyond any peak in the log</source>
        <translation>已预留的 %2 中有 %1 超出日志中的任何峰值</translation>
    </message>
    <message>
        <source>The pool keeps what it once had, so either a moment that the log does not show needed it, or the free pieces were too small for what was asked: fragmentation, as tensors of changing sizes make it. Segments that can grow avoid that (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).</source>
        <translation>内存池会保留曾经取得的显存：要么日志没有显示的某一时刻用到了它，要么空闲块对当时的申请来说太小，也就是碎片，张量大小变化时就会这样。可扩展的内存段能避免碎片（PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True）。</translation>
    </message>
    <message>
        <source>The plans of both runs would tell more</source>
        <translation>有了两次运行的方案可以看出更多</translation>
    </message>
    <message>
        <source>Open the config of the second run and choose that of the first in Compare: then the causes are looked up in both.</source>
        <translation>打开第二次运行的配置，并在“比较”中选择第一次运行的配置：随后会在两者中查找原因。</translation>
    </message>
    <message>
        <source>open a log or a config first</source>
        <translation>请先打开日志或配置</translation>
    </message>
    <message>
        <source>“%1” is known only when the script runs: options in it are not seen here, and would win over those before it</source>
        <translation>“%1”只有在脚本运行时才能知道：其中的选项在此看不到，且会优先于它之前的选项</translation>
    </message>
    <message>
        <source>has no line with phase=, step= and peak_alloc=, and none of another log format that is known, so there is nothing to show</source>
        <translation>其中没有同时含 phase=、step= 和 peak_alloc= 的行，也没有其他已知日志格式的行，所以没有可显示的内容</translation>
    </message>
    <message>
        <source>Inferred from the log, not read in it</source>
        <translation>由日志推断，并非日志原文</translation>
    </message>
    <message>
        <source>%1 were asked for and %2 are free, but the process may take %3 only: a memory fraction is set.</source>
        <translation>申请 %1，空闲 %2，但进程最多只能使用 %3：设置了显存比例上限。</translation>
    </message>
    <message>
        <source>%1 were asked for while the allocator held %2 that no tensor used, in pieces too small: fragmentation. Try expandable_segments:True.</source>
        <translation>申请 %1 时，分配器持有 %2 未被张量使用的显存，但都是过小的碎块：属于碎片化。可尝试 expandable_segments:True。</translation>
    </message>
    <message>
        <source>%1 of the device are held outside PyTorch&apos;s allocator: other processes, the context or communication. %2 were asked for.</source>
        <translation>设备上有 %1 被 PyTorch 分配器之外的部分占用：其他进程、上下文或通信。申请了 %2。</translation>
    </message>
    <message>
        <source>A single block of %1 was asked for, a quarter of the device or more: one tensor is the problem, not their sum.</source>
        <translation>一次申请了 %1 的单个块，达到设备的四分之一或更多：问题在于某一个张量，而不是总量。</translation>
    </message>
    <message>
        <source>%1 were asked for on top of %2 in tensors: the device is full.</source>
        <translation>申请 %1，而张量已占 %2：设备已满。</translation>
    </message>
    <message>
        <source>The machine&apos;s own memory is suspected, not the GPU&apos;s: the process was killed (%1).</source>
        <translation>怀疑是主机内存不足而非显存不足：进程被终止（%1）。</translation>
    </message>
    <message>
        <source>%1 were asked for. The message does not say how much was allocated, so the cause stays open.</source>
        <translation>申请了 %1。该消息没有说明已分配多少，原因无法确定。</translation>
    </message>
    <message>
        <source>The message has no sizes, so the cause stays open.</source>
        <translation>该消息没有给出大小，原因无法确定。</translation>
    </message>
    <message>
        <source>a gradient buffer in 32 bits of the %1 parameters the log names</source>
        <translation>日志所列 %1 个参数的 32 位梯度缓冲区</translation>
    </message>
    <message>
        <source>a gradient buffer in 16 bits of the %1 parameters the log names</source>
        <translation>日志所列 %1 个参数的 16 位梯度缓冲区</translation>
    </message>
    <message>
        <source>“%1” is not a model known here; its sizes are in its config.json</source>
        <translation>此处不认识模型“%1”；它的各项大小在它的 config.json 中</translation>
    </message>
    <message>
        <source>The log looks as if recompute is off</source>
        <translation>从日志看，重计算似乎没有开启</translation>
    </message>
    <message>
        <source>The log looks as if every layer is recomputed</source>
        <translation>从日志看，似乎每一层都做了重计算</translation>
    </message>
    <message>
        <source>The log looks as if attention stores its scores</source>
        <translation>从日志看，注意力似乎保存了分数矩阵</translation>
    </message>
    <message>
        <source>The log looks as if attention does not store its scores</source>
        <translation>从日志看，注意力似乎没有保存分数矩阵</translation>
    </message>
    <message>
        <source>The log looks as if the loss is fused</source>
        <translation>从日志看，损失似乎是融合计算的</translation>
    </message>
    <message>
        <source>The log looks as if the loss is not fused</source>
        <translation>从日志看，损失似乎不是融合计算的</translation>
    </message>
    <message>
        <source>The log looks as if the optimizer&apos;s state is sharded</source>
        <translation>从日志看，优化器状态似乎做了切分</translation>
    </message>
    <message>
        <source>The log looks as if the optimizer&apos;s state is not sharded</source>
        <translation>从日志看，优化器状态似乎没有切分</translation>
    </message>
    <message>
        <source>The log looks as if sequence parallelism is on</source>
        <translation>从日志看，序列并行似乎已开启</translation>
    </message>
    <message>
        <source>The log looks as if sequence parallelism is off</source>
        <translation>从日志看，序列并行似乎没有开启</translation>
    </message>
    <message>
        <source>The log looks as if the schedule is 1F1B</source>
        <translation>从日志看，调度似乎是 1F1B</translation>
    </message>
    <message>
        <source>The log looks as if the schedule is GPipe</source>
        <translation>从日志看，调度似乎是 GPipe</translation>
    </message>
    <message>
        <source>estimate %1</source>
        <translation>估算 %1</translation>
    </message>
    <message>
        <source>%1 × the time for the same samples</source>
        <translation>处理相同样本的时间为 %1 倍</translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>working set</source>
        <translation>临时张量</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>capacity %1</source>
        <translation>容量 %1</translation>
    </message>
    <message>
        <source>Memory of each pipeline stage</source>
        <translation>每个流水线级的显存</translation>
    </message>
    <message>
        <source>unused cache</source>
        <translation>未用的缓存</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>流水级 %1</translation>
    </message>
    <message>
        <source>Allocated peak of each phase over the steps</source>
        <translation>各阶段的已分配峰值随步数的变化</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Plan with that setting</source>
        <translation>按该设置规划</translation>
    </message>
    <message>
        <source>Reference model not given: a frozen copy of the whole model taken</source>
        <translation>未给出参考模型：按整个模型的冻结副本计算</translation>
    </message>
    <message>
        <source>reference model</source>
        <translation>参考模型</translation>
    </message>
    <message>
        <source>%1 is none of these: %2</source>
        <translation>%1 不是其中之一：%2</translation>
    </message>
    <message>
        <source>%1 layers with a state space or delta net</source>
        <translation>%1 个状态空间层或 delta 网络层</translation>
    </message>
    <message>
        <source>%1 MLP layers</source>
        <translation>%1 个 MLP 层</translation>
    </message>
    <message>
        <source>mixer projection</source>
        <translation>混合层投影</translation>
    </message>
    <message>
        <source>scan output</source>
        <translation>扫描输出</translation>
    </message>
    <message>
        <source>scan workspace</source>
        <translation>扫描工作区</translation>
    </message>
    <message>
        <source>“%1” is no layer of a pattern: those are M (Mamba-2), G (gated delta net), * (attention), - (MLP) and E (experts)</source>
        <translation>“%1”不是层模式中的层：可用的有 M（Mamba-2）、G（门控 delta 网络）、*（注意力）、-（MLP）和 E（专家）</translation>
    </message>
    <message>
        <source>layers of the type “%1” are not described</source>
        <translation>没有对“%1”类型的层的描述</translation>
    </message>
    <message>
        <source>the pattern has %1 layers, the model %2</source>
        <translation>层模式有 %1 层，而模型有 %2 层</translation>
    </message>
    <message>
        <source>“%1” is no place of one of %2 layers</source>
        <translation>“%1”不是 %2 个层中某一层的位置</translation>
    </message>
    <message>
        <source>the pattern of layers is longer than any model</source>
        <translation>层模式比任何模型都长</translation>
    </message>
    <message>
        <source>the multi-token predictions of a pattern differ</source>
        <translation>层模式中的各个多 token 预测不相同</translation>
    </message>
    <message>
        <source>the pattern of layers is empty</source>
        <translation>层模式是空的</translation>
    </message>
    <message>
        <source>%1 is not said in this file but in the environment that the run is started in: %2</source>
        <translation>%1 不在此文件中设定，而在启动训练的环境中设定：%2</translation>
    </message>
    <message>
        <source>“%1” can&apos;t say that %2 is %3</source>
        <translation>“%1”无法表示 %2 为 %3</translation>
    </message>
    <message>
        <source>“%1” is not a transform; there are not, size, count, first, any, names, starts and workspace</source>
        <translation>“%1”不是一种转换；可用的有 not、size、count、first、any、names、starts 和 workspace</translation>
    </message>
    <message>
        <source>%1 layers are too many to freeze parts of them</source>
        <translation>层数 %1 过多，无法只冻结其中的部分</translation>
    </message>
    <message>
        <source>a part of the image encoder would be frozen: no tape has that, freeze all of it or nothing</source>
        <translation>将只冻结图像编码器的一部分：没有操作记录描述这种情况，请全部冻结或全部不冻结</translation>
    </message>
    <message>
        <source>some experts of a layer would be frozen and others not: no tape has that, freeze all of them or none</source>
        <translation>同一层中将有部分专家被冻结：没有操作记录描述这种情况，请全部冻结或全部不冻结</translation>
    </message>
    <message>
        <source>a regular expression takes too long to look for in “%1”</source>
        <translation>在“%1”中查找正则表达式耗时过长</translation>
    </message>
    <message>
        <source>%1 were asked for while the allocator held %2 that no tensor used, in pieces too small, though its segments can grow (%3): less memory has to be needed.</source>
        <translation>申请 %1 时，分配器持有 %2 未被任何张量使用，但都是过小的碎块；其内存段已可扩展（%3），因此只能减少所需的显存。</translation>
    </message>
    <message>
        <source>activations fill it there: a smaller micro-batch and recompute help most</source>
        <translation>此时占满显存的是激活值：减小微批次和重计算最有效</translation>
    </message>
    <message>
        <source>activations and gradients are alive together there: recompute helps most</source>
        <translation>此时激活值与梯度同时存在：重计算最有效</translation>
    </message>
    <message>
        <source>static state fills it there; the micro-batch hardly matters, sharding or lower precision does</source>
        <translation>此时占满显存的是静态状态：微批次影响很小，分片或降低精度才有效</translation>
    </message>
    <message>
        <source>a regular expression of %1 characters is too long</source>
        <translation>%1 个字符的正则表达式过长</translation>
    </message>
    <message>
        <source>“%1” is not a regular expression: %2 at its character %3</source>
        <translation>“%1”不是正则表达式：第 %3 个字符处 %2</translation>
    </message>
    <message>
        <source>%1 were asked for on top of %2 in tensors: the device is full. The %3 that the allocator holds besides are in pieces too small.</source>
        <translation>申请 %1，而张量已占 %2：设备已满。分配器另外持有的 %3 都是过小的碎块。</translation>
    </message>
    <message>
        <source>ZeRO&apos;s stage 1 is Megatron&apos;s distributed optimizer: set shard.dist_opt in place of shard.zero_stage</source>
        <translation>ZeRO 第 1 级在 Megatron 中就是分布式优化器：请设置 shard.dist_opt 来代替 shard.zero_stage</translation>
    </message>
    <message>
        <source>Megatron shards gradients and weights by its FSDP: set shard.fsdp in place of shard.zero_stage</source>
        <translation>Megatron 通过 FSDP 切分梯度和权重：请设置 shard.fsdp 来代替 shard.zero_stage</translation>
    </message>
    <message>
        <source>Megatron&apos;s FSDP is described for Transformer Engine&apos;s layers: set implementation.profile to megatron-te</source>
        <translation>Megatron 的 FSDP 只支持 Transformer Engine 的层：请把 implementation.profile 设为 megatron-te</translation>
    </message>
    <message>
        <source>Megatron keeps its weights on the GPU: leave shard.offload_params out</source>
        <translation>Megatron 的权重保留在 GPU 上：请去掉 shard.offload_params</translation>
    </message>
    <message>
        <source>Megatron has neither Adafactor nor 8-bit optimizers: set optimizer.name to adam, sgd or muon</source>
        <translation>Megatron 没有 Adafactor 和 8 位优化器：请把 optimizer.name 设为 adam、sgd 或 muon</translation>
    </message>
    <message>
        <source>LoRA under Megatron is described for Transformer Engine&apos;s layers (megatron-te) in 16 or 32 bits, without multi-token prediction, split backward passes and adapters of the embedding</source>
        <translation>Megatron 下的 LoRA 只支持 Transformer Engine 的层（megatron-te），16 或 32 位，不含多 token 预测、拆分的反向和词嵌入的适配器</translation>
    </message>
    <message>
        <source>the profile %1 describes no encoder models; megatron-te does (implementation.profile)</source>
        <translation>实现方案 %1 不支持仅编码器模型；megatron-te 支持（implementation.profile）</translation>
    </message>
    <message>
        <source>the profile %1 describes encoder-decoder models without pipelines, sequence parallelism, images, experts, latent attention and parallel blocks</source>
        <translation>实现方案 %1 只支持不带流水线、序列并行、图像、专家、潜在注意力和并行块的编码器-解码器模型</translation>
    </message>
    <message>
        <source>the profile %1 does not describe images of unknown size: give vision.tokens_per_image</source>
        <translation>实现方案 %1 不支持大小未知的图像：请给出 vision.tokens_per_image</translation>
    </message>
    <message>
        <source>the profile %1 does not describe an image encoder without a projector: give projector.type</source>
        <translation>实现方案 %1 不支持没有投影层的图像编码器：请给出 projector.type</translation>
    </message>
    <message>
        <source>the profile %1 does not describe features of inner layers from several stages: set parallel.encoder_pp to 1</source>
        <translation>实现方案 %1 不支持来自多个流水线级的内层特征：请把 parallel.encoder_pp 设为 1</translation>
    </message>
    <message>
        <source>the experts of %1 have no capacity that drops tokens: unset moe.capacity_factor</source>
        <translation>%1 的专家没有会丢弃 token 的容量：请去掉 moe.capacity_factor</translation>
    </message>
    <message>
        <source>nothing is left to train: see frozen.patterns, frozen.trained, frozen.trained_layers and frozen.ratio</source>
        <translation>没有剩下可训练的部分：请检查 frozen.patterns、frozen.trained、frozen.trained_layers 和 frozen.ratio</translation>
    </message>
    <message>
        <source>the profile %1 describes 1f1b, gpipe and interleaved pipelines, not this schedule: set parallel.schedule to one of them</source>
        <translation>实现方案 %1 支持 1f1b、gpipe 和交错流水线，不支持这种调度：请把 parallel.schedule 设为其中之一</translation>
    </message>
    <message>
        <source>%1 does not split tensors: set parallel.tp to 1 and shard the weights (shard.fsdp, shard.zero_stage)</source>
        <translation>%1 不切分张量：请把 parallel.tp 设为 1，改为切分权重（shard.fsdp、shard.zero_stage）</translation>
    </message>
    <message>
        <source>the profile %1 does not describe a vocabulary split over other ranks than the layers: leave parallel.vocab_tp out</source>
        <translation>实现方案 %1 不支持词表与各层按不同 rank 切分：请去掉 parallel.vocab_tp</translation>
    </message>
    <message>
        <source>shard.dist_opt is Megatron&apos;s optimizer, which %1 does not have: set shard.zero_stage or shard.fsdp</source>
        <translation>shard.dist_opt 是 Megatron 的优化器，%1 没有：请设置 shard.zero_stage 或 shard.fsdp</translation>
    </message>
    <message>
        <source>under %1 only DeepSpeed&apos;s stage 3 offloads a part of the state: set shard.zero_stage to 3, or leave shard.offload_optimizer_fraction out</source>
        <translation>在 %1 下只有 DeepSpeed 的第 3 级能卸载部分状态：请把 shard.zero_stage 设为 3，或去掉 shard.offload_optimizer_fraction</translation>
    </message>
    <message>
        <source>%1 offloads all that the blocks save: leave shard.offload_activation_layers, …_modules and …_fraction out</source>
        <translation>%1 会卸载各块保存的全部内容：请去掉 shard.offload_activation_layers、…_modules 和 …_fraction</translation>
    </message>
    <message>
        <source>%1 offloads what blocks save or recomputes some of it, not both: leave shard.offload_activations or the selective recompute out</source>
        <translation>%1 要么卸载各块保存的内容，要么重计算其中一部分，不能同时进行：请去掉 shard.offload_activations 或选择性重计算</translation>
    </message>
    <message>
        <source>%1 has no policy for selective recompute: name recompute.modules, or give recompute.num_layers or recompute.fraction</source>
        <translation>%1 没有选择性重计算的策略：请写明 recompute.modules，或给出 recompute.num_layers 或 recompute.fraction</translation>
    </message>
    <message>
        <source>the profile %1 recomputes core_attn, self_attn, mlp, norm, moe, mlp_act and moe_act; recompute.modules names something else</source>
        <translation>实现方案 %1 可重计算 core_attn、self_attn、mlp、norm、moe、mlp_act 和 moe_act；recompute.modules 写了别的名称</translation>
    </message>
    <message>
        <source>%1 recomputes layer by layer, not several together: leave recompute.num_layers out, or set recompute.method to block for so many layers</source>
        <translation>%1 逐层重计算，不会多层一起：请去掉 recompute.num_layers，或把 recompute.method 设为 block 以重计算这么多层</translation>
    </message>
    <message>
        <source>this loss is Megatron&apos;s: %1 has none, liger, chunked and 16bit (implementation.fused_loss)</source>
        <translation>这是 Megatron 的损失实现：%1 可用 none、liger、chunked 和 16bit（implementation.fused_loss）</translation>
    </message>
    <message>
        <source>%1 has no pipeline parallelism: set parallel.pp to 1, or implementation.profile to one that has (torchtitan, nanotron, internevo, galvatron, megatron-te)</source>
        <translation>%1 没有流水线并行：请把 parallel.pp 设为 1，或把 implementation.profile 设为有流水线的方案（torchtitan、nanotron、internevo、galvatron、megatron-te）</translation>
    </message>
    <message>
        <source>more configs, or a higher reference, than there are runs</source>
        <translation>给出的配置或基准序号多于运行次数</translation>
    </message>
    <message>
        <source>no file of the format “%1” can be written; there are %2</source>
        <translation>无法写出格式为“%1”的文件；可用的有 %2</translation>
    </message>
    <message>
        <source>--margin %1 is not a share such as 5%</source>
        <translation>--margin %1 不是像 5% 这样的比例</translation>
    </message>
    <message>
        <source>name the GPU (--gpu) or its memory (--capacity) that it has to fit</source>
        <translation>请用 --gpu 指定 GPU，或用 --capacity 指定显存</translation>
    </message>
    <message>
        <source>the log has no memory measurements</source>
        <translation>日志没有显存测量</translation>
    </message>
    <message>
        <source>the log&apos;s list of arguments is not whole; taken as Megatron-LM&apos;s defaults: %1</source>
        <translation>日志中的参数列表不完整；按 Megatron-LM 的默认值取：%1</translation>
    </message>
    <message>
        <source>the log lists no arguments that describe a model; give one with --model</source>
        <translation>日志没有列出描述模型的参数；请用 --model 指定</translation>
    </message>
    <message>
        <source>%1 = %2 is assumed; give another with --set %1=…</source>
        <translation>假定 %1 = %2；用 --set %1=… 给出其他值</translation>
    </message>
    <message>
        <source>“%1” is not of the form key=value</source>
        <translation>“%1”不是 键=值 的形式</translation>
    </message>
    <message>
        <source>no config is given, and no model with --model</source>
        <translation>没有给出配置，也没有用 --model 指定模型</translation>
    </message>
    <message>
        <source>no line has phase=, step= and peak_alloc= or is of another log format that is known (lines read: %1)</source>
        <translation>没有任何一行含 phase=、step= 和 peak_alloc=，也不属于其他已知的日志格式（读了 %1 行）</translation>
    </message>
    <message>
        <source>“%1” is neither a key of this file nor a field Headroom knows</source>
        <translation>“%1”既不是此文件的键，也不是 Headroom 认识的字段</translation>
    </message>
    <message>
        <source>this file builds on a recipe of its framework&apos;s library, which is not here: what the file does not set itself is taken as the framework&apos;s default, and the recipe may say otherwise</source>
        <translation>此文件建立在框架库的配方（recipe）之上，而配方不在这里：文件自己没有设置的取框架默认值，配方可能另有规定</translation>
    </message>
    <message>
        <source>Kernels of the state spaces taken as installed: without them much more is kept</source>
        <translation>假定已安装状态空间模型的算子库：否则保留的要多得多</translation>
    </message>
    <message>
        <source>Kernels of the delta nets taken as installed: without them much more is kept</source>
        <translation>假定已安装 delta 网络的算子库：否则保留的要多得多</translation>
    </message>
    <message>
        <source>LoRA of rank %1: trains less, adapters only</source>
        <translation>秩为 %1 的 LoRA：训练的更少，只有适配器</translation>
    </message>
    <message>
        <source>QLoRA of rank %1: trains less, adapters over weights in 4 bits</source>
        <translation>秩为 %1 的 QLoRA：训练的更少，4 位权重上的适配器</translation>
    </message>
    <message>
        <source>The run reserved %1 less than estimated</source>
        <translation>运行的预留比估算少 %1</translation>
    </message>
    <message>
        <source>The run reserved %1 more than estimated</source>
        <translation>运行的预留比估算多 %1</translation>
    </message>
    <message>
        <source>The log has reserved amounts only: at most %1, where %2 to %3 are estimated, with what the allocator keeps in pieces. See whether the config is the one that ran, whether samples are as long as it says, and which implementation runs.</source>
        <translation>日志只有已预留的数量：最多 %1，而连同分配器的碎片估算为 %2 到 %3。请确认运行的是否就是这份配置、样本是否与其中写的一样长，以及运行的是哪种实现。</translation>
    </message>
    <message>
        <source>would have fitted, with a peak of %1:</source>
        <translation>这样本来放得下，峰值 %1：</translation>
    </message>
    <message>
        <source>no change of one or two settings would have fitted; the closest needs %1:</source>
        <translation>改动一项或两项设置都放不下；最接近的需要 %1：</translation>
    </message>
    <message>
        <source>The log&apos;s list of arguments is not whole: %1 settings are defaults</source>
        <translation>日志中的参数列表不完整：%1 项设置取默认值</translation>
    </message>
    <message>
        <source>What the list does not name is taken to be what Megatron-LM does without the argument. A script that sets it otherwise needs another amount: open the script beside the log, or set what differs.</source>
        <translation>列表没有列出的，按 Megatron-LM 不带该参数时的行为取值。脚本若另有设置，所需显存就不同：请把脚本与日志一起打开，或设置不同的项。</translation>
    </message>
    <message>
        <source>the profile %1 freezes an encoder-decoder model as a whole (frozen.llm), not by name, layer or share</source>
        <translation>实现方案 %1 只能整体冻结编码器-解码器模型（frozen.llm），不支持按名称、层或比例冻结</translation>
    </message>
    <message>
        <source>FSDP&apos;s version not given: the first taken, as accelerate does</source>
        <translation>未给出 FSDP 的版本：按第一代计算，与 accelerate 的默认一致</translation>
    </message>
    <message>
        <source>Megatron&apos;s tapes describe projectors of linear layers, no resamplers and perceivers: set projector.type to linear, mlp, patch_merger or pixel_shuffle</source>
        <translation>Megatron 的分步模型支持由线性层组成的投影层，不支持 resampler 和 perceiver：请把 projector.type 设为 linear、mlp、patch_merger 或 pixel_shuffle</translation>
    </message>
    <message>
        <source>an encoder on stages of its own is described with 1f1b and gpipe and one chunk a stage: see parallel.encoder_pp, parallel.schedule and parallel.vpp</source>
        <translation>独占若干级的编码器只支持 1f1b 和 gpipe、每级一个模型块：参见 parallel.encoder_pp、parallel.schedule 和 parallel.vpp</translation>
    </message>
    <message>
        <source>features of inner layers come from one stage of the encoder: set parallel.encoder_pp to 1</source>
        <translation>内层特征只来自编码器的一级：请把 parallel.encoder_pp 设为 1</translation>
    </message>
    <message>
        <source>an encoder on every stage is not described under schedules that hold the layers twice: set parallel.schedule to another, or leave parallel.encoder_placement out</source>
        <translation>在把各层保存两份的调度下，不支持每级都有的编码器：请换用其他 parallel.schedule，或去掉 parallel.encoder_placement</translation>
    </message>
    <message>
        <source>nothing is left to train: see frozen.llm, frozen.vision and frozen.projector</source>
        <translation>没有可训练的部分：参见 frozen.llm、frozen.vision 和 frozen.projector</translation>
    </message>
    <message>
        <source>a frozen language model has nothing to train without adapters or an encoder: see frozen.llm and lora.rank</source>
        <translation>冻结的语言模型既没有适配器也没有编码器，没有可训练的部分：参见 frozen.llm 和 lora.rank</translation>
    </message>
    <message>
        <source>Muon&apos;s state is described on the GPU: leave shard.offload_optimizer out, or set optimizer.name to adam</source>
        <translation>Muon 的状态只支持放在 GPU 上：请去掉 shard.offload_optimizer，或把 optimizer.name 设为 adam</translation>
    </message>
    <message>
        <source>a vocabulary over the stages is described for decoders on 1f1b pipelines, without images, multi-token prediction, explicit layouts and deferred gradients of weights: leave parallel.vocab_split out</source>
        <translation>词表分到各级只支持 1f1b 流水线上的解码器，不能有图像、多 token 预测、显式布局和推迟的权重梯度：请去掉 parallel.vocab_split</translation>
    </message>
    <message>
        <source>Megatron splits the vocabulary over the ranks of tensor parallelism: leave parallel.vocab_tp out</source>
        <translation>Megatron 在张量并行的各 rank 之间切分词表：请去掉 parallel.vocab_tp</translation>
    </message>
    <message>
        <source>Megatron keeps the inputs of recomputed layers on the GPU: leave recompute.offload_inputs out</source>
        <translation>Megatron 把重计算层的输入保留在 GPU 上：请去掉 recompute.offload_inputs</translation>
    </message>
    <message>
        <source>Megatron offloads activations of decoders whose layers are not recomputed and whose backward is one pass: leave shard.offload_activations out, or see recompute.granularity and parallel.schedule</source>
        <translation>Megatron 只卸载各层不做重计算、反向不拆分的解码器的激活值：请去掉 shard.offload_activations，或参见 recompute.granularity 和 parallel.schedule</translation>
    </message>
    <message>
        <source>multi-token prediction is described for Transformer Engine&apos;s layers: set implementation.profile to megatron-te</source>
        <translation>多 token 预测只支持 Transformer Engine 的层：请把 implementation.profile 设为 megatron-te</translation>
    </message>
    <message>
        <source>multi-token prediction is described for decoders without images: set model.mtp_layers to 0</source>
        <translation>多 token 预测只支持没有图像的解码器：请把 model.mtp_layers 设为 0</translation>
    </message>
    <message>
        <source>a classifier is described on decoders without multi-token prediction and a split vocabulary: see objective.type, model.mtp_layers and parallel.vocab_split</source>
        <translation>分类头只支持没有多 token 预测、词表不跨级切分的解码器：参见 objective.type、model.mtp_layers 和 parallel.vocab_split</translation>
    </message>
    <message>
        <source>Megatron runs the MLP behind attention, not beside it: leave model.parallel_block out</source>
        <translation>Megatron 的 MLP 在注意力之后运行，而不是与之并列：请去掉 model.parallel_block</translation>
    </message>
    <message>
        <source>encoder-decoder models are described on one pipeline stage: set parallel.pp to 1</source>
        <translation>编码器-解码器模型只支持一级流水线：请把 parallel.pp 设为 1</translation>
    </message>
    <message>
        <source>explicit layouts are described where the backward is one pass: leave parallel.layout out, or set parallel.schedule to 1f1b or interleaved</source>
        <translation>显式布局只支持反向不拆分的调度：请去掉 parallel.layout，或把 parallel.schedule 设为 1f1b 或 interleaved</translation>
    </message>
    <message>
        <source>Muon is not described under Megatron&apos;s FSDP: set optimizer.name to adam, or shard.dist_opt in place of shard.fsdp</source>
        <translation>尚不支持 Megatron 的 FSDP 下的 Muon：请把 optimizer.name 设为 adam，或设置 shard.dist_opt 来代替 shard.fsdp</translation>
    </message>
    <message>
        <source>weights in 8 bits are not described under Megatron&apos;s FSDP: leave precision.fp8_params out, or set shard.dist_opt in place of shard.fsdp</source>
        <translation>尚不支持 Megatron 的 FSDP 下的 8 位权重：请去掉 precision.fp8_params，或设置 shard.dist_opt 来代替 shard.fsdp</translation>
    </message>
    <message>
        <source>adapters on experts are not described under Megatron&apos;s FSDP: set shard.dist_opt in place of shard.fsdp</source>
        <translation>尚不支持 Megatron 的 FSDP 下专家上的适配器：请设置 shard.dist_opt 来代替 shard.fsdp</translation>
    </message>
    <message>
        <source>encoder-decoder models are not described under Megatron&apos;s FSDP: set shard.dist_opt in place of shard.fsdp</source>
        <translation>尚不支持 Megatron 的 FSDP 下的编码器-解码器模型：请设置 shard.dist_opt 来代替 shard.fsdp</translation>
    </message>
    <message>
        <source>%1 has no linear layers in 8 bits: leave precision.fp8 out</source>
        <translation>%1 没有 8 位的线性层：请去掉 precision.fp8</translation>
    </message>
    <message>
        <source>the linear layers of %1 compute in 8 bits by torchao&apos;s recipes: set precision.fp8 to tensorwise, rowwise, rowwise_with_gw_hp or mxfp8</source>
        <translation>%1 的线性层按 torchao 的配方做 8 位计算：请把 precision.fp8 设为 tensorwise、rowwise、rowwise_with_gw_hp 或 mxfp8</translation>
    </message>
    <message>
        <source>the linear layers of %1 compute in 8 bits by Transformer Engine&apos;s recipes: set precision.fp8 to delayed, blockwise or mxfp8</source>
        <translation>%1 的线性层按 Transformer Engine 的配方做 8 位计算：请把 precision.fp8 设为 delayed、blockwise 或 mxfp8</translation>
    </message>
    <message>
        <source>%1 computes with quantised weights in 16 bits: leave precision.fp8 or the quantised precision.params out</source>
        <translation>%1 用量化权重时以 16 位计算：请去掉 precision.fp8 或量化的 precision.params</translation>
    </message>
    <message>
        <source>%1 keeps weights in 16 or 32 bits and gathers them in 8 under the second FSDP (shard.fsdp_version 2) with precision.fp8 set to tensorwise: leave precision.fp8_params out</source>
        <translation>%1 以 16 或 32 位保存权重，只有在第二代 FSDP（shard.fsdp_version 为 2）下且 precision.fp8 为 tensorwise 时才以 8 位收集：请去掉 precision.fp8_params</translation>
    </message>
    <message>
        <source>%1 has no hybrid layers: set implementation.profile to hf-sdpa, torchtitan or megatron-te</source>
        <translation>%1 没有混合层：请把 implementation.profile 设为 hf-sdpa、torchtitan 或 megatron-te</translation>
    </message>
    <message>
        <source>the halves of hybrid layers of %1 follow one another: leave model.parallel_block out</source>
        <translation>%1 的混合层的两半依次运行：请去掉 model.parallel_block</translation>
    </message>
    <message>
        <source>stage %1, estimated: %2 allocated at its peak in forward</source>
        <translation>流水级 %1，估算：峰值在前向，已分配 %2</translation>
    </message>
    <message>
        <source>stage %1, estimated: %2 allocated at its peak in backward</source>
        <translation>流水级 %1，估算：峰值在反向，已分配 %2</translation>
    </message>
    <message>
        <source>stage %1, estimated: %2 allocated at its peak in the optimizer</source>
        <translation>流水级 %1，估算：峰值在优化器，已分配 %2</translation>
    </message>
    <message>
        <source>it failed in forward</source>
        <translation>在前向中失败</translation>
    </message>
    <message>
        <source>it failed in backward</source>
        <translation>在反向中失败</translation>
    </message>
    <message>
        <source>it failed in the optimizer</source>
        <translation>在优化器中失败</translation>
    </message>
    <message>
        <source>--set %1: no such field; headroom-cli fields lists them</source>
        <translation>--set %1：没有这个字段；headroom-cli fields 会列出所有字段</translation>
    </message>
    <message>
        <source>--set %1: no such field; did you mean %2?</source>
        <translation>--set %1：没有这个字段；您是指 %2 吗？</translation>
    </message>
    <message>
        <source>“%1” is not one of the values of %2: %3</source>
        <translation>“%1”不是 %2 的可用值：%3</translation>
    </message>
    <message>
        <source>Weights in 16 bits beside fp32 ones</source>
        <translation>fp32 权重旁的 16 位副本</translation>
    </message>
    <message>
        <source>2 × elements of matrices</source>
        <translation>2 × 矩阵元素数</translation>
    </message>
    <message>
        <source>Gathered in forward</source>
        <translation>前向中收集的权重</translation>
    </message>
    <message>
        <source>weights of two layers, of tables</source>
        <translation>两层的权重与词表</translation>
    </message>
    <message>
        <source>Gathered in backward</source>
        <translation>反向中收集的部分</translation>
    </message>
    <message>
        <source>these + a layer&apos;s gradients, and those being reduced</source>
        <translation>以上 + 一层的梯度及正在归约的梯度</translation>
    </message>
    <message>
        <source>Mixers spread over ranks as Megatron-LM&apos;s, as the framework has no way of its own: whole ones take more</source>
        <translation>混合器按 Megatron-LM 的方式分布到各 rank，因为该框架没有自己的方式：若每个 rank 都保存完整的混合器，则占用更多</translation>
    </message>
    <message>
        <source>%1 has no gated attention: set implementation.profile to hf-sdpa, torchtitan or megatron-te</source>
        <translation>%1 没有门控注意力：请把 implementation.profile 设为 hf-sdpa、torchtitan 或 megatron-te</translation>
    </message>
    <message>
        <source>the state spaces of the first Mamba read whole sequences under %1, which no framework spreads: set parallel.cp to 1</source>
        <translation>在 %1 下，第一代 Mamba 的状态空间读取完整序列，没有框架会切分它：请把 parallel.cp 设为 1</translation>
    </message>
    <message>
        <source>under %1 the heads of mixers are split over parallel.tp × parallel.cp ranks: choose those so that they divide mixer.heads, mixer.key_heads and mixer.groups</source>
        <translation>在 %1 下，混合器的头分布到 parallel.tp × parallel.cp 个 rank 上：请使其能整除 mixer.heads、mixer.key_heads 和 mixer.groups</translation>
    </message>
    <message>
        <source>Whole gradients</source>
        <translation>未切分的梯度</translation>
    </message>
    <message>
        <source>elements that train × bytes, until the last micro-batch&apos;s are reduced</source>
        <translation>可训练元素数 × 字节数，直到最后一个微批次的梯度归约为止</translation>
    </message>
    <message>
        <source>Value model not given: a second model that trains with the policy taken, as in TRL</source>
        <translation>未给出价值模型：按 TRL 的做法，以与策略一同训练的第二个模型计算</translation>
    </message>
    <message>
        <source>Reward model not given: a frozen model of the policy&apos;s size taken, as in TRL</source>
        <translation>未给出奖励模型：按 TRL 的做法，以与策略同样大小的冻结模型计算</translation>
    </message>
    <message>
        <source>Length of generated responses not given: no memory for generating taken</source>
        <translation>未给出生成回复的长度：不计生成所需的显存</translation>
    </message>
    <message>
        <source>under Megatron value and reward models are on GPUs of their own: set objective.value and objective.reward to none</source>
        <translation>在 Megatron 下，价值模型和奖励模型位于另外的 GPU 上：请把 objective.value 和 objective.reward 设为 none</translation>
    </message>
    <message>
        <source>keys and values of generated text</source>
        <translation>生成文本的键和值</translation>
    </message>
    <message>
        <source>the profile %1 describes resamplers of one layer: set projector.layers to 1</source>
        <translation>实现方案 %1 支持单层的重采样器：请把 projector.layers 设为 1</translation>
    </message>
    <message>
        <source>the profile %1 does not split experts in a narrower space: set parallel.tp to 1</source>
        <translation>实现方案 %1 不切分低维空间中的专家：请把 parallel.tp 设为 1</translation>
    </message>
    <message>
        <source>the profile %1 does not describe tensor parallelism beside experts that are spread over ranks: set parallel.tp or parallel.ep to 1</source>
        <translation>实现方案 %1 不支持专家分布到各 rank 时的张量并行：请把 parallel.tp 或 parallel.ep 设为 1</translation>
    </message>
    <message>
        <source>%1 leaves experts whole or splits them over all ranks of tensor parallelism: set parallel.etp to 1 or to parallel.tp</source>
        <translation>%1 要么不切分专家，要么在张量并行的所有 rank 之间切分：请把 parallel.etp 设为 1 或与 parallel.tp 相同</translation>
    </message>
    <message>
        <source>%1 splits experts as all other layers: leave parallel.etp out</source>
        <translation>%1 像其他层一样切分专家：请去掉 parallel.etp</translation>
    </message>
    <message>
        <source>the profile %1 describes no value and reward models: set objective.value and objective.reward to none, or implementation.profile to hf-sdpa or hf-flash</source>
        <translation>实现方案 %1 不支持价值模型和奖励模型：请把 objective.value 和 objective.reward 设为 none，或把 implementation.profile 设为 hf-sdpa 或 hf-flash</translation>
    </message>
    <message>
        <source>value and reward models are described beside decoders without images, with an output layer: set objective.value and objective.reward to none</source>
        <translation>价值模型和奖励模型仅支持带输出层、不含图像的解码器：请把 objective.value 和 objective.reward 设为 none</translation>
    </message>
    <message>
        <source>a value model of its own trains as a whole, which quantised weights do not: set objective.value to head, or precision.params to another type</source>
        <translation>独立的价值模型整体训练，而量化权重不能训练：请把 objective.value 设为 head，或把 precision.params 设为其他类型</translation>
    </message>
    <message>
        <source>a value model of its own is described beside a policy that trains as a whole or by adapters: leave frozen.patterns, frozen.trained, frozen.trained_layers and frozen.ratio out</source>
        <translation>独立的价值模型仅支持整体训练或用适配器训练的策略模型：请去掉 frozen.patterns、frozen.trained、frozen.trained_layers 和 frozen.ratio</translation>
    </message>
    <message>
        <source>a reward model of adapters needs a policy with adapters: give lora.rank, or set objective.reward to separate</source>
        <translation>以适配器为奖励模型时，策略模型也须有适配器：请给出 lora.rank，或把 objective.reward 设为 separate</translation>
    </message>
    <message>
        <source>the profile %1 describes this schedule without recomputation, torch.compile and offloaded activations: leave them out, or set parallel.schedule to 1f1b or interleaved</source>
        <translation>配置档 %1 只描述不带重计算、torch.compile 和激活卸载的这种调度：请去掉它们，或将 parallel.schedule 设为 1f1b 或 interleaved</translation>
    </message>
    <message>
        <source>ms-swift freezes a share of the parameters on one pipeline stage alone: set parallel.pp to 1, or name layers in frozen.patterns</source>
        <translation>ms-swift 只在单个流水线阶段上按比例冻结参数：请将 parallel.pp 设为 1，或在 frozen.patterns 中写出层名</translation>
    </message>
    <message>
        <source>Megatron packs query, key and value in one weight, and gate and up projection in another: freeze all of a weight or nothing of it (see frozen.patterns, frozen.trained and frozen.trained_modules)</source>
        <translation>Megatron 把 query、key、value 合在一个权重里，把门控与上投影合在另一个权重里：一个权重要么全部冻结，要么都不冻结（见 frozen.patterns、frozen.trained 和 frozen.trained_modules）</translation>
    </message>
    <message>
        <source>ms-swift freezes parts by name, layer or share under Megatron, and has neither BERT nor encoder-decoder models there: see frozen.patterns, frozen.trained, frozen.trained_layers and frozen.ratio</source>
        <translation>在 Megatron 上按名称、层或比例冻结部分参数的是 ms-swift，它在那里没有 BERT 和编码器-解码器模型：见 frozen.patterns、frozen.trained、frozen.trained_layers 和 frozen.ratio</translation>
    </message>
    <message>
        <source>Megatron-Kwai trains all of a model: see frozen.patterns, frozen.trained, frozen.trained_layers and frozen.ratio</source>
        <translation>Megatron-Kwai 训练模型的全部参数：见 frozen.patterns、frozen.trained、frozen.trained_layers 和 frozen.ratio</translation>
    </message>
    <message>
        <source>predictions of further tokens are described frozen alike, each with its projection and its norms: see frozen.patterns and frozen.trained</source>
        <translation>只描述各个多词元预测以同样方式冻结、且投影与其归一化一并冻结的情形：见 frozen.patterns 和 frozen.trained</translation>
    </message>
    <message>
        <source>parts frozen by name, layer or share are described on Megatron&apos;s hybrids that predict one token: set frozen.llm, or model.mtp_layers to 0</source>
        <translation>按名称、层或比例冻结部分参数，只适用于 Megatron 中只预测一个词元的混合模型：请设置 frozen.llm，或将 model.mtp_layers 设为 0</translation>
    </message>
    <message>
        <source>the tapes describe multi-token prediction in one chunk, behind the last layer: see parallel.layout</source>
        <translation>这里描述的多 token 预测都在同一个块里，位于最后一层之后：见 parallel.layout</translation>
    </message>
    <message>
        <source>multi-token prediction in front of the loss&apos;s chunk is not described under schedules that split the backward: see parallel.layout</source>
        <translation>在拆分反向传播的调度下，尚未描述位于损失所在块之前的多 token 预测：见 parallel.layout</translation>
    </message>
</context>
<context>
    <name>headroom::Actions</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>Makes the change again that was taken back</source>
        <translation>重新执行已撤销的改动</translation>
    </message>
    <message>
        <source>Takes back the last change to the plan or to the history of runs</source>
        <translation>撤销对方案或运行历史的上一次更改</translation>
    </message>
</context>
<context>
    <name>headroom::CalibrationCommands</name>
    <message>
        <source>Not calibrated: the log looks as if %1. With that the estimate meets its peaks, so the difference is not put into a coefficient.</source>
        <translation>未校准：从日志看，似乎%1。这样估算就与其峰值一致，因此差值不计入系数。</translation>
    </message>
    <message>
        <source>Calibrate on the log</source>
        <translation>用日志校准</translation>
    </message>
    <message>
        <source>Calibrated on %1 measured peaks: activations are %2 × theory (95 %: %3 to %4), with %5 beside them.</source>
        <translation>已用 %1 个实测峰值校准：激活值为理论值的 %2 倍（95 %：%3 到 %4），另有 %5。</translation>
    </message>
    <message>
        <source>Calibration saved to %1</source>
        <translation>校准已保存到 %1</translation>
    </message>
    <message>
        <source>Use calibration %1</source>
        <translation>使用校准 %1</translation>
    </message>
    <message>
        <source>Calibration %1: activations are %2 × theory, with %3 beside them.</source>
        <translation>校准 %1：激活值为理论值的 %2 倍，另有 %3。</translation>
    </message>
    <message>
        <source>Remove calibration</source>
        <translation>移除校准</translation>
    </message>
    <message>
        <source>Save calibration</source>
        <translation>保存校准</translation>
    </message>
    <message>
        <source>calibration</source>
        <translation>校准</translation>
    </message>
    <message>
        <source>Calibrations (*.yaml)</source>
        <translation>校准文件 (*.yaml)</translation>
    </message>
    <message>
        <source>Use calibration</source>
        <translation>使用校准</translation>
    </message>
</context>
<context>
    <name>headroom::CapacityLine</name>
    <message>
        <source>capacity %1</source>
        <translation>容量 %1</translation>
    </message>
</context>
<context>
    <name>headroom::ChannelsModel</name>
    <message>
        <source>all phases</source>
        <translation>所有阶段</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>all, maximum</source>
        <translation>全部，最大值</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>种类</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>time</source>
        <translation>耗时</translation>
    </message>
</context>
<context>
    <name>headroom::ChannelsPanel</name>
    <message>
        <source>Rank of the chart</source>
        <translation>图表的 rank</translation>
    </message>
    <message>
        <source>Whose values the chart shows: the largest of all ranks, or those of one</source>
        <translation>图表显示谁的数值：所有 rank 的最大值，或某一个 rank 的值</translation>
    </message>
    <message>
        <source>Filter: backward rank 3</source>
        <translation>筛选：backward rank 3</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Lines of the chart</source>
        <translation>图表中的线</translation>
    </message>
    <message>
        <source>Show listed</source>
        <translation>显示所列</translation>
    </message>
    <message>
        <source>Hide listed</source>
        <translation>隐藏所列</translation>
    </message>
    <message>
        <source>As at first</source>
        <translation>恢复初始</translation>
    </message>
    <message>
        <source>Maximum of all ranks</source>
        <translation>所有 rank 的最大值</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message numerus="yes">
        <source>%1 lines at most: %n left out</source>
        <translation>
            <numerusform>最多 %1 条线：略去 %n 条</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::ChartExport</name>
    <message>
        <source>PNG image (*.png)</source>
        <translation>PNG 图片 (*.png)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>SVG drawing (*.svg)</source>
        <translation>SVG 图形 (*.svg)</translation>
    </message>
    <message>
        <source>Save image</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>%1: charts are saved as .png, .pdf or .svg.</source>
        <translation>%1：图表只能存为 .png、.pdf 或 .svg。</translation>
    </message>
    <message>
        <source>%1: the chart could not be drawn.</source>
        <translation>%1：无法绘制图表。</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation>%1：%2。</translation>
    </message>
    <message>
        <source>&amp;Copy image</source>
        <translation>复制图片(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Save image…</source>
        <translation>保存图片(&amp;S)…</translation>
    </message>
    <message>
        <source>Copy &amp;values</source>
        <translation>复制数值(&amp;V)</translation>
    </message>
    <message>
        <source>Save values</source>
        <translation>保存数值</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>逗号分隔的数值 (*.csv)</translation>
    </message>
</context>
<context>
    <name>headroom::ChartLegend</name>
    <message>
        <source>Show or hide %1</source>
        <translation>显示或隐藏%1</translation>
    </message>
</context>
<context>
    <name>headroom::ChoiceRow</name>
    <message>
        <source>Not possible: %1</source>
        <translation>不可选：%1</translation>
    </message>
    <message>
        <source>By the textbook recipe only: %1</source>
        <translation>只能用教科书公式：%1</translation>
    </message>
    <message>
        <source>%1 (recipe only)</source>
        <translation>%1（仅公式）</translation>
    </message>
    <message>
        <source>originally %1</source>
        <translation>原为 %1</translation>
    </message>
    <message>
        <source>Reset to %1</source>
        <translation>重置为 %1</translation>
    </message>
</context>
<context>
    <name>headroom::ComparePanel</name>
    <message>
        <source>Choose the log or the config of another run, the one before, to see what changed since
and what it did to memory and speed.</source>
        <translation>选择另一次（之前的）运行的日志或配置，查看此后改了什么，
以及对显存和速度的影响。</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>Compare with…</source>
        <translation>与另一次运行比较…</translation>
    </message>
    <message>
        <source>Other run…</source>
        <translation>其他运行…</translation>
    </message>
    <message>
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>After</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>The runs side by side</source>
        <translation>并排比较的两次运行</translation>
    </message>
    <message>
        <source>Opening %1…</source>
        <translation>正在打开 %1…</translation>
    </message>
    <message>
        <source>%1, then %2</source>
        <translation>先 %1，后 %2</translation>
    </message>
    <message>
        <source>Allocated peak</source>
        <translation>已分配峰值</translation>
    </message>
    <message>
        <source>Allocated in %1</source>
        <translation>%1阶段已分配</translation>
    </message>
    <message>
        <source>Reserved peak</source>
        <translation>已保留峰值</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备占用</translation>
    </message>
    <message>
        <source>Step time, s</source>
        <translation>单步时间（秒）</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>What the runs are compared in</source>
        <translation>比较哪一项</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Chart</source>
        <translation>图表</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Compare: %1</source>
        <translation>比较：%1</translation>
    </message>
    <message>
        <source>capacity %1</source>
        <translation>容量 %1</translation>
    </message>
</context>
<context>
    <name>headroom::DiffPanel</name>
    <message>
        <source>Whole file</source>
        <translation>整个文件</translation>
    </message>
    <message>
        <source>Copy diff</source>
        <translation>复制差异</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Open a config to see here what your changes do to it.</source>
        <translation>打开配置后，这里会显示您的改动对它的影响。</translation>
    </message>
    <message>
        <source>These changes cannot be written to the config: %1</source>
        <translation>这些改动无法写入配置：%1</translation>
    </message>
    <message>
        <source>Nothing changed. Turn a knob to see here what it does to %1.</source>
        <translation>没有改动。调节任一项后，这里会显示它对 %1 的影响。</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n changed line(s); everything else stays to the byte</source>
        <translation>
            <numerusform>%1，改动 %n 行；其余部分逐字节不变</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 does not say %2, so there is nothing to write.</source>
        <translation>%1 没有说明 %2，因此没有可写入的内容。</translation>
    </message>
    <message>
        <source>Not written: %1</source>
        <translation>未写入：%1</translation>
    </message>
</context>
<context>
    <name>headroom::DiffView</name>
    <message>
        <source>Changes to the config</source>
        <translation>配置的改动</translation>
    </message>
</context>
<context>
    <name>headroom::DropOverlay</name>
    <message>
        <source>Drop to open</source>
        <translation>松开即可打开</translation>
    </message>
</context>
<context>
    <name>headroom::ExportAsDialog</name>
    <message>
        <source>%1 (the file means %2)</source>
        <translation>%1（文件表示 %2）</translation>
    </message>
    <message>
        <source>The new file</source>
        <translation>新文件</translation>
    </message>
    <message>
        <source>What the format can’t say</source>
        <translation>该格式无法表达的内容</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>导出(&amp;E)</translation>
    </message>
    <message>
        <source>Export as</source>
        <translation>导出为其他格式</translation>
    </message>
    <message>
        <source>&amp;Format:</source>
        <translation>格式(&amp;F)：</translation>
    </message>
    <message>
        <source>&amp;Save to:</source>
        <translation>保存到(&amp;S)：</translation>
    </message>
    <message>
        <source>&amp;Browse…</source>
        <translation>浏览(&amp;B)…</translation>
    </message>
    <message>
        <source>The file says everything that the plan says.</source>
        <translation>文件表达了方案的全部内容。</translation>
    </message>
    <message>
        <source>What the format can’t say:</source>
        <translation>该格式无法表达的内容：</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>%1 exists already. Overwrite it?</source>
        <translation>%1 已存在。要覆盖吗？</translation>
    </message>
    <message>
        <source>What the file means where the plan says nothing:</source>
        <translation>计划未说明之处，文件的含义：</translation>
    </message>
    <message>
        <source>What the file means where the plan says nothing</source>
        <translation>计划未说明之处，文件的含义</translation>
    </message>
    <message>
        <source>Nothing is open that describes a plan.</source>
        <translation>没有打开任何描述方案的文件。</translation>
    </message>
</context>
<context>
    <name>headroom::ExportDialog</name>
    <message>
        <source>&amp;Keep both</source>
        <translation>两份都保留(&amp;K)</translation>
    </message>
    <message>
        <source>Export config</source>
        <translation>导出配置</translation>
    </message>
    <message>
        <source>&amp;Save to:</source>
        <translation>保存到(&amp;S)：</translation>
    </message>
    <message>
        <source>&amp;Browse…</source>
        <translation>浏览(&amp;B)…</translation>
    </message>
    <message>
        <source>What changes; everything else stays to the byte:</source>
        <translation>改动如下；其余部分逐字节不变：</translation>
    </message>
    <message>
        <source>Nothing changed, so there is nothing to export.</source>
        <translation>没有改动，因此没有可导出的内容。</translation>
    </message>
    <message>
        <source>No config is open.</source>
        <translation>没有打开的配置。</translation>
    </message>
    <message>
        <source>Give a file to write to.</source>
        <translation>请指定要写入的文件。</translation>
    </message>
    <message>
        <source>%1 is a folder; give the name of a file.</source>
        <translation>%1 是文件夹；请给出文件名。</translation>
    </message>
    <message>
        <source>There is no folder %1.</source>
        <translation>没有文件夹 %1。</translation>
    </message>
    <message>
        <source>%1 has changed since it was opened. Reload it first, or save under another name.</source>
        <translation>%1 打开后已被改动。请先重新加载，或以其他名称保存。</translation>
    </message>
    <message>
        <source>&amp;Overwrite</source>
        <translation>覆盖(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>导出(&amp;E)</translation>
    </message>
    <message>
        <source>This is the config that was opened. Keep both saves to %1 instead.</source>
        <translation>这是已打开的配置。选“两份都保留”会改存到 %1。</translation>
    </message>
    <message>
        <source>%1 exists already. Keep both saves to %2 instead.</source>
        <translation>%1 已存在。选“两份都保留”会改存到 %2。</translation>
    </message>
    <message>
        <source>The opened config stays as it is.</source>
        <translation>已打开的配置保持不变。</translation>
    </message>
    <message>
        <source>Configs (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py);;All files (*)</source>
        <translation>配置 (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py);;所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>headroom::FileCommands</name>
    <message>
        <source>Open logs and configs</source>
        <translation>打开日志和配置</translation>
    </message>
    <message>
        <source>Open model file</source>
        <translation>打开模型文件</translation>
    </message>
    <message>
        <source>Models (*.json *.yaml *.yml);;All files (*)</source>
        <translation>模型 (*.json *.yaml *.yml);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Exported to %1</source>
        <translation>已导出到 %1</translation>
    </message>
    <message>
        <source>Changes not exported</source>
        <translation>改动尚未导出</translation>
    </message>
    <message>
        <source>The changes to %1 have not been exported.</source>
        <translation>对 %1 的改动尚未导出。</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>导出(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Discard</source>
        <translation>放弃(&amp;D)</translation>
    </message>
    <message>
        <source>Choose the log or config of the run before; both together if you have them</source>
        <translation>选择之前那次运行的日志或配置；两者都有时可一起选择</translation>
    </message>
    <message>
        <source>All files (*);;JSON lines (*.jsonl);;Logs (*.log *.txt *.out *.err)</source>
        <translation>所有文件 (*);;JSON 行 (*.jsonl);;日志 (*.log *.txt *.out *.err)</translation>
    </message>
    <message>
        <source>Choose the losses of both runs</source>
        <translation>选择两次运行的损失文件</translation>
    </message>
    <message>
        <source>Choose the losses to compare %1 with</source>
        <translation>选择与 %1 比较的损失文件</translation>
    </message>
    <message>
        <source>Choose two files: the losses of two runs are compared.</source>
        <translation>请选择两个文件：比较的是两次运行的损失。</translation>
    </message>
    <message>
        <source>Markdown, for an issue (*.md)</source>
        <translation>Markdown，用于提交问题 (*.md)</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>HTML, with charts (*.html)</source>
        <translation>HTML，带图表 (*.html)</translation>
    </message>
    <message>
        <source>Report saved to %1</source>
        <translation>报告已保存到 %1</translation>
    </message>
    <message>
        <source>All files (*);;Logs (*.log *.txt *.out *.err);;Configs (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py)</source>
        <translation>所有文件 (*);;日志 (*.log *.txt *.out *.err);;配置 (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py)</translation>
    </message>
    <message>
        <source>Choose the log or config of a run; both together if you have them</source>
        <translation>选择一次运行的日志或配置；两者都有就一起选</translation>
    </message>
</context>
<context>
    <name>headroom::FindingCard</name>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Makes this change to the plan; it can be undone</source>
        <translation>对方案做此改动；可以撤销</translation>
    </message>
    <message>
        <source>%1 × the time for the same samples</source>
        <translation>处理同样的样本用时为 %1 倍</translation>
    </message>
    <message>
        <source>About the same time for the same samples</source>
        <translation>处理同样的样本用时大致相同</translation>
    </message>
    <message>
        <source>%1, on %2 × the GPUs</source>
        <translation>%1，GPU 为 %2 倍</translation>
    </message>
    <message>
        <source>Estimated from operations and traffic; only the ratio means something</source>
        <translation>由运算量和通信量估算，只有比值有意义</translation>
    </message>
</context>
<context>
    <name>headroom::FindingList</name>
    <message>
        <source>Findings</source>
        <translation>诊断结果</translation>
    </message>
</context>
<context>
    <name>headroom::FindingsPanel</name>
    <message>
        <source>Nothing to find fault with.
Open a log and its config to have both compared.</source>
        <translation>没有发现问题。
打开日志及其配置，可对照检查两者。</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Nothing to find fault with.</source>
        <translation>没有发现问题。</translation>
    </message>
    <message>
        <source>Findings come with an estimate or a log.</source>
        <translation>有了估算或日志之后才有诊断结果。</translation>
    </message>
</context>
<context>
    <name>headroom::FitPanel</name>
    <message>
        <source>Global batch stays</source>
        <translation>全局批次不变</translation>
    </message>
    <message>
        <source>GPUs stay</source>
        <translation>GPU 数不变</translation>
    </message>
    <message>
        <source>Training stays</source>
        <translation>训练不变</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Share of the GPU&apos;s memory that has to stay free</source>
        <translation>GPU 显存中必须留空的比例</translation>
    </message>
    <message>
        <source>Accumulation follows micro-batch and data-parallel size</source>
        <translation>累积步数随微批次和数据并行数调整</translation>
    </message>
    <message>
        <source>The data-parallel size follows the other parallel sizes</source>
        <translation>数据并行数随其他并行数调整</translation>
    </message>
    <message>
        <source>Sequence length and the optimizer&apos;s precision stay: what is learned depends on them</source>
        <translation>序列长度和优化器精度不变：它们会影响训练结果</translation>
    </message>
    <message>
        <source>Keep free:</source>
        <translation>留空：</translation>
    </message>
    <message>
        <source>Makes the chosen change; it can be undone</source>
        <translation>执行所选改动；可以撤销</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>剩余</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>单步时间</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>Changes that make the run fit</source>
        <translation>能让运行放得下的改动</translation>
    </message>
    <message>
        <source>Largest micro-batch</source>
        <translation>最大微批次</translation>
    </message>
    <message>
        <source>Longest sequence</source>
        <translation>最长序列</translation>
    </message>
    <message>
        <source>Fewest GPUs</source>
        <translation>最少 GPU 数</translation>
    </message>
    <message>
        <source>Open a config, or choose a model, to see what makes it fit.</source>
        <translation>打开配置或选择模型，查看怎样才放得下。</translation>
    </message>
    <message>
        <source>Choose a GPU above to see what makes the run fit on it.</source>
        <translation>请在上方选择 GPU，查看怎样才放得下。</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在查找…</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Largest micro-batch: %1</source>
        <translation>最大微批次：%1</translation>
    </message>
    <message>
        <source>Longest sequence: %1</source>
        <translation>最长序列：%1</translation>
    </message>
    <message>
        <source>Fewest GPUs: %1</source>
        <translation>最少 GPU 数：%1</translation>
    </message>
    <message>
        <source>%1 of %2, %3 % kept free</source>
        <translation>%1 / %2，留空 %3 %</translation>
    </message>
    <message>
        <source>Fits as it is: %1.</source>
        <translation>现在就放得下：%1。</translation>
    </message>
    <message>
        <source>Does not fit: %1. One change is enough, cheapest first:</source>
        <translation>放不下：%1。只需一项改动，代价最小的在前：</translation>
    </message>
    <message>
        <source>Does not fit: %1. No single change is enough; two are, cheapest first:</source>
        <translation>放不下：%1。一项改动不够，两项即可，代价最小的在前：</translation>
    </message>
    <message>
        <source>Does not fit: %1. Neither one change nor two are enough; this comes closest:</source>
        <translation>放不下：%1。一项或两项改动都不够，最接近的是：</translation>
    </message>
    <message>
        <source>Does not fit: %1. Nothing that may change helps; let more change, or choose another GPU.</source>
        <translation>放不下：%1。允许的改动都无济于事；请放宽限制，或换一种 GPU。</translation>
    </message>
    <message>
        <source>Does not fit: %1. Neither one change nor two of the same training are enough; adapters are, which train less:</source>
        <translation>放不下：%1。训练内容不变时，一项或两项改动都不够；用适配器可以，但训练的更少：</translation>
    </message>
</context>
<context>
    <name>headroom::FormulaPanel</name>
    <message>
        <source>Formulas of the estimate</source>
        <translation>估算公式</translation>
    </message>
    <message>
        <source>Open a config, or choose a model, to see how its memory is worked out.</source>
        <translation>打开配置或选择模型，查看显存是怎样算出来的。</translation>
    </message>
    <message>
        <source>Stage %1, the fullest. Choose another in the chart of stages.</source>
        <translation>流水级 %1，占用最多。可在流水级图表中选择其他流水级。</translation>
    </message>
    <message>
        <source>Stage %1 of %2</source>
        <translation>流水级 %1 / %2</translation>
    </message>
    <message>
        <source>Sums of every tensor</source>
        <translation>逐个张量求和</translation>
    </message>
    <message>
        <source>By hand: %1</source>
        <translation>手算：%1</translation>
    </message>
    <message>
        <source>not exact: %1</source>
        <translation>不精确：%1</translation>
    </message>
    <message>
        <source>Every tensor: %1</source>
        <translation>逐个张量：%1</translation>
    </message>
</context>
<context>
    <name>headroom::GpuChooser</name>
    <message>
        <source>The GPU the run has to fit on</source>
        <translation>训练要放得下的 GPU</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Other &amp;capacity…</source>
        <translation>其他容量(&amp;C)…</translation>
    </message>
    <message>
        <source>Memory of one GPU, for example 80 GiB or 81 559 MiB:</source>
        <translation>单张 GPU 的显存，例如 80 GiB 或 81 559 MiB：</translation>
    </message>
    <message>
        <source>GPU capacity</source>
        <translation>GPU 显存容量</translation>
    </message>
    <message>
        <source>The capacity must be more than nothing</source>
        <translation>容量必须大于零</translation>
    </message>
    <message>
        <source>Others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>GPU: %1 ▾</source>
        <translation>GPU：%1 ▾</translation>
    </message>
    <message>
        <source>Choose GPU ▾</source>
        <translation>选择 GPU ▾</translation>
    </message>
</context>
<context>
    <name>headroom::HistoryPanel</name>
    <message>
        <source>settings unknown</source>
        <translation>设置未知</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>没有改变</translation>
    </message>
    <message>
        <source>Add the run that is open; then change one thing, run it and add it again.
Each run stands beside the one before, with what changed and what it did.</source>
        <translation>先添加打开的运行；然后只改一项，运行后再添加。
每次运行都与前一次对照，列出改了什么、有什么影响。</translation>
    </message>
    <message>
        <source>Add current run</source>
        <translation>添加当前运行</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>改变</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Step time, s</source>
        <translation>单步时间（秒）</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>The runs in order</source>
        <translation>按顺序排列的运行</translation>
    </message>
    <message>
        <source>The reference that all others are measured by</source>
        <translation>其他运行以它为参照</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n 次运行</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, figures against %2</source>
        <translation>%1，数值与 %2 对照</translation>
    </message>
    <message>
        <source>%1, each against the one before</source>
        <translation>%1，各与前一次对照</translation>
    </message>
</context>
<context>
    <name>headroom::KnobGroup</name>
    <message>
        <source>Shows what is in %1</source>
        <translation>显示“%1”中的内容</translation>
    </message>
    <message>
        <source>Folds %1 away</source>
        <translation>收起“%1”</translation>
    </message>
    <message>
        <source>%1, changed</source>
        <translation>%1，已改动</translation>
    </message>
</context>
<context>
    <name>headroom::KnobRow</name>
    <message>
        <source>%1: %2, originally %3</source>
        <translation>%1：%2，原为 %3</translation>
    </message>
    <message>
        <source>“%1” is not a whole number</source>
        <translation>“%1”不是整数</translation>
    </message>
    <message>
        <source>“%1” is not a number</source>
        <translation>“%1”不是数</translation>
    </message>
    <message>
        <source>Reset to %1</source>
        <translation>重置为 %1</translation>
    </message>
</context>
<context>
    <name>headroom::KnobsPanel</name>
    <message>
        <source>k, activation copies</source>
        <translation>k，激活值份数</translation>
    </message>
    <message>
        <source>Copies of the hidden state kept per layer and token: activations = B·S·h·L·k·2 bytes. A log tells a model&apos;s own k.</source>
        <translation>每层每个 token 保留的隐藏状态份数：激活值 = B·S·h·L·k·2 字节。日志可给出模型自身的 k。</translation>
    </message>
    <message>
        <source>PARALLEL</source>
        <translation>并行</translation>
    </message>
    <message>
        <source>BATCH</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>RECOMPUTE</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>k lies between %1 and %2</source>
        <translation>k 在 %1 到 %2 之间</translation>
    </message>
    <message>
        <source>Samples of one training step: micro-batch × accumulation × data parallel</source>
        <translation>一个训练步的样本数：微批次 × 梯度累积 × 数据并行</translation>
    </message>
    <message>
        <source>Keep the number of GPUs</source>
        <translation>保持 GPU 数不变</translation>
    </message>
    <message>
        <source>Pipeline and tensor parallelism change the data-parallel size</source>
        <translation>改变流水线并行和张量并行时，数据并行规模随之改变</translation>
    </message>
    <message>
        <source>Keep the global batch</source>
        <translation>保持全局批次不变</translation>
    </message>
    <message>
        <source>The micro-batch and the data-parallel size change the accumulation</source>
        <translation>改变微批次和数据并行规模时，梯度累积随之改变</translation>
    </message>
    <message>
        <source>the original</source>
        <translation>原始值</translation>
    </message>
    <message>
        <source>Reset all to %1</source>
        <translation>全部重置为 %1</translation>
    </message>
    <message>
        <source>uneven: %1 layers</source>
        <translation>不均匀：%1 层</translation>
    </message>
    <message>
        <source>samples per step</source>
        <translation>样本/步</translation>
    </message>
    <message>
        <source>derived from the model and recompute</source>
        <translation>由模型和重计算推导</translation>
    </message>
    <message>
        <source>STATE</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>IMPLEMENTATION</source>
        <translation>实现</translation>
    </message>
    <message>
        <source>Sequence parallel</source>
        <translation>序列并行</translation>
    </message>
    <message>
        <source>Tensor-parallel GPUs also share the tokens between the layers: norms, dropout and the residual stream</source>
        <translation>张量并行的 GPU 还分摊层与层之间的 token：归一化、dropout 和残差流</translation>
    </message>
</context>
<context>
    <name>headroom::LanguageMenu</name>
    <message>
        <source>English</source>
        <extracomment>The name of this language in this language.</extracomment>
        <translation>简体中文</translation>
    </message>
    <message>
        <source>Languag&amp;e</source>
        <translation>语言(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;System</source>
        <translation>跟随系统(&amp;S)</translation>
    </message>
    <message>
        <source>Speaks the language of the desktop from the next start</source>
        <translation>下次启动时使用桌面的语言</translation>
    </message>
    <message>
        <source>Speaks %1 from the next start</source>
        <translation>下次启动时使用%1</translation>
    </message>
</context>
<context>
    <name>headroom::LogPanel</name>
    <message>
        <source>Match case</source>
        <translation>区分大小写</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>上一处</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>下一处</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Go to line</source>
        <translation>转到行</translation>
    </message>
    <message>
        <source>Find in the text</source>
        <translation>在文本中查找</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>copied the first %1 lines</source>
        <translation>已复制前 %1 行</translation>
    </message>
    <message>
        <source>Open a log to read it here, at the lines of its measurements.</source>
        <translation>打开日志后可在此阅读，并定位到各测量所在的行。</translation>
    </message>
    <message>
        <source>reading on to the line…</source>
        <translation>正在读到该行…</translation>
    </message>
    <message>
        <source>line %1 of %2</source>
        <translation>第 %1 行，共 %2 行</translation>
    </message>
    <message>
        <source>%1 lines</source>
        <translation>%1 行</translation>
    </message>
    <message>
        <source>searching…</source>
        <translation>正在搜索…</translation>
    </message>
</context>
<context>
    <name>headroom::LossChart</name>
    <message>
        <source>Loss of both runs</source>
        <translation>两次运行的损失</translation>
    </message>
    <message>
        <source>Difference, second less first</source>
        <translation>差值（第二个减第一个）</translation>
    </message>
    <message>
        <source>Tolerance</source>
        <translation>容差</translation>
    </message>
    <message numerus="yes">
        <source>%n common steps</source>
        <translation>
            <numerusform>共 %n 个共同的步</numerusform>
        </translation>
    </message>
    <message>
        <source>Step %1: %2 and %3</source>
        <translation>第 %1 步：%2 和 %3</translation>
    </message>
</context>
<context>
    <name>headroom::LossPanel</name>
    <message>
        <source>Compare the losses of two runs to see whether a change left the training alone:
two files of JSON lines such as {&quot;step&quot;: 1, &quot;loss&quot;: 2.5}, or two logs.</source>
        <translation>比较两次运行的损失，看改动是否影响了训练：
两个 JSON 行文件（如 {&quot;step&quot;: 1, &quot;loss&quot;: 2.5}），或两个日志。</translation>
    </message>
    <message>
        <source>largest difference %1 at step %2, tolerance %3</source>
        <translation>最大差值 %1（第 %2 步），容差 %3</translation>
    </message>
    <message>
        <source>%1, beyond it from step %2 on</source>
        <translation>%1，自第 %2 步起超出</translation>
    </message>
    <message>
        <source>Compare losses…</source>
        <translation>比较损失…</translation>
    </message>
    <message>
        <source>Other files…</source>
        <translation>其他文件…</translation>
    </message>
    <message>
        <source>Reading the losses…</source>
        <translation>正在读取损失…</translation>
    </message>
</context>
<context>
    <name>headroom::LossPlot</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差值</translation>
    </message>
</context>
<context>
    <name>headroom::MainWindow</name>
    <message>
        <source>Toolbar</source>
        <translation>工具栏</translation>
    </message>
    <message>
        <source>Shows what was not understood</source>
        <translation>显示未能理解的内容</translation>
    </message>
    <message numerus="yes">
        <source>%n logs</source>
        <translation>
            <numerusform>%n 个日志</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: %2 lines, %3 measurements, %4 s</source>
        <translation>%1：%2 行，%3 个测量值，%4 秒</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) not understood · Problems</source>
        <translation>
            <numerusform>%n 行未能理解 · 问题</numerusform>
        </translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>联动</translation>
    </message>
    <message>
        <source>Log y</source>
        <translation>对数 y</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>The language changes when Headroom starts again.</source>
        <translation>语言将在 Headroom 下次启动时改变。</translation>
    </message>
</context>
<context>
    <name>headroom::Menus</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>Open &amp;samples</source>
        <translation>打开示例(&amp;S)</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Clear list</source>
        <translation>清空列表(&amp;C)</translation>
    </message>
    <message>
        <source>Forgets the files opened before</source>
        <translation>清除打开过的文件记录</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Panels</source>
        <translation>面板(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>方案(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Recompute</source>
        <translation>重计算(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>Cal&amp;ibration</source>
        <translation>校准(&amp;I)</translation>
    </message>
    <message>
        <source>Run &amp;history</source>
        <translation>运行历史(&amp;H)</translation>
    </message>
</context>
<context>
    <name>headroom::MessageBar</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>headroom::MetricStrips</name>
    <message>
        <source>step time</source>
        <translation>步时间</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>token/秒</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>times</source>
        <translation>耗时</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>times, ms</source>
        <translation>耗时，ms</translation>
    </message>
    <message>
        <source>times, s</source>
        <translation>耗时，s</translation>
    </message>
</context>
<context>
    <name>headroom::ModelDialog</name>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n 层</numerusform>
        </translation>
    </message>
    <message>
        <source>h %1</source>
        <translation>h %1</translation>
    </message>
    <message>
        <source>ViT %1 × %2</source>
        <translation>ViT %1 × %2</translation>
    </message>
    <message>
        <source>&amp;Use model</source>
        <translation>使用该模型(&amp;U)</translation>
    </message>
    <message>
        <source>Change model</source>
        <translation>更换模型</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search for a model</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Open model &amp;file…</source>
        <translation>打开模型文件(&amp;F)…</translation>
    </message>
</context>
<context>
    <name>headroom::ModelSection</name>
    <message>
        <source>Vision tower frozen</source>
        <translation>冻结视觉编码器</translation>
    </message>
    <message>
        <source>Projector frozen</source>
        <translation>冻结投影层</translation>
    </message>
    <message>
        <source>Language model frozen</source>
        <translation>冻结语言模型</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>更换…</translation>
    </message>
    <message>
        <source>Choose another model from the list or a file</source>
        <translation>从列表或文件选择另一个模型</translation>
    </message>
    <message>
        <source>A frozen part keeps its weights but no gradients and no optimizer state</source>
        <translation>冻结的部分保留权重，但没有梯度和优化器状态</translation>
    </message>
    <message>
        <source>Model of the config</source>
        <translation>配置中的模型</translation>
    </message>
    <message>
        <source>No model yet</source>
        <translation>尚无模型</translation>
    </message>
    <message>
        <source>Choose one to get an estimate</source>
        <translation>选择模型后即可估算</translation>
    </message>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n 层</numerusform>
        </translation>
    </message>
    <message>
        <source>h %1</source>
        <translation>h %1</translation>
    </message>
    <message>
        <source>ViT %1 × %2</source>
        <translation>ViT %1 × %2</translation>
    </message>
    <message>
        <source>vocabulary %1</source>
        <translation>词表 %1</translation>
    </message>
    <message>
        <source>Model of the log</source>
        <translation>日志中的模型</translation>
    </message>
</context>
<context>
    <name>headroom::OverlayPlot</name>
    <message>
        <source>Neither run tells about it</source>
        <translation>两次运行都没有这项数据</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>headroom::PeaksChart</name>
    <message>
        <source>Measured peak per phase</source>
        <translation>各阶段实测峰值</translation>
    </message>
    <message>
        <source>Show &amp;all steps</source>
        <translation>显示所有步数(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>后退(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Rank</source>
        <translation>Rank(&amp;R)</translation>
    </message>
    <message>
        <source>All, maximum</source>
        <translation>全部，取最大值</translation>
    </message>
    <message>
        <source>No log open.
Open a train.log, or drop one on the window.</source>
        <translation>没有打开的日志。
请打开 train.log，或把它拖到窗口中。</translation>
    </message>
    <message>
        <source>Preparing the chart…</source>
        <translation>正在准备图表…</translation>
    </message>
    <message>
        <source>Rank %1 reports no peaks.</source>
        <translation>rank %1 没有报告峰值。</translation>
    </message>
    <message numerus="yes">
        <source>%n files</source>
        <translation>
            <numerusform>%n 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message numerus="yes">
        <source>%n ranks</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>maximum of %n ranks</source>
        <translation>
            <numerusform>%n 个 rank 的最大值</numerusform>
        </translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 步</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 步</translation>
    </message>
    <message>
        <source>No measurements.</source>
        <translation>没有测量值。</translation>
    </message>
    <message>
        <source>%1 %2 at step %3</source>
        <translation>%1 在第 %3 步为 %2</translation>
    </message>
    <message>
        <source>Peaks: %1.</source>
        <translation>峰值：%1。</translation>
    </message>
    <message>
        <source>Capacity %1.</source>
        <translation>容量 %1。</translation>
    </message>
    <message>
        <source>Save &amp;values…</source>
        <translation>保存数值(&amp;V)…</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>另有 %n 条</numerusform>
        </translation>
    </message>
    <message>
        <source>reserved only, what was allocated is not logged</source>
        <translation>仅有已预留值，日志未记录已分配值</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
</context>
<context>
    <name>headroom::PeaksModel</name>
    <message>
        <source>%1 bytes allocated</source>
        <translation>已分配 %1 字节</translation>
    </message>
    <message>
        <source>peak of %1</source>
        <translation>%1 的峰值</translation>
    </message>
    <message>
        <source>value %1</source>
        <translation>第 %1 大值</translation>
    </message>
    <message>
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>%1 bytes reserved</source>
        <translation>已预留 %1 字节</translation>
    </message>
</context>
<context>
    <name>headroom::PeaksPanel</name>
    <message>
        <source>Largest values of the log</source>
        <translation>日志中的最大值</translation>
    </message>
    <message>
        <source>Open a log to see its largest values, with step, rank and line.</source>
        <translation>打开日志，查看其中的最大值及其步数、rank 和行号。</translation>
    </message>
</context>
<context>
    <name>headroom::PeaksPlot</name>
    <message>
        <source>step %1 · line %2</source>
        <translation>第 %1 步 · 第 %2 行</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message numerus="yes">
        <source>A %1 → B %2 · %n step(s)</source>
        <translation>
            <numerusform>A %1 → B %2 · %n 步</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>另有 %n 条</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::PlanModel</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>Latent attention</source>
        <translation>潜在注意力</translation>
    </message>
    <message>
        <source>Vision encoder</source>
        <translation>视觉编码器</translation>
    </message>
    <message>
        <source>Projector</source>
        <translation>投影层</translation>
    </message>
    <message>
        <source>Frozen</source>
        <translation>冻结</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>Parallelism</source>
        <translation>并行</translation>
    </message>
    <message>
        <source>Sharding and offload</source>
        <translation>切分与卸载</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>Implementation</source>
        <translation>实现</translation>
    </message>
    <message>
        <source>Adapters</source>
        <translation>适配器</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>硬件</translation>
    </message>
    <message>
        <source>not stated</source>
        <translation>未给出</translation>
    </message>
    <message>
        <source>%1, not understood</source>
        <translation>%1，无法理解</translation>
    </message>
    <message>
        <source>default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>derived</source>
        <translation>推导</translation>
    </message>
    <message>
        <source>derived from %1</source>
        <translation>由 %1 推导</translation>
    </message>
    <message>
        <source>preset %1</source>
        <translation>预设 %1</translation>
    </message>
    <message>
        <source>changed here</source>
        <translation>在此修改</translation>
    </message>
    <message>
        <source>value?</source>
        <translation>取值？</translation>
    </message>
    <message>
        <source>changed here, was %1 from %2</source>
        <translation>在此修改，原为 %1，来自 %2</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>取值</translation>
    </message>
    <message>
        <source>In effect</source>
        <translation>实际生效</translation>
    </message>
    <message>
        <source>From</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Objective</source>
        <translation>训练目标</translation>
    </message>
</context>
<context>
    <name>headroom::PlanPanel</name>
    <message>
        <source>&amp;Values nobody stated</source>
        <translation>未给出的取值(&amp;V)</translation>
    </message>
    <message>
        <source>Double click edits a value, or shows the line it comes from</source>
        <translation>双击可编辑取值，或显示其所在的行</translation>
    </message>
    <message>
        <source>Values of the plan</source>
        <translation>方案的取值</translation>
    </message>
    <message>
        <source>Search name, value or origin</source>
        <translation>搜索名称、取值或来源</translation>
    </message>
    <message>
        <source>Search the plan</source>
        <translation>搜索方案</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>重置 %1</translation>
    </message>
</context>
<context>
    <name>headroom::ProblemsModel</name>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>严重程度</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>What was not understood</source>
        <translation>未能理解的内容</translation>
    </message>
</context>
<context>
    <name>headroom::ProblemsPanel</name>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Every line was understood.</source>
        <translation>每一行都已理解。</translation>
    </message>
    <message>
        <source>and %1 more of the same log</source>
        <translation>同一日志中还有 %1 处</translation>
    </message>
</context>
<context>
    <name>headroom::ProgressStrip</name>
    <message>
        <source>Opening…</source>
        <translation>正在打开…</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>取消(&amp;C)</translation>
    </message>
    <message>
        <source>reading %1… %2 %</source>
        <translation>正在读取 %1… %2 %</translation>
    </message>
    <message>
        <source>drawing conclusions from %1…</source>
        <translation>正在从 %1 得出结论…</translation>
    </message>
</context>
<context>
    <name>headroom::ProseLabel</name>
    <message>
        <source>&amp;Copy</source>
        <translation>复制(&amp;C)</translation>
    </message>
</context>
<context>
    <name>headroom::RanksChart</name>
    <message>
        <source>Peak per rank</source>
        <translation>各 rank 的峰值</translation>
    </message>
    <message>
        <source>by phase</source>
        <translation>按阶段</translation>
    </message>
    <message>
        <source>by step</source>
        <translation>按步</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Save &amp;values…</source>
        <translation>保存数值(&amp;V)…</translation>
    </message>
    <message>
        <source>No log open.
Open the logs of a run to compare its ranks.</source>
        <translation>没有打开日志。
打开一次运行的日志以比较其各个 rank。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>all steps</source>
        <translation>所有步</translation>
    </message>
    <message>
        <source>the steps in view</source>
        <translation>视图中的步</translation>
    </message>
    <message>
        <source>most %1</source>
        <translation>最大 %1</translation>
    </message>
    <message>
        <source>most %1 on rank %2</source>
        <translation>最大 %1，在 rank %2</translation>
    </message>
</context>
<context>
    <name>headroom::RanksPlot</name>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>no measurement</source>
        <translation>无测量</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>of capacity</source>
        <translation>占容量</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>line %1</source>
        <translation>第 %1 行</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
</context>
<context>
    <name>headroom::RecomputeSection</name>
    <message>
        <source>Recompute: %1</source>
        <translation>重计算：%1</translation>
    </message>
    <message>
        <source>Recompute %1</source>
        <translation>重计算：%1</translation>
    </message>
    <message>
        <source>recompute %1</source>
        <translation>重计算%1</translation>
    </message>
    <message>
        <source>This part of every layer is computed again instead of kept</source>
        <translation>每层的这一部分不保存，而是重新计算</translation>
    </message>
</context>
<context>
    <name>headroom::RunHistory</name>
    <message>
        <source>Add run %1</source>
        <translation>添加运行 %1</translation>
    </message>
    <message>
        <source>Remove run %1</source>
        <translation>移除运行 %1</translation>
    </message>
    <message>
        <source>Rename run %1 to %2</source>
        <translation>将运行 %1 重命名为 %2</translation>
    </message>
    <message>
        <source>Move run %1 down</source>
        <translation>下移运行 %1</translation>
    </message>
    <message>
        <source>Move run %1 up</source>
        <translation>上移运行 %1</translation>
    </message>
    <message>
        <source>Measure by the run before</source>
        <translation>与前一次运行比较</translation>
    </message>
    <message>
        <source>Measure by run %1</source>
        <translation>与运行 %1 比较</translation>
    </message>
</context>
<context>
    <name>headroom::StagePairsChart</name>
    <message>
        <source>Peak of each stage</source>
        <translation>各级的峰值</translation>
    </message>
    <message>
        <source>left %1, right %2</source>
        <translation>左 %1，右 %2</translation>
    </message>
    <message>
        <source>bars %1, marks %2</source>
        <translation>柱 %1，标记 %2</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>Measured on some stage</source>
        <translation>在某一级实测</translation>
    </message>
</context>
<context>
    <name>headroom::StagePairsPlot</name>
    <message>
        <source>stage %1</source>
        <translation>流水级 %1</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>已预留</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>measured, allocated</source>
        <translation>实测，已分配</translation>
    </message>
    <message>
        <source>measured on some stage</source>
        <translation>在某一级实测</translation>
    </message>
</context>
<context>
    <name>headroom::StagesChart</name>
    <message>
        <source>Estimated peak per stage</source>
        <translation>各流水级估算峰值</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>No estimate yet.
Open a config, or choose a model.</source>
        <translation>尚无估算。
请打开配置或选择模型。</translation>
    </message>
    <message>
        <source>thin outline: before the changes</source>
        <translation>细线轮廓：改动之前</translation>
    </message>
    <message>
        <source>thin outline: %1</source>
        <translation>细线轮廓：%1</translation>
    </message>
    <message>
        <source>No estimate.</source>
        <translation>没有估算。</translation>
    </message>
    <message>
        <source>One stage with %1.</source>
        <translation>一个流水级，%1。</translation>
    </message>
    <message numerus="yes">
        <source>%n stages; the fullest is stage %1 with %2.</source>
        <translation>
            <numerusform>%n 个流水级；占用最多的是流水级 %1，%2。</numerusform>
        </translation>
    </message>
    <message>
        <source>Capacity %1.</source>
        <translation>容量 %1。</translation>
    </message>
    <message>
        <source>Selected: stage %1 with %2.</source>
        <translation>已选：流水级 %1，%2。</translation>
    </message>
</context>
<context>
    <name>headroom::StagesPlot</name>
    <message>
        <source>stage %1</source>
        <translation>流水级 %1</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>In flight</source>
        <translation>在途激活值</translation>
    </message>
    <message>
        <source>Logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>Working set</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Unused cache</source>
        <translation>未用缓存</translation>
    </message>
    <message>
        <source>Total on the device</source>
        <translation>设备总占用</translation>
    </message>
    <message>
        <source>Measured peak</source>
        <translation>实测峰值</translation>
    </message>
    <message>
        <source>Between</source>
        <translation>介于</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 与 %2</translation>
    </message>
</context>
<context>
    <name>headroom::StartPage</name>
    <message>
        <source>RECENT</source>
        <translation>最近打开</translation>
    </message>
    <message>
        <source>Drop a training log and its config here</source>
        <translation>把训练日志及其配置拖到这里</translation>
    </message>
    <message>
        <source>Headroom shows in which phase the memory peaks, recomputes the peak from the config, and lets you turn knobs until it fits. A folder opens as the logs of one run, one per rank.</source>
        <translation>Headroom 显示显存峰值出现在哪个阶段，根据配置重新计算峰值，并让您调节各项参数直到放得下。打开文件夹时，其中的文件视为同一次训练的日志，每个 rank 一个。</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>SAMPLES</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>No longer there:</source>
        <translation>已不存在：</translation>
    </message>
    <message>
        <source>Or start from a model…</source>
        <translation>或从一个模型开始…</translation>
    </message>
</context>
<context>
    <name>headroom::TermsModel</name>
    <message>
        <source>%1 bytes</source>
        <translation>%1 字节</translation>
    </message>
    <message>
        <source>Term</source>
        <translation>项</translation>
    </message>
    <message>
        <source>Formula with your numbers</source>
        <translation>代入您的数值后的公式</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
</context>
<context>
    <name>headroom::TextFile</name>
    <message>
        <source>the file is binary</source>
        <translation>文件是二进制的</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2.</source>
        <translation>无法读取 %1：%2。</translation>
    </message>
    <message>
        <source>The text of %1 is not shown: %2.</source>
        <translation>不显示 %1 的文本：%2。</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>文件是空的</translation>
    </message>
</context>
<context>
    <name>headroom::TextView</name>
    <message>
        <source>Text of the file</source>
        <translation>文件文本</translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>第 %1 行：%2</translation>
    </message>
    <message numerus="yes">
        <source>… %n more byte(s)</source>
        <translation>
            <numerusform>… 还有 %n 个字节</numerusform>
        </translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>复制(&amp;C)</translation>
    </message>
    <message>
        <source>Select &amp;all</source>
        <translation>全选(&amp;A)</translation>
    </message>
</context>
<context>
    <name>headroom::TimelineChart</name>
    <message>
        <source>One training step</source>
        <translation>一个训练步</translation>
    </message>
    <message>
        <source>Work in the order of the schedule, not time: a backward is drawn twice as long as its forward, and waiting for other stages does not show</source>
        <translation>按调度顺序表示工作量而非时间：反向画成前向的两倍长，等待其他阶段的时间不显示</translation>
    </message>
    <message>
        <source>Replaying the step…</source>
        <translation>正在回放训练步…</translation>
    </message>
    <message>
        <source>One training step, stage %1</source>
        <translation>一个训练步，流水级 %1</translation>
    </message>
    <message>
        <source>Cursor: %1, %2 allocated.</source>
        <translation>光标：%1，已分配 %2。</translation>
    </message>
    <message>
        <source>replaying the step…</source>
        <translation>正在回放训练步…</translation>
    </message>
    <message>
        <source>%1 of %2 micro-batches, the rest repeats</source>
        <translation>%2 个微批次中的 %1 个，其余重复</translation>
    </message>
    <message numerus="yes">
        <source>%n micro-batches</source>
        <translation>
            <numerusform>%n 个微批次</numerusform>
        </translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Peak %1 in %2</source>
        <translation>峰值 %1，位于%2</translation>
    </message>
    <message>
        <source>%1, %2 in flight</source>
        <translation>%1，在途 %2 个</translation>
    </message>
</context>
<context>
    <name>headroom::TimelinePanel</name>
    <message>
        <source>No estimate yet.
Open a config, or choose a model.</source>
        <translation>尚无估算。
请打开配置或选择模型。</translation>
    </message>
    <message>
        <source>No timeline: %1</source>
        <translation>没有时间线：%1</translation>
    </message>
</context>
<context>
    <name>headroom::TimelinePlot</name>
    <message>
        <source>%1, recomputing</source>
        <translation>%1，重计算</translation>
    </message>
    <message>
        <source>optimizer step</source>
        <translation>优化器步</translation>
    </message>
    <message>
        <source>forward of micro-batch %1</source>
        <translation>微批次 %1 的前向</translation>
    </message>
    <message>
        <source>backward of micro-batch %1</source>
        <translation>微批次 %1 的反向</translation>
    </message>
    <message>
        <source>%1, chunk %2 of %3</source>
        <translation>%1，第 %2/%3 块</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>%1, image encoder</source>
        <translation>%1，图像编码器</translation>
    </message>
</context>
<context>
    <name>headroom::ToggleRow</name>
    <message>
        <source>%1 off</source>
        <translation>关闭%1</translation>
    </message>
    <message>
        <source>Originally on. %1</source>
        <translation>原为开启。%1</translation>
    </message>
    <message>
        <source>Originally off. %1</source>
        <translation>原为关闭。%1</translation>
    </message>
</context>
<context>
    <name>headroom::VerdictBar</name>
    <message>
        <source>Device memory of the fullest GPU: tensors, what the allocator keeps beside them, and the CUDA context.</source>
        <translation>占用最多的 GPU 的设备显存：张量、分配器额外保留的部分和 CUDA 上下文。</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>&amp;Copy verdict</source>
        <translation>复制结论(&amp;C)</translation>
    </message>
</context>
<context>
    <name>headroom::Workbench</name>
    <message>
        <source>Knobs</source>
        <translation>调节</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>MODEL</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>FINDINGS</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Shows or hides the panel %1</source>
        <translation>显示或隐藏面板“%1”</translation>
    </message>
    <message>
        <source>Peaks</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Formula</source>
        <translation>公式</translation>
    </message>
    <message>
        <source>Config diff</source>
        <translation>配置差异</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>%1 capacity %2</source>
        <translation>%1 容量 %2</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Channels</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>方案</translation>
    </message>
</context>
<context>
    <name>headroom::Workspace</name>
    <message>
        <source>pinned</source>
        <translation>已固定的方案</translation>
    </message>
    <message>
        <source>original</source>
        <translation>原始值</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>重置%1</translation>
    </message>
    <message>
        <source>Recompute %1</source>
        <translation>重计算：%1</translation>
    </message>
    <message>
        <source>k = %1</source>
        <translation>k = %1</translation>
    </message>
    <message>
        <source>Reset k</source>
        <translation>重置 k</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Model %1</source>
        <translation>模型 %1</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Capacity %1</source>
        <translation>容量 %1</translation>
    </message>
    <message>
        <source>k is set by hand, and the recipe knows no single tensors</source>
        <translation>k 是手动设定的，而公式并不区分单个张量</translation>
    </message>
    <message>
        <source>the model is not known; choose one</source>
        <translation>模型未知；请选择一个</translation>
    </message>
    <message>
        <source>No config says the batch: micro-batch %1 and %2 tokens are assumed. Set your own on the left.</source>
        <translation>没有配置说明批次：假定微批次为 %1、序列长度为 %2。可在左侧自行设置。</translation>
    </message>
</context>
<context>
    <name>samples</name>
    <message>
        <source>Out of memory after 370 steps</source>
        <translation>370 步后显存不足</translation>
    </message>
    <message>
        <source>Llama 3 8B on four GPUs. The micro-batch was taken for the global batch.</source>
        <translation>Llama 3 8B，四张 GPU。把微批次当成了全局批次。</translation>
    </message>
    <message>
        <source>Multimodal, peak in forward</source>
        <translation>多模态，峰值在前向</translation>
    </message>
    <message>
        <source>Qwen2-VL 7B with a frozen vision tower. Large images meet full recompute.</source>
        <translation>Qwen2-VL 7B，视觉编码器冻结。大尺寸图像，全部重计算。</translation>
    </message>
    <message>
        <source>Peak in the optimizer step</source>
        <translation>峰值在优化器更新</translation>
    </message>
    <message>
        <source>Llama 2 7B over four pipeline stages. A smaller micro-batch cannot help.</source>
        <translation>Llama 2 7B，四个流水级。减小微批次无济于事。</translation>
    </message>
    <message>
        <source>Recompute written, but not loaded</source>
        <translation>写了重计算，却没有加载</translation>
    </message>
    <message>
        <source>Qwen2.5 7B. The config says full, the switch above it says no.</source>
        <translation>Qwen2.5 7B。配置写着 full，上面的开关却是关。</translation>
    </message>
    <message>
        <source>A small GPT that fits</source>
        <translation>放得下的小型 GPT</translation>
    </message>
    <message>
        <source>353 M parameters on four 12 GB cards, for trying the knobs.</source>
        <translation>353 M 参数，四张 12 GB 显卡，用来试调各项参数。</translation>
    </message>
</context>
</TS>
