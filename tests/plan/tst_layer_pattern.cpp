// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/fields.h"
#include "plan/layer_pattern.h"
#include "plan/validity.h"

#include <QtTest>

using namespace headroom;

/// Which layers a hybrid has, whichever way its file says so.
class LayerPatternTest : public QObject
{
    Q_OBJECT

private slots:
    void letters_data();
    void letters();
    void wrongLetters_data();
    void wrongLetters();
    void ofPlans_data();
    void ofPlans();
    void wrongPlans_data();
    void wrongPlans();
};

namespace {

/// The layers as letters again: those of Megatron, and small ones for a mixer with something behind it.
QString lettersOf(const std::vector<LayerKind>& layers)
{
    QString text;
    for (const LayerKind kind : layers) {
        const char mixer = kind.mixer == Mixer::Attention ? '*'
            : kind.mixer == Mixer::Mamba2                 ? 'M'
            : kind.mixer == Mixer::Mamba                  ? 'm'
            : kind.mixer == Mixer::DeltaNet               ? 'G'
                                                          : ' ';
        const char behind = kind.feedForward == FeedForward::Mlp ? '-'
            : kind.feedForward == FeedForward::Experts           ? 'E'
                                                                 : ' ';
        text += QString(QChar(mixer)) + QChar(behind);
    }
    return text.remove(' ');
}

/// "key=value key=value", lists with commas.
TrainingPlan planOf(const QString& settings)
{
    TrainingPlan plan;
    for (const QString& setting : settings.split(' ')) {
        const QStringList parts = setting.split('=');
        const auto set = setField(plan, parts.at(0).toStdString(), parts.at(1).toStdString(),
                                  {OriginKind::ConfigFile, 7, std::make_shared<const std::string>("a.yaml")});
        if (!set) {
            qFatal("%s", set.error().english().c_str());
        }
    }
    return plan;
}

} // namespace

void LayerPatternTest::letters_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QList<int>>("segments");
    QTest::addColumn<int>("predictors");
    QTest::addColumn<QString>("predictor");
    QTest::newRow("one of each") << "M*-EG"
                                 << "M*-EG" << QList<int>{5} << 0 << "";
    QTest::newRow("two stages") << "M-M|*-"
                                << "M-M*-" << QList<int>{3, 2} << 0 << "";
    QTest::newRow("an empty stage") << "M-||M"
                                    << "M-M" << QList<int>{2, 0, 1} << 0 << "";
    QTest::newRow("predictions") << "ME*E/*E/*E"
                                 << "ME*E" << QList<int>{4} << 2 << "*E";
}

void LayerPatternTest::letters()
{
    QFETCH(QString, text);
    QFETCH(QList<int>, segments);
    const auto pattern = parseLayerPattern(text.toStdString());
    QVERIFY2(pattern, pattern ? "" : pattern.error().english().c_str());
    QTEST(lettersOf(pattern->layers), "layers");
    QTEST(lettersOf(pattern->predictor), "predictor");
    QTEST(static_cast<int>(pattern->predictors), "predictors");
    QCOMPARE(QList<int>(pattern->segments.begin(), pattern->segments.end()), segments);
}

void LayerPatternTest::wrongLetters_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("a letter") << QByteArray("M-X") << "“X” is no layer";
    QTest::newRow("a binary one") << QByteArray("M\x01") << "“?” is no layer";
    QTest::newRow("none") << QByteArray("") << "empty";
    QTest::newRow("bars alone") << QByteArray("||") << "empty";
    QTest::newRow("predictions that differ") << QByteArray("M-/*E/*-") << "differ";
    QTest::newRow("far too long") << QByteArray(200'000, 'M') << "longer";
}

void LayerPatternTest::wrongLetters()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, sentence);
    const auto pattern = parseLayerPattern(text.toStdString());
    QVERIFY(!pattern);
    QVERIFY2(QString::fromStdString(pattern.error().english()).contains(sentence), pattern.error().english().c_str());
}

void LayerPatternTest::ofPlans_data()
{
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("layers");
    QTest::newRow("no hybrid") << "model.layers=3"
                               << "";
    QTest::newRow("by type") << "model.layers=3 mixer.layer_types=linear_attention,full_attention,linear_attention"
                             << "G-*-G-";
    QTest::newRow("Mamba by type") << "model.layers=2 mixer.layer_types=mamba,attention"
                                   << "M-*-";
    QTest::newRow("every third") << "model.layers=6 mixer.kind=gated_delta_net mixer.attention_every=3"
                                 << "G-G-*-G-G-*-";
    QTest::newRow("with an offset")
        << "model.layers=5 mixer.kind=mamba mixer.attention_every=4 mixer.attention_offset=1"
        << "m-*-m-m-m-";
    QTest::newRow("by place") << "model.layers=4 mixer.kind=mamba2 mixer.attention_layers=2"
                              << "M-M-*-M-";
    QTest::newRow("experts")
        << "model.layers=4 mixer.kind=mamba2 mixer.attention_layers=2 moe.experts=8 moe.layer_freq=2"
        << "MEM-*EM-";
}

void LayerPatternTest::ofPlans()
{
    QFETCH(QString, settings);
    const auto pattern = layerPatternOf(planOf(settings));
    QVERIFY2(pattern, pattern ? "" : pattern.error().english().c_str());
    QTEST(lettersOf(pattern->layers), "layers");
}

void LayerPatternTest::wrongPlans_data()
{
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("too short") << "model.layers=4 model.hidden=64 model.layer_pattern=M-M"
                               << "a.yaml:7: the pattern has 3 layers, the model 4";
    QTest::newRow("a letter") << "model.layers=3 model.hidden=64 model.layer_pattern=M?M"
                              << "a.yaml:7: “?” is no layer";
    QTest::newRow("a type") << "model.layers=1 model.hidden=64 mixer.layer_types=conv"
                            << "a.yaml:7: layers of the type “conv”";
    QTest::newRow("a place") << "model.layers=4 model.hidden=64 mixer.kind=mamba2 mixer.attention_layers=4"
                             << "a.yaml:7: “4” is no place";
    QTest::newRow("heads that can't be split")
        << "model.layers=1 model.hidden=64 model.layer_pattern=M mixer.heads=6 parallel.tp=4"
        << "parallel.tp = 4 does not divide mixer.heads = 6";
}

void LayerPatternTest::wrongPlans()
{
    QFETCH(QString, settings);
    QFETCH(QString, sentence);
    QStringList found;
    for (const Problem& problem : validate(planOf(settings))) {
        if (problem.severity == Severity::Error) {
            found += QString::fromStdString(problem.english());
        }
    }
    QVERIFY2(found.join('\n').contains(sentence), qPrintable(found.join('\n')));
}

QTEST_APPLESS_MAIN(LayerPatternTest)
#include "tst_layer_pattern.moc"
