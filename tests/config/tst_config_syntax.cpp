// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"

#include <QtTest>

#include <algorithm>

using namespace headroom;

namespace {

ConfigDocument opened(const QString& name, const QString& text)
{
    auto document = ConfigDocument::parse(text.toStdString(), name.toStdString());
    if (!document) {
        qFatal("%s", document.error().english().c_str());
    }
    return std::move(*document);
}

/// "key = text", what only a running program knows in angle brackets.
QStringList settingsOf(const ConfigDocument& document)
{
    QStringList result;
    for (const Setting& setting : document.settings()) {
        const QString text = QString::fromStdString(setting.text);
        result << QString::fromStdString(setting.key) + " = " + (setting.isKnown ? text : "<" + text + ">");
    }
    return result;
}

/// "a=1" or "a=[x, y]".
ConfigEdit editFrom(const QString& text)
{
    ConfigEdit edit{text.section('=', 0, 0).toStdString(), text.section('=', 1).toStdString()};
    if (edit.value.starts_with('[') && edit.value.ends_with(']')) {
        std::vector<std::string> items;
        for (const QString& item : text.section('=', 1).chopped(1).mid(1).split(", ", Qt::SkipEmptyParts)) {
            items.push_back(item.toStdString());
        }
        edit = {edit.key, {}, std::move(items)};
    }
    return edit;
}

} // namespace

/// What the syntaxes beside YAML make of a text, and how they write into it.
class TestConfigSyntax : public QObject
{
    Q_OBJECT

    static void addPythonRows();
    static void addShellRows();
    static void addShellEdits();
    static void addPythonEdits();

private slots:
    void reads_data();
    void reads();
    void writes_data();
    void writes();
    void refuses_data();
    void refuses();
    void brokenFilesGiveASentence_data();
    void brokenFilesGiveASentence();
};

void TestConfigSyntax::reads_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* title, const char* name, const char* text, const QStringList& settings) {
        QTest::newRow(title) << name << text << settings;
    };
    row("JSON with line comments", "a.json", "// top\n{\n  \"a\": 1, // one\n  \"b\": \"//x\"\n}\n",
        {"a = 1", "b = //x"});
    row("JSON with block comments", "a.json", "{/* \"c\": 2, */ \"a\": 1 /* x */}", {"a = 1"});
    row("JSON with a trailing comma", "a.json", "{\"a\": [1, 2,],}", {"a[0] = 1", "a[1] = 2"});
    row("JSON with # comments", "a.json", "{ # one\n \"a\": 1e9 # two\n}", {"a = 1e9"});
    row("an address is no comment", "a.json", "{\"a\": \"http://x/y\", b: 1}", {"a = http://x/y", "b = 1"});
    row("quote in a JSON comment", "a.json", "{\n// don't \"x\n\"a\": 1}", {"a = 1"});

    row("TOML", "a.toml", "a = 1\n[t]\nb = \"x\"\nc=true # d\n", {"a = 1", "t.b = x", "t.c = true"});
    row("TOML numbers", "a.toml", "a = 10_000\nb = 8e-5\nc = -1\n", {"a = 10_000", "b = 8e-5", "c = -1"});
    row("TOML quotes", "a.toml", "a = 'x\\y'\nb = \"x\\ty\"\n", {"a = x\\y", "b = x\ty"});
    row("TOML dotted header", "a.toml", "[quantize.dense.float8]\nenable = true\n",
        {"quantize.dense.float8.enable = true"});
    row("TOML list", "a.toml", "a = [\"x\", \"y\"]\n", {"a[0] = x", "a[1] = y"});
    row("TOML inline table", "a.toml", "a = {b = 1, c.d = 2}\n", {"a.b = 1", "a.c.d = 2"});
    row("TOML tables in a list", "a.toml", "[[a]]\nb = 1\n[[a]]\nb = 2\n", {"a[0].b = 1", "a[1].b = 2"});
    row("TOML in file order", "a.toml", "z = 1\na = 2\n", {"z = 1", "a = 2"});
    row("TOML after wide characters", "a.toml", "a = \"é汉😀\" # é\nb = 2\n", {"a = é汉😀", "b = 2"});
    row("commented-out TOML keys", "a.toml", "a = 1\n# b = 2\n", {"a = 1"});
    addShellRows();
    addPythonRows();
}

void TestConfigSyntax::addPythonRows()
{
    const auto row = [](const char* title, const char* text, const QStringList& settings) {
        QTest::newRow((std::string("Python: ") + title).c_str()) << "a.py" << text << settings;
    };
    row("literals", "a = 1\nb = 'x'\nc = \"y\"\nd = True\ne = 1e-5\nf = -2\ng = None\n",
        {"a = 1", "b = x", "c = y", "d = True", "e = 1e-5", "f = -2", "g = null"});
    row("comments", "# z = 9\na = 1  # b = 2\n", {"a = 1"});
    row("typed", "a: int = 1\n", {"a = 1"});
    row("dict call", "a = dict(b=1, c=dict(d=2))\n", {"a.b = 1", "a.c.d = 2"});
    row("dict call over lines", "a = dict(\n    b=1,  # one\n    c='x',\n)\n", {"a.b = 1", "a.c = x"});
    row("dict", "a = {'b': 1, \"c\": {'d': 2}}\n", {"a.b = 1", "a.c.d = 2"});
    row("list", "a = [1, 'x']\n", {"a[0] = 1", "a[1] = x"});
    row("object", "f = FSDPConfig(tp_size=1, ratio=0.5)\n",
        {"f = FSDPConfig", "FSDPConfig.tp_size = 1", "FSDPConfig.ratio = 0.5"});
    row("object in a module", "f = x.y.FSDPConfig(tp_size=1)\n", {"f = x.y.FSDPConfig", "FSDPConfig.tp_size = 1"});
    row("returned config",
        "def f():\n    return Trainer.Config(\n        training=Training.Config(steps=2),\n        "
        "ac=FullAC.Config(),\n    )\n",
        {"training = Training.Config", "training.steps = 2", "ac = FullAC.Config"});
    row("ratio", "a = 8 / 4096\n", {"a = 0.001953125"});
    row("arithmetic", "a = 8 * 2048\nb = int(2048 - (336 // 14) ** 2)\nc = 8 / 2\n",
        {"a = 16384", "b = 1472", "c = 4"});
    row("names", "n = 4\na = n\nb = dict(c=n, d=n * 2)\n", {"n = 4", "a = 4", "b.c = 4", "b.d = 8"});
    row("names that are not known", "a = n\nb = f(1)\nc = x[1]\n", {"a = <n>", "b = <f(1)>", "c = <x[1]>"});
    row("environment with a default", "a = os.environ.get('A', '1')\nb = int(os.getenv(\"B\", 2))\n",
        {"a = 1", "b = 2"});
    row("environment", "a = os.environ['A']\n", {"a = <os.environ['A']>"});
    row("formatted text", "a = f'x{1}'\nb = r'x'\n", {"a = <f'x{1}'>", "b = <r'x'>"});
    row("long text", "a = \"\"\"x\nb = 9\n\"\"\"\nc = 1\n", {"a = <\"\"\"x\nb = 9\n\"\"\">", "c = 1"});
    row("more than a list", "a = [0] * 3\n", {"a = <[0] * 3>"});
    row("joined lines", "a = 1 + \\\n  2\n", {"a = 3"});
    row("inside functions", "def f():\n    a = 1\nb = 2\n", {"b = 2"});
    row("attributes and items are not followed", "c.a = 1\nd['x'] = 2\ne = 3\n", {"e = 3"});
    row("last assignment", "a = 1\na = 2\n", {"a = 2"});
    row("positional arguments", "a = dict(x, b=1)\n", {"a.b = 1"});
    row("wide characters", "a = '汉'  # é\nb = 2\n", {"a = 汉", "b = 2"});
}

/// The oddities that were counted in 1,680 public launch scripts.
void TestConfigSyntax::addShellRows()
{
    const auto row = [](const char* title, const char* text, const QStringList& settings) {
        QTest::newRow((std::string("shell: ") + title).c_str()) << "a.sh" << text << settings;
    };
    row("flags", "python a.py --x 1 --y z\n", {"script = a.py", "--x = 1", "--y = z"});
    row("line continuation", "python a.py \\\n  --x 1 \\\n  --y 2\n", {"script = a.py", "--x = 1", "--y = 2"});
    row("flag equals value", "python a.py --x=1 --y='a b'\n", {"script = a.py", "--x = 1", "--y = a b"});
    row("switch", "python a.py --x --y 2\n", {"script = a.py", "--x = true", "--y = 2"});
    row("switch before the script", "torchrun --standalone a.py --y 2\n",
        {"--standalone = true", "script = a.py", "--y = 2"});
    row("several values", "x --a 1 2 --b 3\n", {"--a[0] = 1", "--a[1] = 2", "--b = 3"});
    row("negative value", "x --a -1 --b -2.5\n", {"--a = -1", "--b = -2.5"});
    row("quotes", "x --a \"1\" --b '2' --c \"\" --d a\"b c\"d\n", {"--a = 1", "--b = 2", "--c = ", "--d = ab cd"});
    row("escapes", "x --a b\\ c --d \"\\$e\"\n", {"--a = b c", "--d = $e"});
    row("variable", "A=1\nx --a $A --b ${A}\n", {"A = 1", "--a = 1", "--b = 1"});
    row("variable of a variable", "A=1\nB=$A\nx --a $B\n", {"A = 1", "B = 1", "--a = 1"});
    row("exported", "export A=1 B=2\nx --a $A$B\n", {"A = 1", "B = 2", "--a = 12"});
    row("default expansion", "x --a ${A:-3} --b ${B-4}\n", {"--a = 3", "--b = 4"});
    row("default of what is set", "A=1\nx --a ${A:-3}\n", {"A = 1", "--a = 1"});
    row("default from a positional parameter", "A=${1:-7}\nx --a $A\n", {"A = 7", "--a = 7"});
    row("positional parameter", "A=$1\nx --a $A --b $2\n", {"A = <$1>", "--a = <$1>", "--b = <$2>"});
    row("environment", "x --a $HOME --b ${N}\n", {"--a = <$HOME>", "--b = <${N}>"});
    row("command substitution", "A=$(nproc)\nx --a $A --b `date`\n",
        {"A = <$(nproc)>", "--a = <$(nproc)>", "--b = <`date`>"});
    row("arithmetic", "A=2\nx --a $((A * 8)) --b $(( ($A+1)*4/2 ))\n", {"A = 2", "--a = 16", "--b = 6"});
    row("arithmetic of what is not known", "x --a $((N * 8))\n", {"--a = <$((N * 8))>"});
    row("options in a string", "O=\"--a 1 \\\n --b 2\n --c\"\nx $O --d 4\n",
        {"--a = 1", "--b = 2", "--c = true", "--d = 4"});
    row("options in single quotes", "O='--a 1\n --b 2'\nx $O\n", {"--a = 1", "--b = 2"});
    row("options in an array", "O=(\n --a 1 # one\n # --z 9\n --b 2\n)\nx ${O[@]} --d 4\n",
        {"--a = 1", "--b = 2", "--d = 4"});
    row("quoted array", "O=(--a \"1 2\")\nx \"${O[@]}\" --d 4\n", {"--a = 1 2", "--d = 4"});
    row("several words in one quoted element", "O=(\"--a 1\" \"--b 2\")\nx ${O[@]}\n", {"--a = 1", "--b = 2"});
    row("append to an array", "O=(--a 1)\nO+=(--b 2)\nx ${O[@]}\n", {"--a = 1", "--b = 2"});
    row("append to a string", "O=\"--a 1\"\nO+=\" --b 2\"\nx $O\n", {"--a = 1", "--b = 2"});
    row("string of itself", "O=\"--a 1\"\nO=\"$O --b 2\"\nx $O\n", {"--a = 1", "--b = 2"});
    row("array never expanded", "O=(--z 9)\nx --a 1\n", {"--a = 1"});
    row("commented-out flag", "x --a 1 # --b 2\n#x --c 3\n", {"--a = 1"});
    row("environment before the command", "A=1 B=2 x --a 3\n", {"A = 1", "B = 2", "--a = 3"});
    row("here-document", "cat > f <<EOF\n--z 9\nEOF\nx --a 1\ncat <<-'E'\n\t--y 1 2 3 --w 5\n\tE\n", {"--a = 1"});
    row("redirections and pipes", "x --a 1 --b 2 > log 2>&1 | tee --z y\n", {"--a = 1", "--b = 2"});
    row("and so on", "cd d && x --a 1 --b 2 || exit 1\n", {"--a = 1", "--b = 2"});
    row("eval", "C=\"x --a 1 --b '2'\"\neval $C\n", {"--a = 1", "--b = '2'"});
    row("command in a string", "C=\"python a.py --a 1\"\n$C\n", {"script = a.py", "--a = 1"});
    row("bash -c", "srun bash -c \"python a.py --a 1 \\\n --b 2\"\n", {"script = a.py", "--a = 1", "--b = 2"});
    row("sbatch", "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --time=1:00\nx --a 1\n",
        {"sbatch.--nodes = 4", "sbatch.--time = 1:00", "--a = 1"});
    row("the command with most flags", "p --a 1\nx --b 1 --c 2\nq --d 3\n", {"--b = 1", "--c = 2"});
    row("source", "source env.sh\n. other.sh\nx --a $A\n", {"--a = <$A>"});
    row("last flag wins", "x --a 1 --b 2 --a 3\n", {"--b = 2", "--a = 3"});
    row("branch taken", "M=7b\nif [ $M = 7b ]; then H=1; else H=2; fi\nx --a $H\n", {"M = 7b", "H = 1", "--a = 1"});
    row("branch not taken", "M=7b\nif [[ $M == 1* ]]; then H=1\nelif [ $M = 7b ]\nthen H=2; fi\nx --a $H\n",
        {"M = 7b", "H = 2", "--a = 2"});
    row("branch not known", "if [ $1 = 7b ]; then H=1; else H=2; fi\nx --a $H\n", {"H = <2>", "--a = <2>"});
    row("default if unset", "[ -z \"$H\" ] && H=3\nx --a $H\n", {"H = 3", "--a = 3"});
    row("case", "M=7b\ncase $M in\n 1b) H=1;;\n 7b|8b)\n H=2\n ;;\n *) H=3 ;;\nesac\nx --a $H\n",
        {"M = 7b", "H = 2", "--a = 2"});
    row("case not known", "case $1 in 1b) H=1;; *) H=3 ;; esac\nx --a $H\n", {"H = <3>", "--a = <3>"});
    row("options of the command line",
        "H=4\nwhile [[ $# -gt 0 ]]; do case $1 in --h) H=$2; shift 2;; esac; done\nx --a $H\n", {"H = 4", "--a = 4"});
    row("loop", "for i in 1 2; do x --a $i --b 2; done\n", {"--a = <$i>", "--b = 2"});
    row("function", "run() {\n x --a $1 --b 2\n}\nrun 3\n", {"--a = <$1>", "--b = 2"});
    row("variables that double", "A=11\nB=$A$A\nC=$B$B\nx --a $C\n",
        {"A = 11", "B = 1111", "C = 11111111", "--a = 11111111"});
    row("CRLF", "x --a 1 \\\r\n --b 2\r\n", {"--a = 1", "--b = 2"});
}

void TestConfigSyntax::reads()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QStringList, settings);
    QCOMPARE(settingsOf(opened(name, text)), settings);
}

void TestConfigSyntax::writes_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("changed");
    const auto row = [](const char* title, const char* name, const char* text, const char* edit, const char* changed) {
        QTest::newRow(title) << name << text << edit << changed;
    };
    row("JSON beside comments", "a.json", "{\n  // é one\n  \"a\": 1, // two\n}", "a=2",
        "{\n  // é one\n  \"a\": 2, // two\n}");
    row("JSON key behind a comment", "a.json", "{\n  \"a\": 1 // one\n}\n", "b=2",
        "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n");
    row("TOML number", "a.toml", "a = 10_000 # x\r\nb = 1\r\n", "a=5", "a = 5 # x\r\nb = 1\r\n");
    row("TOML text stays a text", "a.toml", "a = \"2\"\n", "a=4", "a = \"4\"\n");
    row("TOML literal text", "a.toml", "a = 'x'\n", "a=y", "a = 'y'\n");
    row("TOML text with a quote", "a.toml", "a = 'x'\n", "a=it's", "a = \"it's\"\n");
    row("TOML word for a number", "a.toml", "a = 2\n", "a=auto", "a = \"auto\"\n");
    row("TOML flag", "a.toml", "enable=true\n", "enable=false", "enable=false\n");
    row("TOML new key", "a.toml", "[t]\n  a = 1 # x\n\n[u]\nb = 2\n", "t.c=3",
        "[t]\n  a = 1 # x\n  c = 3\n\n[u]\nb = 2\n");
    row("TOML new key in an empty table", "a.toml", "[t]\n[u]\nb = 2\n", "t.c=3", "[t]\nc = 3\n[u]\nb = 2\n");
    row("TOML new key above", "a.toml", "a = 1\n[t]\nb = 2\n", "c=3", "a = 1\nc = 3\n[t]\nb = 2\n");
    row("TOML first key above", "a.toml", "[t]\nb = 2\n", "c=3", "c = 3\n[t]\nb = 2\n");
    row("TOML new table", "a.toml", "a = 1\n", "t.u=full", "a = 1\n\n[t]\nu = \"full\"\n");
    row("TOML new table without a last line end", "a.toml", "[a]\nb = 1", "t.u=2", "[a]\nb = 1\n\n[t]\nu = 2");
    row("TOML inline", "a.toml", "a = {b = 1}\n", "a.c=2", "a = {b = 1, c = 2}\n");
    row("TOML list", "a.toml", "a = [\"x\"] # y\n", "a=[u, v]", "a = [\"u\", \"v\"] # y\n");
    row("TOML item", "a.toml", "a = [1, 2]\n", "a[1]=3", "a = [1, 3]\n");
    row("TOML after wide characters", "a.toml", "a = {x = \"é汉😀\", y = 2}\n", "a.y=3", "a = {x = \"é汉😀\", y = 3}\n");
    addShellEdits();
    addPythonEdits();
}

void TestConfigSyntax::addPythonEdits()
{
    const auto row = [](const char* title, const char* text, const char* edit, const char* changed) {
        QTest::newRow((std::string("Python: ") + title).c_str()) << "a.py" << text << edit << changed;
    };
    row("number", "a = 1  # one\n", "a=2", "a = 2  # one\n");
    row("text", "a = 'x'\n", "a=it's", "a = 'it\\'s'\n");
    row("text stays a text", "a = \"1\"\n", "a=2", "a = \"2\"\n");
    row("flag", "a = dict(b=False)\n", "a.b=true", "a = dict(b=True)\n");
    row("None", "a = None\n", "a=2", "a = 2\n");
    row("word for a number", "a = 1\n", "a=auto", "a = 'auto'\n");
    row("through a name", "n = 4\na = dict(b=n)\n", "a.b=5", "n = 5\na = dict(b=n)\n");
    row("name used twice", "n = 4\na = dict(b=n, c=n * 2)\n", "a.b=5", "n = 4\na = dict(b=5, c=n * 2)\n");
    row("the name itself", "n = 4\na = dict(b=n, c=n * 2)\n", "n=5", "n = 5\na = dict(b=n, c=n * 2)\n");
    row("arithmetic", "a = 8 * 2048\n", "a=4096", "a = 4096\n");
    row("what is not known", "a = f(1)\n", "a=2", "a = 2\n");
    row("new argument in a row", "a = dict(b=1)\n", "a.c=2", "a = dict(b=1, c=2)\n");
    row("new argument on a line", "a = dict(\n    b=1,  # one\n)\n", "a.c=x",
        "a = dict(\n    b=1,\n    c='x',  # one\n)\n");
    row("new argument without a last comma", "a = dict(\n    b=1\n)\n", "a.c=2", "a = dict(\n    b=1,\n    c=2\n)\n");
    row("first argument", "x = 1\na = dict()\n", "a.c=2", "x = 1\na = dict(c=2)\n");
    row("new item of a dict", "a = {\"b\": 1}\n", "a.c=2", "a = {\"b\": 1, \"c\": 2}\n");
    row("new argument of an object", "f = FSDPConfig(tp_size=1)\n", "FSDPConfig.ep_size=2",
        "f = FSDPConfig(tp_size=1, ep_size=2)\n");
    row("item", "a = [1, 2]\n", "a[1]=3", "a = [1, 3]\n");
}

void TestConfigSyntax::addShellEdits()
{
    const auto row = [](const char* title, const char* text, const char* edit, const char* changed) {
        QTest::newRow((std::string("shell: ") + title).c_str()) << "a.sh" << text << edit << changed;
    };
    row("value", "x --a 1 \\\n  --b 2 # c\n", "--a=5", "x --a 5 \\\n  --b 2 # c\n");
    row("value after =", "x --a=1 --b=2\n", "--a=5", "x --a=5 --b=2\n");
    row("value in quotes", "x --a \"1\" --b '2'\n", "--a=5", "x --a \"5\" --b '2'\n");
    row("value that needs quotes", "x --a 1\n", "--a=b c", "x --a 'b c'\n");
    row("value in an array", "O=(\n  --a 1\n  --b 2\n)\nx ${O[@]}\n", "--b=3", "O=(\n  --a 1\n  --b 3\n)\nx ${O[@]}\n");
    row("value in a string", "O=\"--a 1 --b 2\"\nx $O\n", "--b=3", "O=\"--a 1 --b 3\"\nx $O\n");
    row("through a variable", "A=1\nx --a $A\n", "--a=2", "A=2\nx --a $A\n");
    row("through two variables", "A=1\nB=$A\nx --a $B\n", "--a=2", "A=2\nB=$A\nx --a $B\n");
    row("variable in a name", "A=1\nx --a $A --save out/a$A\n", "--a=2", "A=2\nx --a $A --save out/a$A\n");
    row("variable used twice", "A=1\nx --a $A --b $A\n", "--a=2", "A=1\nx --a 2 --b $A\n");
    row("variable in arithmetic", "A=1\nx --a $A --b $((A*8))\n", "--a=2", "A=1\nx --a 2 --b $((A*8))\n");
    row("the variable itself", "A=1\nx --a $A --b $((A*8))\n", "A=2", "A=2\nx --a $A --b $((A*8))\n");
    row("arithmetic", "A=1\nx --b $((A*8))\n", "--b=16", "A=1\nx --b 16\n");
    row("default", "A=${A:-1}\nx --a $A\n", "--a=2", "A=${A:-2}\nx --a $A\n");
    row("what is not known", "x --a $1\n", "--a=2", "x --a 2\n");
    row("last of two", "x --a 1 --b 2 --a 3\n", "--a=4", "x --a 1 --b 2 --a 4\n");
    row("words of Python", "x --bf16 True --a 1\n", "--bf16=false", "x --bf16 False --a 1\n");
    row("several values", "x --m a b \\\n --c 1\n", "--m=[d]", "x --m d \\\n --c 1\n");
    row("more values", "x --m a b\n", "--m=[a, b, c]", "x --m a b c\n");
    row("several for one", "x --m a --n 2\n", "--m=[b, c]", "x --m b c --n 2\n");
    row("new flag on a line of its own", "x \\\n    --a 1 \\\n    --b 2\n", "--c=3",
        "x \\\n    --a 1 \\\n    --b 2 \\\n    --c 3\n");
    row("new flag in a row", "x --a 1 --b 2 | tee y\n", "--c=3", "x --a 1 --b 2 --c 3 | tee y\n");
    row("new flag in an array", "O=(\n\t--a 1\n\t--b \"2\" # two\n)\nx ${O[@]}\n", "--c=3",
        "O=(\n\t--a 1\n\t--b \"2\" # two\n\t--c 3\n)\nx ${O[@]}\n");
    row("new flag in a string", "O=\"\n --a 1 \\\n --b 2 \\\n\"\nx $O\n", "--c=3",
        "O=\"\n --a 1 \\\n --b 2 \\\n --c 3 \\\n\"\nx $O\n");
    row("new flag in a short string", "O=\"--a 1\"\nx $O\n", "--c=3", "O=\"--a 1 --c 3\"\nx $O\n");
    row("new flag with =", "x --a=1\n", "--c=3", "x --a=1 --c=3\n");
    row("new switch", "x --a 1\n", "--c=true", "x --a 1 --c\n");
    row("new switch in words", "x --bf16 True\n", "--c=true", "x --bf16 True --c True\n");
    row("new flag with CRLF", "x \\\r\n --a 1\r\n", "--c=3", "x \\\r\n --a 1 \\\r\n --c 3\r\n");
    row("switch out of a line", "x --a 1 --s --b 2\n", "--s=false", "x --a 1 --b 2\n");
    row("switch on a line of its own", "x \\\n --s \\\n --b 2\n", "--s=false", "x \\\n --b 2\n");
    row("switch on the last line", "x \\\n --b 2 \\\n --s\ny\n", "--s=false", "x \\\n --b 2\ny\n");
    row("switch in an array", "O=(\n --a 1\n --s # why\n)\nx ${O[@]}\n", "--s=false", "O=(\n --a 1\n)\nx ${O[@]}\n");
    row("switch that is not there", "x --a 1\n", "--s=false", "x --a 1\n");
    row("sbatch", "#SBATCH --nodes=4\nx --a 1\n", "sbatch.--nodes=8", "#SBATCH --nodes=8\nx --a 1\n");
}

void TestConfigSyntax::writes()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, edit);
    QFETCH(QString, changed);
    const auto written = opened(name, text).set(std::vector{editFrom(edit)});
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QCOMPARE(QString::fromStdString(written->bytes()), changed);
}

void TestConfigSyntax::refuses_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* title, const char* name, const char* text, const char* edit, const char* reason) {
        QTest::newRow(title) << name << text << edit << reason;
    };
    row("TOML list with comments", "a.toml", "a = [1, # one\n 2]\n", "a=[3]", "would lose the comments in it");
    row("TOML value for a list", "a.toml", "a = [1, 2]\n", "a=3", "holds several values");
    row("Python: object", "a.py", "f = A(b=1)\nc = dict(d=1)\n", "c=2", "changed item by item");
    row("Python: no such object", "a.py", "a = 1\n", "b.c=2", "there is no place");
    row("shell: put together", "a.sh", "A=1\nx --a b$A\n", "--a=c", "put together from several places");
    row("shell: quotes", "a.sh", "x --a \"1\"\n", "--a=$b", "within the quotes");
    row("shell: word in a string of options", "a.sh", "O=\"--a 1\"\nx $O\n", "--a=b c", "can't be set");
    row("shell: no flag to stand beside", "a.sh", "A=1\n", "--a=2", "there is no place");
    row("shell: no such variable", "a.sh", "A=1\nx --a $A\n", "B=2", "there is no place");
}

void TestConfigSyntax::refuses()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, edit);
    QFETCH(QString, reason);
    const auto written = opened(name, text).set(std::vector{editFrom(edit)});
    QVERIFY2(!written, written ? written->bytes().c_str() : "");
    QVERIFY2(QString::fromStdString(written.error().english()).contains(reason), written.error().english().c_str());
}

void TestConfigSyntax::brokenFilesGiveASentence_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("TOML") << "a.toml"
                          << "a = 1\nb = \n"
                          << "a.toml:2: the file is not valid TOML";
    QTest::newRow("TOML key twice") << "a.toml"
                                    << "a = 1\na = 2\n"
                                    << "a.toml:2: the file is not valid TOML";
    QTest::newRow("TOML with only comments") << "a.toml"
                                             << "# x\n"
                                             << "a.toml: the file holds no settings";
    QTest::newRow("Python without values") << "a.py"
                                           << "import os\n"
                                           << "a.py: the file assigns no values";
    QTest::newRow("shell without settings") << "a.sh"
                                            << "# x\necho y\n"
                                            << "a.sh: the script holds neither variables nor a command with flags";
    QTest::newRow("deep TOML") << "a.toml"
                               << "a = " + QString("[").repeated(5000) << "is not valid TOML";
}

void TestConfigSyntax::brokenFilesGiveASentence()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const auto document = ConfigDocument::parse(text.toStdString(), name.toStdString());
    QVERIFY(!document);
    QVERIFY2(QString::fromStdString(document.error().english()).contains(sentence), document.error().english().c_str());
}

QTEST_APPLESS_MAIN(TestConfigSyntax)
#include "tst_config_syntax.moc"
