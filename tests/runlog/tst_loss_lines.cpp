// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/loss_lines.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace headroom;

class TestLossLines : public QObject
{
    Q_OBJECT

private slots:
    void init() { QVERIFY(m_folder.isValid()); }

    void reads_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QList<double>>("losses"); // by step, from step 1 on
        QTest::addColumn<int>("problems");
        const QList<double> three{4, 3.5, 3.25};
        QTest::newRow("plain") << QByteArray("{\"step\": 1, \"loss\": 4}\n{\"step\": 2, \"loss\": 3.5}\n"
                                             "{\"step\": 3, \"loss\": 3.25}\n")
                               << three << 0;
        QTest::newRow("no end of line, CRLF, blank lines") << QByteArray(
            "{\"step\": 1, \"loss\": 4}\r\n\r\n  \n{\"step\": 2, \"loss\": 3.5}\r\n{\"step\": 3, \"loss\": 3.25}")
                                                           << three << 0;
        QTest::newRow("other keys between")
            << QByteArray("{\"loss\":4.0,\"lr\":1e-4,\"step\":1,\"name\":\"a \\\"step\\\" b\"}\n"
                          "{\"loss\":3.5,\"lr\":2.5E-4,\"step\":2,\"name\":\"a \\\"step\\\" b\"}\n"
                          "{\"loss\":3.25e0,\"lr\":3,\"step\":3,\"name\":\"other\"}\n")
            << three << 0;
        QTest::newRow("order changes") << QByteArray("{\"step\": 1, \"loss\": 4}\n{\"loss\": 3.5, \"step\": 2}\n"
                                                     "{\"step\": 3, \"loss\": 3.25}\n")
                                       << three << 0;
        QTest::newRow("names of other loggers")
            << QByteArray("{\"iteration\": 1, \"lm loss\": 4}\n"
                          "{\"global_step\": 2, \"train/loss\": 3.5}\n"
                          "{\"current_steps\": 3, \"loss\": 3.25, \"total_steps\": 9}\n")
            << three << 0;
        QTest::newRow("strings and whole floats") << QByteArray("{\"step\": \"1\", \"loss\": \"4.0\"}\n"
                                                                "{\"step\": 2.0, \"loss\": 3.5}\n"
                                                                "{\"step\": 3.0, \"loss\": 3.25}\n")
                                                  << three << 0;
        QTest::newRow("evaluations between")
            << QByteArray("{\"step\": 1, \"loss\": 4}\n{\"step\": 1, \"eval_loss\": 9}\n"
                          "{\"step\": 2, \"loss\": 3.5}\n{\"lr\": 1}\n"
                          "{\"step\": 3, \"loss\": 3.25}\n")
            << three << 0;
        QTest::newRow("cut off, text, array")
            << QByteArray("warming up\n[1, 2]\n{\"step\": 1, \"loss\": 4}\n"
                          "{\"step\": 2, \"loss\": 3.5}\n{\"step\": 3, \"loss\": 3.25}\n"
                          "{\"step\": 4, \"lo")
            << three << 3;
        QTest::newRow("no step") << QByteArray(
            "{\"loss\": 9}\n{\"step\": 1, \"loss\": 4}\n{\"step\": 2, \"loss\": 3.5}\n"
            "{\"step\": 3, \"loss\": 3.25}\n")
                                 << three << 1;
        QTest::newRow("inner objects") << QByteArray("{\"step\": 1, \"loss\": 4, \"x\": {\"loss\": 7}}\n"
                                                     "{\"step\": 2, \"loss\": 3.5, \"x\": {\"loss\": 8}}\n"
                                                     "{\"step\": 3, \"loss\": 3.25, \"x\": {\"loss\": 8}}\n")
                                       << three << 0;
        QTest::newRow("not numbers") << QByteArray("{\"step\": 1, \"loss\": NaN}\n{\"step\": 2, \"loss\": -Infinity}\n"
                                                   "{\"step\": 3, \"loss\": null}\n")
                                     << QList<double>{NAN, NAN, NAN} << 0;
    }

    void reads()
    {
        QFETCH(QByteArray, text);
        QFETCH(QList<double>, losses);
        QFETCH(int, problems);
        const auto lines = readLossLines(write(text));
        QVERIFY(lines);
        QCOMPARE(lines->problemCount, problems);
        QCOMPARE(lines->problems.size(), static_cast<std::size_t>(problems));
        QCOMPARE(lines->steps.size(), static_cast<std::size_t>(losses.size()));
        for (std::size_t i = 0; i < lines->steps.size(); ++i) {
            QCOMPARE(lines->steps[i], static_cast<std::int64_t>(i + 1));
            const double expected = losses[static_cast<qsizetype>(i)];
            QVERIFY(std::isnan(expected) ? std::isnan(lines->losses[i]) : lines->losses[i] == expected);
        }
    }

    void countsLinesOverPieces()
    {
        // Some ten MiB, so that several pieces are read at once, with one bad line deep inside.
        QByteArray text;
        const int rows = 300'000;
        for (int row = 1; row <= rows; ++row) {
            text += row == 250'000 ? QByteArray("oops\n")
                                   : "{\"step\": " + QByteArray::number(row) + ", \"loss\": 2.5, \"grad_norm\": 0."
                    + QByteArray::number(row % 97) + "}\n";
        }
        const auto lines = readLossLines(write(text));
        QVERIFY(lines);
        QCOMPARE(lines->steps.size(), static_cast<std::size_t>(rows - 1));
        for (std::size_t i = 0; i < lines->steps.size(); ++i) {
            if (lines->steps[i] != lines->lines[i]) {
                QCOMPARE(lines->lines[i], lines->steps[i]);
            }
        }
        QCOMPARE(lines->problemCount, 1);
        QCOMPARE(lines->problems.front().line, 250'000);
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("binary") << QByteArray("\0\1\2\xff\xfe", 5);
        QTest::newRow("a config") << QByteArray("train:\n  micro_batch_size: 2\n");
        QTest::newRow("steps only") << QByteArray("{\"step\": 1}\n{\"step\": 2}\n");
        QTest::newRow("deep nesting") << QByteArray(100'000, '[');
    }

    void refuses()
    {
        QFETCH(QByteArray, text);
        const auto lines = readLossLines(write(text));
        QVERIFY(!lines);
        QVERIFY(!lines.error().english().empty());
    }

    void missingFile() { QVERIFY(!readLossLines("/nowhere/a.jsonl")); }

    void recognises()
    {
        QVERIFY(looksLikeLossLines(write("\n{\"step\": 1, \"loss\": 4}\n")));
        QVERIFY(!looksLikeLossLines(write("phase=forward step=1 peak_alloc=2GiB loss=3\n")));
        QVERIFY(!looksLikeLossLines("/nowhere/a.jsonl"));
    }

private:
    std::filesystem::path write(const QByteArray& text)
    {
        const QString path = m_folder.filePath("a.jsonl");
        QFile file(path);
        const bool written = file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
        Q_ASSERT(written);
        return path.toStdString();
    }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestLossLines)
#include "tst_loss_lines.moc"
