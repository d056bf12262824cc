// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"
#include "support/folders.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <algorithm>
#include <vector>

using namespace headroom;

namespace {

/// What public files have in them: what a text means, and how a value is changed to the byte.
struct Oddity
{
    const char* name; ///< as the collection counts it
    const char* file;
    const char* text;
    QStringList settings; ///< "key = value"; what only a running program knows in angle brackets
    const char* edit = ""; ///< "key=value"
    const char* changed = "";
};

const std::vector<Oddity> yaml{
    {"inline_comment",
     "a.yaml",
     "a: 1  # one: 2\nb: 'x # y' # z\n",
     {"a = 1", "b = x # y"},
     "a=2",
     "a: 2  # one: 2\nb: 'x # y' # z\n"},
    {"commented_out_key", "a.yaml", "a: 1\n# b: 9\n#c: 8\n", {"a = 1"}, "b=2", "a: 1\nb: 2\n# b: 9\n#c: 8\n"},
    {"dollar_brace_interpolation",
     "a.yaml",
     "tp: ${TP:4}\nseq: 1024\nlen: ${seq}\nm: {x: 2, y: \"${.x}\", z: \"${..seq}\"}\n",
     {"tp = 4", "seq = 1024", "len = 1024", "m.x = 2", "m.y = 2", "m.z = 1024"},
     "tp=8",
     "tp: ${TP:8}\nseq: 1024\nlen: ${seq}\nm: {x: 2, y: \"${.x}\", z: \"${..seq}\"}\n"},
    {"dollar_brace_interpolation",
     "a.yaml",
     "seq: 1024\nlen: ${seq}\n",
     {"seq = 1024", "len = 1024"},
     "seq=2048",
     "seq: 2048\nlen: ${seq}\n"},
    {"dollar_brace_interpolation",
     "a.yaml",
     "seq: 1024\nlen: ${seq}\n",
     {"seq = 1024", "len = 1024"},
     "len=512",
     "seq: 1024\nlen: 512\n"},
    {"dollar_brace_interpolation",
     "a.yaml",
     "a: ${b}\nb: ${a}\nc: ${none}\nd: x/${a}\n",
     {"a = ${b}", "b = ${a}", "c = ${none}", "d = x/${a}"}},
    {"flow_sequence", "a.yaml", "a: [1, 'x', y]\n", {"a[0] = 1", "a[1] = x", "a[2] = y"}, "a[1]=z", "a: [1, 'z', y]\n"},
    {"exponent_without_dot", "a.yaml", "lr: 2e-5\nn: 1e9\n", {"lr = 2e-5", "n = 1e9"}, "lr=3e-5", "lr: 3e-5\nn: 1e9\n"},
    {"True_False_capitalised",
     "a.yaml",
     "a: True\nb: False\n",
     {"a = True", "b = False"},
     "b=true",
     "a: True\nb: True\n"},
    {"trailing_blanks",
     "a.yaml",
     "a: 1   \nb: x\t\nc: 2\n",
     {"a = 1", "b = x", "c = 2"},
     "a=3",
     "a: 3   \nb: x\t\nc: 2\n"},
    {"keys_that_start_with_two_dashes",
     "a.yaml",
     "ARGS:\n  --num-layers: 2\n  --bf16: true\n",
     {"ARGS.--num-layers = 2", "ARGS.--bf16 = true"},
     "ARGS.--num-layers=4",
     "ARGS:\n  --num-layers: 4\n  --bf16: true\n"},
    {"omegaconf_resolver_call",
     "a.yaml",
     "a: 4\nb: 3\nn: ${multiply:${a}, ${b}}\ns: ${sum:${a},1}\ne: ${oc.env:N,8}\nu: ${oc.env:N}\nd: "
     "${divide_ceil:${a},3}\n",
     {"a = 4", "b = 3", "n = 12", "s = 5", "e = 8", "u = ${oc.env:N}", "d = 2"},
     "e=16",
     "a: 4\nb: 3\nn: ${multiply:${a}, ${b}}\ns: ${sum:${a},1}\ne: ${oc.env:N,16}\nu: ${oc.env:N}\nd: "
     "${divide_ceil:${a},3}\n"},
    {"flow_mapping", "a.yaml", "a: {b: 1, c: {d: x}}\n", {"a.b = 1", "a.c.d = x"}, "a.c.d=y", "a: {b: 1, c: {d: y}}\n"},
    {"empty_value", "a.yaml", "a:\nb: 1\n", {"a = ", "b = 1"}, "a=2", "a: 2\nb: 1\n"},
    {"non_ascii",
     "a.yaml",
     "# 批大小：每卡\na: 1 # é\nb: 汉字\n",
     {"a = 1", "b = 汉字"},
     "a=2",
     "# 批大小：每卡\na: 2 # é\nb: 汉字\n"},
    {"no_final_newline", "a.yaml", "a: 1\nb: 2", {"a = 1", "b = 2"}, "c=3", "a: 1\nb: 2\nc: 3"},
    {"block_scalar",
     "a.yaml",
     "a: |\n  x: 1\n  y\nb: 2\n",
     {"a = x: 1\ny\n", "b = 2"},
     "b=3",
     "a: |\n  x: 1\n  y\nb: 3\n"},
    {"anchor", "a.yaml", "a: &n 4\nb: *n\n", {"a = 4", "b = 4"}, "b=5", "a: &n 4\nb: 5\n"},
    {"quoted_number", "a.yaml", "a: \"4\"\nb: '2'\n", {"a = 4", "b = 2"}, "a=8", "a: \"8\"\nb: '2'\n"},
    {"alias",
     "a.yaml",
     "x: &n {p: 2}\ny: *n\nz: 1\n",
     {"x.p = 2", "y.p = 2", "z = 1"},
     "z=3",
     "x: &n {p: 2}\ny: *n\nz: 3\n"},
    {"whole_file_flow_mapping",
     "a.yml",
     "{\n  # parallel\n  \"a\": 1,\n  \"b\": True,   # on\n  \"c\": {\"d\": 2,},\n}\n",
     {"a = 1", "b = True", "c.d = 2"},
     "a=4",
     "{\n  # parallel\n  \"a\": 4,\n  \"b\": True,   # on\n  \"c\": {\"d\": 2,},\n}\n"},
    {"jinja_braces",
     "a.yaml",
     "t: \"{% for m in x %}{{ m['c'] }}{% endfor %}\"\nb: 2\n",
     {"t = {% for m in x %}{{ m['c'] }}{% endfor %}", "b = 2"},
     "b=3",
     "t: \"{% for m in x %}{{ m['c'] }}{% endfor %}\"\nb: 3\n"},
};

const std::vector<Oddity> json{
    {"auto", "a.json", "{\"n\": \"auto\", \"m\": 2}\n", {"n = auto", "m = 2"}, "n=4", "{\"n\": 4, \"m\": 2}\n"},
    {"exponent_number",
     "a.json",
     "{\"n\": 5e8, \"m\": 1e9}",
     {"n = 5e8", "m = 1e9"},
     "n=2e8",
     "{\"n\": 2e8, \"m\": 1e9}"},
};

const std::vector<Oddity> shell{
    {"line_continuation",
     "a.sh",
     "x \\\n  --a 1 \\\n  --b 2\n",
     {"--a = 1", "--b = 2"},
     "--a=3",
     "x \\\n  --a 3 \\\n  --b 2\n"},
    {"flag_equals_value", "a.sh", "x --a=1 --b=\"2\"\n", {"--a = 1", "--b = 2"}, "--b=3", "x --a=1 --b=\"3\"\n"},
    {"command_substitution",
     "a.sh",
     "N=$(nvidia-smi -L | wc -l)\nx --a $N --b 2\n",
     {"N = <$(nvidia-smi -L | wc -l)>", "--a = <$(nvidia-smi -L | wc -l)>", "--b = 2"},
     "--b=3",
     "N=$(nvidia-smi -L | wc -l)\nx --a $N --b 3\n"},
    {"if_branch",
     "a.sh",
     "S=7b\nif [ \"$S\" = \"7b\" ]; then\n  L=32\nelse\n  L=40\nfi\nx --a $L\n",
     {"S = 7b", "L = 32", "--a = 32"},
     "--a=24",
     "S=7b\nif [ \"$S\" = \"7b\" ]; then\n  L=24\nelse\n  L=40\nfi\nx --a $L\n"},
    {"arithmetic",
     "a.sh",
     "G=8\nN=2\nx --world $((G*N)) --g $((2 * 16))\n",
     {"G = 8", "N = 2", "--world = 16", "--g = 32"},
     "--g=64",
     "G=8\nN=2\nx --world $((G*N)) --g 64\n"},
    {"positional_parameter",
     "a.sh",
     "N=$1\nT=${2:-4}\nx --n $N --t $T --u ${3}\n",
     {"N = <$1>", "T = 4", "--n = <$1>", "--t = 4", "--u = <${3}>"},
     "--t=8",
     "N=$1\nT=${2:-8}\nx --n $N --t $T --u ${3}\n"},
    {"positional_parameter",
     "a.sh",
     "set -- 8 2\nx --n $1 --m ${2:-4} --k ${3:-5} --c $#\n",
     {"--n = 8", "--m = 2", "--k = 5", "--c = 2"},
     "--n=4",
     "set -- 4 2\nx --n $1 --m ${2:-4} --k ${3:-5} --c $#\n"},
    {"positional_parameter",
     "a.sh",
     "set -- --a 1 --b 2\nshift 2\nx --c 3 \"$@\"\n",
     {"--b = 2", "--c = 3"},
     "--b=4",
     "set -- --a 1 --b 4\nshift 2\nx --c 3 \"$@\"\n"},
    {"positional_parameter",
     "a.sh",
     "x --n 8 --m 1 \"$@\"\n",
     {"--n = 8", "--m = 1"},
     "--m=2",
     "x --n 8 --m 2 \"$@\"\n"},
    {"options_in_a_string_variable",
     "a.sh",
     "O=\"\n  --a 1 \\\n  --b 2\n\"\nx $O $MORE --c 3\n",
     {"--a = 1", "--b = 2", "--c = 3"},
     "--b=4",
     "O=\"\n  --a 1 \\\n  --b 4\n\"\nx $O $MORE --c 3\n"},
    {"env_assignments_before_command",
     "a.sh",
     "OMP=1 NPROC=8 x --a 1\n",
     {"OMP = 1", "NPROC = 8", "--a = 1"},
     "NPROC=4",
     "OMP=1 NPROC=4 x --a 1\n"},
    {"default_expansion",
     "a.sh",
     "T=${TP:-2}\nx --a $T --b ${PP:-4}\n",
     {"T = 2", "--a = 2", "--b = 4"},
     "--b=8",
     "T=${TP:-2}\nx --a $T --b ${PP:-8}\n"},
    {"source_other_file",
     "a.sh",
     "source env.sh\nx --a $LAYERS --b 2\n",
     {"--a = <$LAYERS>", "--b = 2"},
     "--a=4",
     "source env.sh\nx --a 4 --b 2\n"},
    {"several_words_in_one_quoted_element",
     "a.sh",
     "O=(\"--lr 1e-4\" \"--a 1\")\nx ${O[@]}\n",
     {"--lr = 1e-4", "--a = 1"},
     "--a=2",
     "O=(\"--lr 1e-4\" \"--a 2\")\nx ${O[@]}\n"},
    {"recompute_flag",
     "a.sh",
     "x --recompute-granularity full --recompute-method uniform --recompute-num-layers 1\n",
     {"--recompute-granularity = full", "--recompute-method = uniform", "--recompute-num-layers = 1"},
     "--recompute-num-layers=2",
     "x --recompute-granularity full --recompute-method uniform --recompute-num-layers 2\n"},
    {"recompute_granularity",
     "a.sh",
     "R=selective\nx --recompute-granularity $R\n",
     {"R = selective", "--recompute-granularity = selective"},
     "--recompute-granularity=full",
     "R=full\nx --recompute-granularity $R\n"},
    {"sbatch",
     "a.sh",
     "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH -n 8 # tasks\nsrun x --a 1\n",
     {"sbatch.--nodes = 4", "sbatch.-n = 8", "--a = 1"},
     "sbatch.--nodes=2",
     "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH -n 8 # tasks\nsrun x --a 1\n"},
    {"eval",
     "a.sh",
     "CMD=\"x --a 1 --b 2\"\neval $CMD\n",
     {"--a = 1", "--b = 2"},
     "--b=3",
     "CMD=\"x --a 1 --b 3\"\neval $CMD\n"},
    {"commented_out_flag",
     "a.sh",
     "O=(\n  --a 1\n  # --b 2\n)\nx ${O[@]} # --c 3\n",
     {"--a = 1"},
     "--b=4",
     "O=(\n  --a 1\n  --b 4\n  # --b 2\n)\nx ${O[@]} # --c 3\n"},
    {"heredoc",
     "a.sh",
     "cat <<EOT > ds.json\n{\"stage\": 1, \"x\": \"--a 9\"}\nEOT\nx --a 1\n",
     {"--a = 1"},
     "--a=2",
     "cat <<EOT > ds.json\n{\"stage\": 1, \"x\": \"--a 9\"}\nEOT\nx --a 2\n"},
    {"loop",
     "a.sh",
     "for L in 1e-4 2e-4; do\n  x --lr $L --a 1\ndone\n",
     {"--lr = <$L>", "--a = 1"},
     "--a=2",
     "for L in 1e-4 2e-4; do\n  x --lr $L --a 2\ndone\n"},
    {"gradient_checkpointing",
     "a.sh",
     "x --gradient_checkpointing True --b 1\n",
     {"--gradient_checkpointing = True", "--b = 1"},
     "--gradient_checkpointing=false",
     "x --gradient_checkpointing False --b 1\n"},
    {"recompute_activations",
     "a.sh",
     "x \\\n  --recompute-activations \\\n  --b 1\n",
     {"--recompute-activations = true", "--b = 1"},
     "--recompute-activations=false",
     "x \\\n  --b 1\n"},
    {"append_operator",
     "a.sh",
     "O=\"--a 1\"\nO+=\" --b 2\"\nP=(--c 3)\nP+=(--d 4)\nx $O ${P[@]}\n",
     {"--a = 1", "--b = 2", "--c = 3", "--d = 4"},
     "--d=5",
     "O=\"--a 1\"\nO+=\" --b 2\"\nP=(--c 3)\nP+=(--d 5)\nx $O ${P[@]}\n"},
    {"case",
     "a.sh",
     "M=7b\ncase $M in\n  7b) L=32 ;;\n  *) L=40 ;;\nesac\nx --a $L\n",
     {"M = 7b", "L = 32", "--a = 32"},
     "--a=16",
     "M=7b\ncase $M in\n  7b) L=16 ;;\n  *) L=40 ;;\nesac\nx --a $L\n"},
    {"options_in_an_array",
     "a.sh",
     "O=(\n  --a 1\n  --s\n)\nx \"${O[@]}\"\n",
     {"--a = 1", "--s = true"},
     "--a=2",
     "O=(\n  --a 2\n  --s\n)\nx \"${O[@]}\"\n"},
};

const std::vector<Oddity> python{
    {"expressions",
     "a.py",
     "n = int(2048 - (336 / 14) ** 2)\nt = 8 * 2048\n",
     {"n = 1472", "t = 16384"},
     "t=4096",
     "n = int(2048 - (336 / 14) ** 2)\nt = 4096\n"},
    {"module-level names",
     "a.py",
     "SEQ = 2048\ndata = dict(seq_len=SEQ, micro_bsz=1)\n",
     {"SEQ = 2048", "data.seq_len = 2048", "data.micro_bsz = 1"},
     "SEQ=4096",
     "SEQ = 4096\ndata = dict(seq_len=SEQ, micro_bsz=1)\n"},
    {"environment",
     "a.py",
     "b = int(os.environ.get('B', '1'))\n",
     {"b = 1"},
     "b=4",
     "b = int(os.environ.get('B', '4'))\n"},
    {"functions that overwrite",
     "a.py",
     "def base():\n    return Trainer.Config(\n        training=Training.Config(steps=2),\n    )\n\n\n"
     "def big():\n    config = base()\n    config.training.steps = 9\n    return config\n",
     {"training = Training.Config", "training.steps = 2"}},
    {"attributes of a made object",
     "a.py",
     "cfg = pretrain_config(nodes=2)\ncfg.model.tp = 2\ncfg.train.mbs = 4  # of a GPU\nrun(config=cfg)\n",
     {"cfg = <pretrain_config(nodes=2)>", "recipe = pretrain_config", "recipe.nodes = 2", "model.tp = 2",
      "train.mbs = 4"},
     "model.cp=2",
     "cfg = pretrain_config(nodes=2)\ncfg.model.tp = 2\ncfg.train.mbs = 4  # of a GPU\ncfg.model.cp = 2\n"
     "run(config=cfg)\n"},
    {"parameters with defaults",
     "a.py",
     "def configure(nodes: int = 2, gpus=8):\n    recipe = llm.llama3_8b.pretrain_recipe(\n        num_nodes=nodes,\n"
     "    )\n    recipe.trainer.devices = gpus\n    return recipe\n",
     {"recipe = llm.llama3_8b.pretrain_recipe", "recipe.num_nodes = 2", "trainer.devices = 8"},
     "recipe.num_nodes=4",
     "def configure(nodes: int = 4, gpus=8):\n    recipe = llm.llama3_8b.pretrain_recipe(\n        num_nodes=nodes,\n"
     "    )\n    recipe.trainer.devices = gpus\n    return recipe\n"},
    {"objects in a function",
     "a.py",
     "def main():\n    steps = 9\n    model = AutoModel.from_pretrained('a/b', torch_dtype=torch.bfloat16)\n"
     "    args = TrainingArguments(\n        per_device_train_batch_size=8,\n        bf16=True,\n    )\n",
     {"AutoModel.from_pretrained[0] = a/b", "AutoModel.from_pretrained.torch_dtype = torch.bfloat16",
      "model = <AutoModel.from_pretrained('a/b', torch_dtype=torch.bfloat16)>", "args = TrainingArguments",
      "TrainingArguments.per_device_train_batch_size = 8", "TrainingArguments.bf16 = True"},
     "TrainingArguments.gradient_checkpointing=true",
     "def main():\n    steps = 9\n    model = AutoModel.from_pretrained('a/b', torch_dtype=torch.bfloat16)\n"
     "    args = TrainingArguments(\n        per_device_train_batch_size=8,\n        bf16=True,\n"
     "        gradient_checkpointing=True,\n    )\n"},
    {"_base_ inheritance",
     "a.py",
     "_base_ = ['./base.py']\nlr = 1e-4\n",
     {"_base_[0] = ./base.py", "lr = 1e-4"},
     "lr=2e-4",
     "_base_ = ['./base.py']\nlr = 2e-4\n"},
};

} // namespace

class TestConfigOddities : public QObject
{
    Q_OBJECT

private slots:
    void oddities_data();
    void oddities();
    void noneIsLeftOut_data();
    void noneIsLeftOut();
};

void TestConfigOddities::oddities_data()
{
    QTest::addColumn<Oddity>("oddity");
    for (const auto* table : {&yaml, &json, &shell, &python}) {
        for (const Oddity& oddity : *table) {
            QTest::addRow("%s: %s %s", oddity.file, oddity.name, oddity.edit) << oddity;
        }
    }
}

void TestConfigOddities::oddities()
{
    QFETCH(Oddity, oddity);
    const auto document = ConfigDocument::parse(oddity.text, oddity.file);
    QVERIFY2(document, document ? "" : document.error().english().c_str());
    QStringList settings;
    for (const Setting& setting : document->settings()) {
        const QString text = QString::fromStdString(setting.text);
        settings << QString::fromStdString(setting.key) + " = " + (setting.isKnown ? text : "<" + text + ">");
    }
    QStringList expected = oddity.settings;
    settings.sort(); // a variable stands where it is assigned, its users' values as well
    expected.sort();
    QCOMPARE(settings, expected);
    const QString edit = oddity.edit;
    if (edit.isEmpty()) {
        return;
    }
    const std::vector<ConfigEdit> edits{{edit.section('=', 0, 0).toStdString(), edit.section('=', 1).toStdString()}};
    const auto changed = document->set(edits);
    QVERIFY2(changed, changed ? "" : changed.error().english().c_str());
    QCOMPARE(QString::fromStdString(changed->bytes()), QString(oddity.changed));
}

/// Against the collection itself: what stands in 40 files or more is in the tables.
void TestConfigOddities::noneIsLeftOut_data()
{
    QTest::addColumn<QString>("group");
    QTest::newRow("YAML") << "yaml_oddities";
    QTest::newRow("JSON") << "json_oddities";
    QTest::newRow("shell") << "shell_oddities";
}

void TestConfigOddities::noneIsLeftOut()
{
    QFETCH(QString, group);
    QFile file(sharedPath("knowledge/configs.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QSKIP("no collection in ../shared/knowledge");
    }
    const QJsonObject counts = QJsonDocument::fromJson(file.readAll()).object()[group].toObject()["counts"].toObject();
    QVERIFY(!counts.isEmpty());
    const auto& table = group.startsWith("yaml") ? yaml : group.startsWith("json") ? json : shell;
    for (auto count = counts.begin(); count != counts.end(); ++count) {
        const bool isHere
            = std::any_of(table.begin(), table.end(), [&](const Oddity& oddity) { return oddity.name == count.key(); });
        QVERIFY2(isHere || count.value().toInt() < 40, qPrintable(count.key()));
    }
}

QTEST_APPLESS_MAIN(TestConfigOddities)
#include "tst_config_oddities.moc"
