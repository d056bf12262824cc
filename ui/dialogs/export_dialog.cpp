// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogs/export_dialog.h"

#include "panels/diff_panel.h"
#include "panels/diff_view.h"
#include "panels/styled.h"
#include "workspace/config_export.h"
#include "workspace/library.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <system_error>

namespace headroom {

ExportDialog::ExportDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_diff(new DiffView(this))
    , m_path(new QLineEdit(this))
    , m_note(makeLabel({}, "muted", this))
    , m_save(new QPushButton(this))
    , m_keepBoth(new QPushButton(tr("&Keep both"), this))
{
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export config"));
    auto* pathLabel = new QLabel(tr("&Save to:"), this);
    pathLabel->setBuddy(m_path);
    auto* browseButton = new QPushButton(tr("&Browse…"), this);
    auto* pathLine = new QHBoxLayout;
    pathLine->addWidget(pathLabel);
    pathLine->addWidget(m_path, 1);
    pathLine->addWidget(browseButton);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(m_keepBoth, QDialogButtonBox::ActionRole);
    buttons->addButton(m_save, QDialogButtonBox::AcceptRole);
    m_note->setWordWrap(true);
    m_keepBoth->setAutoDefault(false);
    browseButton->setAutoDefault(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makeLabel(tr("What changes; everything else stays to the byte:"), "strong"));
    layout->addWidget(m_diff, 1);
    layout->addLayout(pathLine);
    layout->addWidget(m_note);
    layout->addWidget(buttons);
    const int character = fontMetrics().averageCharWidth();
    resize(character * 110, fontMetrics().height() * 32);

    if (const LoadedConfig* config = workspace.config()) {
        const auto adjusted = workspace.adjustedConfig();
        if (adjusted) {
            m_diff->setTexts(config->opened.document.bytes(), adjusted->bytes());
            m_diff->setReasons(reasonsOf(*config, *adjusted, workspace.library().catalog));
        } else {
            m_refusal = translated(adjusted.error());
        }
        if (adjusted && m_diff->changedLines() == 0) {
            m_refusal = tr("Nothing changed, so there is nothing to export.");
        }
        m_path->setText(pathText(exportPath(config->path)));
    } else {
        m_refusal = tr("No config is open.");
    }
    connect(browseButton, &QPushButton::clicked, this, &ExportDialog::browse);
    connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::refresh);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_save, &QPushButton::clicked, this, [this] { save(target()); });
    connect(m_keepBoth, &QPushButton::clicked, this, [this] { save(freeExportPath(m_workspace.config()->path)); });
    refresh();
}

std::filesystem::path ExportDialog::target() const
{
    return toPath(m_path->text().trimmed());
}

bool ExportDialog::targetIsOriginal() const
{
    std::error_code error;
    const LoadedConfig* config = m_workspace.config();
    return config != nullptr
        && (target() == config->path || std::filesystem::equivalent(target(), config->path, error));
}

QString ExportDialog::objection() const
{
    if (!m_refusal.isEmpty()) {
        return m_refusal;
    }
    std::error_code error;
    if (target().empty()) {
        return tr("Give a file to write to.");
    }
    if (std::filesystem::is_directory(target(), error)) {
        return tr("%1 is a folder; give the name of a file.").arg(fileName(target()));
    }
    const auto folder = target().parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
        return tr("There is no folder %1.").arg(pathText(folder));
    }
    if (targetIsOriginal() && m_workspace.configChangedOnDisk()) {
        return tr("%1 has changed since it was opened. Reload it first, or save under another name.")
            .arg(fileName(target()));
    }
    return {};
}

void ExportDialog::refresh()
{
    const QString reason = objection();
    std::error_code error;
    const bool exists = reason.isEmpty() && std::filesystem::exists(target(), error);
    m_save->setText(exists ? tr("&Overwrite") : tr("&Export"));
    m_save->setEnabled(reason.isEmpty());
    m_save->setDefault(true);
    m_keepBoth->setVisible(exists);
    setStyled(m_note, "role", reason.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
    if (!reason.isEmpty()) {
        m_note->setText(reason);
    } else if (targetIsOriginal()) {
        m_note->setText(tr("This is the config that was opened. Keep both saves to %1 instead.")
                            .arg(fileName(freeExportPath(m_workspace.config()->path))));
    } else if (exists) {
        m_note->setText(tr("%1 exists already. Keep both saves to %2 instead.")
                            .arg(fileName(target()), fileName(freeExportPath(m_workspace.config()->path))));
    } else {
        m_note->setText(tr("The opened config stays as it is."));
    }
}

void ExportDialog::browse()
{
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export config"), m_path->text(),
        tr("Configs (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py);;All files (*)"), nullptr,
        QFileDialog::DontConfirmOverwrite); // this dialog asks itself
    if (!path.isEmpty()) {
        m_path->setText(path);
    }
}

void ExportDialog::save(const std::filesystem::path& path)
{
    if (auto saved = m_workspace.exportConfig(path); !saved) {
        setStyled(m_note, "role", QStringLiteral("error"));
        m_note->setText(translated(saved.error()));
        return;
    }
    m_savedPath = path;
    accept();
}

} // namespace headroom
