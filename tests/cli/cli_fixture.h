// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace headroom::cli {

struct Outcome
{
    int code = -1;
    QByteArray out;
    QByteArray err;

    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out.toStdString(), nullptr, false); }
};

// The example of the troubleshooting recipe: h 1024, L 24, V 50000, S 1024, micro-batch 2, bf16 with fp32 state.
inline constexpr auto example = "# the recipe's example\n"
                                "model:\n"
                                "  num_layers: 24\n"
                                "  hidden_size: 1024\n"
                                "  vocab_size: 50_000\n"
                                "parallel:\n"
                                "  pipeline_parallel_size: 1        # stages\n"
                                "  tensor_parallel_size: 1\n"
                                "train:\n"
                                "  micro_batch_size: 2              # samples per forward\n"
                                "  gradient_accumulation_steps: 8\n"
                                "  global_batch_size: 16\n"
                                "  seq_length: 1024\n"
                                "recompute:\n"
                                "  enabled: false\n"
                                "  granularity: none\n";

inline constexpr auto logText = "starting\n"
                                "phase=forward step=12 peak_alloc=31.25GiB\n"
                                "[rank1]: step=12 peak_alloc=40.5GiB phase=backward loss=2.5\n"
                                "phase=optimizer step=12 peak_alloc=20GiB\n"
                                "phase=forward step=13 peak_alloc=30GiB\n";

/// Runs the program in a folder of its own, in which a.yaml and train.log are.
class CliFixture : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        write("a.yaml", example);
        write("train.log", logText);
    }

protected:
    QString write(const char* name, const QByteArray& bytes)
    {
        QFile file(m_folder->filePath(QString::fromLatin1(name)));
        const bool isOpen = file.open(QIODevice::WriteOnly);
        Q_ASSERT(isOpen);
        file.write(bytes);
        return file.fileName();
    }

    Outcome run(const QStringList& arguments)
    {
        QProcess process;
        process.setWorkingDirectory(m_folder->path());
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), m_folder->filePath(QStringLiteral("config")));
        environment.insert(QStringLiteral("LC_ALL"), m_locale);
        environment.insert(QStringLiteral("LANGUAGE"), m_languages);
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(HEADROOM_CLI), arguments);
        process.waitForFinished(60000);
        if (process.exitStatus() != QProcess::NormalExit) {
            return {-1, {}, "crashed"};
        }
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_locale = QStringLiteral("C"), m_languages; ///< of the program's environment
};

} // namespace headroom::cli
