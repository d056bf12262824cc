// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <filesystem>

class QLabel;
class QLineEdit;
class QPushButton;

namespace headroom {

class DiffView;
class Workspace;

/// Shows what changes in the config and writes it: to a new file beside the original, or over one that is there.
class ExportDialog : public QDialog
{
    Q_OBJECT

public:
    explicit ExportDialog(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] QLineEdit* pathEdit() const { return m_path; }
    /// Writes to the path given.
    [[nodiscard]] QPushButton* saveButton() const { return m_save; }
    /// Writes beside the file that is there, under a free name.
    [[nodiscard]] QPushButton* keepBothButton() const { return m_keepBoth; }
    /// Why nothing can be written; empty when it can.
    [[nodiscard]] QString objection() const;
    /// Where the config went, once the dialog is accepted.
    [[nodiscard]] const std::filesystem::path& savedPath() const { return m_savedPath; }

private:
    void browse();
    void refresh();
    void save(const std::filesystem::path& path);
    [[nodiscard]] std::filesystem::path target() const;
    [[nodiscard]] bool targetIsOriginal() const;

    Workspace& m_workspace;
    DiffView* m_diff;
    QLineEdit* m_path;
    QLabel* m_note;
    QPushButton* m_save;
    QPushButton* m_keepBoth;
    QString m_refusal; ///< of the edits, wherever they would be written
    std::filesystem::path m_savedPath;
};

} // namespace headroom
