// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "support/folders.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

using namespace headroom;

namespace {

const std::map<QString, QStringList>& formatsOf()
{
    static const std::map<QString, QStringList> formats{
        {"megatron-cli", {"megatron-args"}},
        {"megatron-mm", {"megatron-args"}},
        {"megatron-test-yaml", {"megatron-args"}},
        {"nemo1-yaml", {"nemo1"}},
        {"megatron-bridge-yaml", {"megatron-bridge"}},
        {"accelerate-yaml", {"accelerate"}},
        {"nanotron-yaml", {"nanotron"}},
        {"llamafactory-yaml", {"llama-factory"}},
        {"axolotl-yaml", {"axolotl"}},
        {"torchtune-yaml", {"torchtune"}},
        {"xtuner-mmengine-py", {"xtuner"}},
        {"xtuner-v1-py", {"xtuner-v1"}},
        {"internevo-py", {"internevo"}},
        {"olmo-yaml", {"olmo"}},
        {"gpt-neox-yaml", {"gpt-neox"}},
        {"megatron-wrappers", {"megatron-wrappers", "verl"}},
        {"llm-foundry-litgpt", {"llm-foundry", "litgpt"}},
    };
    return formats;
}

/// Keys that no mapping names, each with the reason in a word: rules (a function of the program reads it), launcher
/// (the number of processes comes from there), default (left as it is by everybody), buffer (of a fixed size that no
/// field has), units (how layers are grouped for sharding), bound (an upper limit only), code (the size that it refers
/// to stands in a program), layered (differs from layer to layer),
/// constructor (an argument, read as a key of what is constructed), lengths (changes none of the sizes), overwritten.
const std::map<QString, QString>& ignored()
{
    static const std::map<QString, QString> reasons{
        {"megatron-cli --moe-layer-freq", "rules"},
        {"megatron-cli --step-batch-size-schedule", "rules"},
        {"megatron-cli --nproc_per_node", "launcher"},
        {"megatron-cli --nnodes", "launcher"},
        {"nemo1-yaml trainer.accumulate_grad_batches", "default"},
        {"nemo1-yaml model.mm_cfg.mm_mlp_adapter_type", "code"},
        {"deepspeed-json zero_optimization.stage3_prefetch_bucket_size", "buffer"},
        {"deepspeed-json zero_optimization.stage3_param_persistence_threshold", "buffer"},
        {"deepspeed-json pipeline.*", "code"},
        {"accelerate-yaml num_machines", "launcher"},
        {"accelerate-yaml fsdp_config.fsdp_auto_wrap_policy", "units"},
        {"accelerate-yaml fsdp_config.fsdp_transformer_layer_cls_to_wrap", "units"},
        {"torchtitan-python parallelism.pipeline_parallel_first_stage_less_layers", "code"},
        {"torchtitan-python parallelism.pipeline_parallel_last_stage_less_layers", "code"},
        {"torchtitan-python MemoryBudgetAC.memory_budget", "constructor"},
        {"nanotron-yaml parallelism.tp_recompute_allgather", "default"},
        {"llamafactory-yaml upcast_layernorm", "lengths"},
        {"llamafactory-yaml image_max_pixels", "bound"},
        {"ms-swift --padding_free", "lengths"},
        {"ms-swift NPROC_PER_NODE", "launcher"},
        {"ms-swift MAX_PIXELS", "bound"},
        {"internevo-py data.packed_length", "overwritten"},
        {"internevo-py model.mlp_ratio", "rules"},
        {"olmo-yaml fsdp.wrapping_strategy", "units"},
        {"galvatron use_sp", "layered"},
        {"galvatron vsp", "layered"},
        {"galvatron embed_sdp", "layered"},
    };
    return reasons;
}

using Keys = std::set<QString>;

void add(Keys& keys, const std::vector<ConfigFormat::Key>& from)
{
    for (const ConfigFormat::Key& key : from) {
        keys.insert(QString::fromStdString(key.key));
    }
}

void add(Keys& keys, const std::vector<std::string>& from)
{
    for (const std::string& key : from) {
        keys.insert(QString::fromStdString(key));
    }
}

void add(Keys& keys, const std::vector<ConfigFormat::Condition>& from)
{
    for (const ConfigFormat::Condition& condition : from) {
        add(keys, condition.keys);
    }
}

/// Keys in braces.
void addProducts(Keys& keys, const std::vector<ConfigFormat::Key>& products)
{
    static const QRegularExpression braces("\\{([^}]*)\\}");
    for (const ConfigFormat::Key& product : products) {
        auto found = braces.globalMatch(QString::fromStdString(product.key));
        while (found.hasNext()) {
            keys.insert(found.next().captured(1));
        }
    }
}

/// Keys that mean a field.
Keys fieldKeysOf(const ConfigFormat& format)
{
    Keys keys;
    add(keys, format.keys);
    for (const ConfigFormat::Variant& variant : format.variants) {
        add(keys, variant.keys);
        add(keys, variant.when);
        addProducts(keys, variant.products);
    }
    return keys;
}

/// All keys that a format looks at.
Keys keysOf(const ConfigFormat& format)
{
    Keys keys = fieldKeysOf(format);
    addProducts(keys, format.products);
    for (const auto* list : {&format.files.beside, &format.files.below, &format.files.above, &format.files.models,
                             &format.presetKeys, &format.presetHints, &format.kinds}) {
        add(keys, *list);
    }
    add(keys, format.notEstimated);
    for (const ConfigFormat::NoEffect& rule : format.noEffect) {
        add(keys, rule.when);
    }
    return keys;
}

const ConfigFormat* formatNamed(const QString& id)
{
    const auto& formats = builtinFormats().formats;
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const ConfigFormat& format) { return format.id == id.toStdString(); });
    return found == formats.end() ? nullptr : &*found;
}

/// "a.b|c" is a.b and a.c, or c itself.
QStringList alternatives(const QString& key)
{
    QStringList result = key.split('|');
    const QString place = result.front().contains('.') ? result.front().section('.', 0, -2) + "." : QString();
    for (qsizetype i = 1; i < result.size(); ++i) {
        result[i] = (result[i].contains('.') ? QString() : place) + result[i];
    }
    return result;
}

/// A key, the first item of the list that it holds, or any key in the place before "*" or "<…>".
bool isAmong(const Keys& keys, const QString& key)
{
    const qsizetype open = key.indexOf(QRegularExpression("[*<]"));
    if (open < 0) {
        return keys.contains(key) || keys.contains(key + "[0]") || keys.contains(key + "[0][0][0]");
    }
    return std::any_of(keys.begin(), keys.end(), [&](const QString& one) { return one.startsWith(key.left(open)); });
}

QJsonArray knownFormats()
{
    QFile file(sharedPath("knowledge/configs.json"));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll())["formats"].toArray() : QJsonArray();
}

} // namespace

class TestConfigKeys : public QObject
{
    Q_OBJECT

private slots:
    void everyKeyIsReadOrLeftOutForAReason_data();
    void everyKeyIsReadOrLeftOutForAReason();
    void wrappersReadWhatMegatronReads();
};

void TestConfigKeys::everyKeyIsReadOrLeftOutForAReason_data()
{
    QTest::addColumn<QJsonObject>("format");
    for (const QJsonValue& format : knownFormats()) {
        QTest::newRow(qPrintable(format["id"].toString())) << format.toObject();
    }
    if (knownFormats().isEmpty()) {
        QSKIP("the tables of formats are not here");
    }
}

void TestConfigKeys::everyKeyIsReadOrLeftOutForAReason()
{
    QFETCH(QJsonObject, format);
    const QString id = format["id"].toString();
    const auto own = formatsOf().find(id);
    Keys read;
    for (const QString& name : own == formatsOf().end() ? QStringList{id} : own->second) {
        const ConfigFormat* one = formatNamed(name);
        QVERIFY2(one != nullptr, qPrintable(name));
        read.merge(keysOf(*one));
    }
    QStringList missing, needless;
    const QStringList keys = format["keys"].toObject().keys();
    QVERIFY(!keys.isEmpty());
    for (const QString& alternative : keys) {
        for (const QString& key : alternatives(alternative)) {
            const bool isRead = isAmong(read, key);
            const bool isIgnored = ignored().contains(id + " " + key);
            if (isRead && isIgnored) {
                needless += key;
            } else if (!isRead && !isIgnored) {
                missing += key;
            }
        }
    }
    QCOMPARE(missing, QStringList());
    QCOMPARE(needless, QStringList());
}

/// YAML that passes arguments on has them under the same names with underscores.
void TestConfigKeys::wrappersReadWhatMegatronReads()
{
    const auto flagsOf = [](const Keys& keys, const QString& place) {
        QStringList flags;
        for (const QString& key : keys) {
            if (key.startsWith(place)) {
                flags += key.mid(place.size()).replace('-', '_');
            }
        }
        return flags;
    };
    const QStringList flags = flagsOf(fieldKeysOf(*formatNamed("megatron-args")), "MODEL_ARGS.--");
    QVERIFY(flags.size() > 100);
    const Keys wrapped = fieldKeysOf(*formatNamed("megatron-wrappers"));
    for (const QString place : {"modules.pre_trainer.overrides.", "gpt_args.", "system.", "model."}) {
        for (const QString& flag : flags) {
            QVERIFY2(wrapped.contains(place + flag), qPrintable(place + flag));
        }
    }
}

QTEST_APPLESS_MAIN(TestConfigKeys)
#include "tst_config_keys.moc"
