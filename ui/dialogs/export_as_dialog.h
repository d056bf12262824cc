// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/export_plan.h"

#include <QDialog>

#include <filesystem>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace headroom {

class Workspace;

/// The plan as it stands in another format: the new file, what it can't say, and what it means without being told.
class ExportAsDialog : public QDialog
{
    Q_OBJECT

public:
    explicit ExportAsDialog(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] const std::filesystem::path& savedPath() const { return m_savedPath; }
    [[nodiscard]] QComboBox* format() const { return m_format; }
    [[nodiscard]] QLineEdit* pathEdit() const { return m_path; }
    [[nodiscard]] QPlainTextEdit* preview() const { return m_preview; }
    [[nodiscard]] QPlainTextEdit* omitted() const { return m_omitted; }
    [[nodiscard]] QPlainTextEdit* assumed() const { return m_assumed; }
    [[nodiscard]] QPushButton* saveButton() const { return m_save; }

private:
    void write();
    void browse();
    void save();
    void showReason(const QString& reason);

    Workspace& m_workspace;
    QComboBox* m_format;
    QPlainTextEdit* m_preview;
    QLabel* m_omittedTitle;
    QPlainTextEdit* m_omitted;
    QLabel* m_assumedTitle;
    QPlainTextEdit* m_assumed;
    QLineEdit* m_path;
    QLabel* m_note;
    QPushButton* m_save;
    std::optional<PlanExport> m_export;
    std::filesystem::path m_savedPath;
};

} // namespace headroom
