// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every worked number of theory.md that its addenda have not replaced is tested somewhere: in theory_checks_*.cpp, or
// in the program that `elsewhere` names. A case that is added to the file fails until somebody tests it.
#include "footprint/theory_cases.h"
#include "footprint/theory_checks.h"
#include "support/folders.h"

#include <QtTest>

#include <tuple>

using namespace headroom;
using test::Json;

namespace {

/// Which test program of this project holds a case, and the words by which it says so.
const std::vector<std::tuple<QByteArray, QByteArray, QByteArray>>& elsewhere()
{
    static const std::vector<std::tuple<QByteArray, QByteArray, QByteArray>> places{
        {"P0", "footprint/recipe/tst_parameters.cpp", "\"P0\""},
        {"P10", "footprint/recipe/tst_parameters.cpp", "303'507'456"},
        {"P11", "footprint/recipe/tst_parameters.cpp", "675'759'104"},
        {"P12", "footprint/recipe/tst_parameters.cpp", "20'979'712"},
        {"P13", "footprint/recipe/tst_parameters.cpp", "75'601'920"},
        {"P16", "footprint/recipe/tst_stage_parameters.cpp", "1'947'066'368"},
        {"P17", "footprint/recipe/tst_stage_parameters.cpp", "1'713'299'456"},
        {"P18", "footprint/recipe/tst_stage_parameters.cpp", "1'954'295'808"},
        {"P19", "footprint/recipe/tst_stage_parameters.cpp", "226'492'416"},
        {"S01", "footprint/recipe/tst_state.cpp", "\"S01\""},
        {"S06", "footprint/torch/tst_torch_state.cpp", "S06 LoRA"},
        {"S07", "footprint/recipe/tst_state.cpp", "3'999'809'536"},
        {"S08", "footprint/recipe/tst_state.cpp", "60'416"},
        {"A01", "footprint/recipe/tst_activations.cpp", "paperLayers"},
        {"A02", "footprint/recipe/tst_activations.cpp", "\"A02\""},
        {"A03", "footprint/recipe/tst_activations.cpp", "\"A03\""},
        {"A04", "footprint/recipe/tst_activations.cpp", "\"A04\""},
        {"A09", "footprint/torch/tst_torch_kept.cpp", "A09 Llama-2-7B"},
        {"A10", "footprint/torch/tst_torch_kept.cpp", "A10 Llama-3-8B"},
        {"A16", "footprint/recipe/tst_recompute.cpp", "\"A16\""},
        {"A17", "footprint/recipe/tst_recompute.cpp", "\"A17\""},
        {"A18", "footprint/torch/tst_torch_kept.cpp", "A18"},
        {"I01", "footprint/schedule/tst_schedule.cpp", "\"I01\""},
        {"I02", "footprint/schedule/tst_schedule.cpp", "\"I02\""},
        {"I03", "footprint/schedule/tst_schedule.cpp", "\"I03\""},
        {"I04", "footprint/schedule/tst_schedule.cpp", "\"I04\""},
        {"I05", "footprint/schedule/tst_schedule.cpp", "\"I05\""},
        {"M", "allocator/tst_caching_allocator.cpp", "theory_cases.json"},
        {"F01", "footprint/outlook/tst_step_time.cpp", "F01a and F01b"},
        {"F02", "footprint/outlook/tst_step_time.cpp", "F02"},
        {"F04", "footprint/outlook/tst_step_time.cpp", "F04"},
        {"F05", "footprint/outlook/tst_step_time.cpp", "F05"},
        {"K03", "insight/tst_least_squares.cpp", "\"K03\""},
        {"K04", "insight/tst_least_squares.cpp", "\"K04\""},
        {"V", "replay/tst_anchors.cpp", "V09"},
    };
    return places;
}

test::TheoryCheck checkOf(const std::string& id)
{
    for (const auto* checks :
         {&test::stateChecks(), &test::tapeChecks(), &test::stepChecks(), &test::activationChecks()}) {
        if (const auto found = checks->find(id.substr(0, 3)); found != checks->end()) {
            return found->second;
        }
    }
    return nullptr;
}

} // namespace

class TestTheoryCases : public QObject
{
    Q_OBJECT

private slots:
    void holds_data();
    void holds();
};

void TestTheoryCases::holds_data()
{
    test::addTheoryRows({""});
}

void TestTheoryCases::holds()
{
    QFETCH(Json, row);
    const std::string id = row.at("id");
    if (const test::TheoryCheck check = checkOf(id)) {
        check(row.at("inputs"), row.at("expected"));
        return;
    }
    for (const auto& [prefix, path, words] : elsewhere()) {
        if (id.starts_with(prefix.toStdString())) {
            QFile file(sourcePath("tests") / path.toStdString());
            QVERIFY2(file.open(QIODevice::ReadOnly), path.constData());
            QVERIFY2(file.readAll().contains(words), (path + " says nothing of " + words).constData());
            return;
        }
    }
    QFAIL("no test covers this case");
}

QTEST_APPLESS_MAIN(TestTheoryCases)
#include "tst_theory_cases.moc"
