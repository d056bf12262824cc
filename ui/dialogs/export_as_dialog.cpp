// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogs/export_as_dialog.h"

#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStringList>
#include <QVBoxLayout>

#include <system_error>

namespace headroom {
namespace {

QPlainTextEdit* makeText(QWidget* parent, const QString& name, const QString& accessibleName)
{
    auto* text = new QPlainTextEdit(parent);
    text->setObjectName(name);
    text->setAccessibleName(accessibleName);
    text->setReadOnly(true);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setTabChangesFocus(true);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    return text;
}

/// With what the file means instead, where it means something else.
QString omissionText(const FieldDifference& field)
{
    const QString value = QStringLiteral("%1 = %2").arg(toQString(field.key), toQString(field.before));
    return field.after.empty() ? value
                               : ExportAsDialog::tr("%1 (the file means %2)").arg(value, toQString(field.after));
}

/// What the plan comes from: the config, else the model, else the log with its arguments. Empty: there is none.
struct Source
{
    std::filesystem::path folder;
    std::string name, stem;
};

Source sourceOf(const Workspace& workspace)
{
    const auto ofFile = [](const std::filesystem::path& path) {
        return Source{path.parent_path(), path.filename().string(), path.stem().string()};
    };
    if (const LoadedConfig* config = workspace.config()) {
        return ofFile(config->path);
    }
    if (const LoadedModel* model = workspace.model()) {
        const std::string& preset = model->plan.model.name.value;
        return model->path.empty() ? Source{toPath(QDir::homePath()), preset, preset} : ofFile(model->path);
    }
    const LoadedLog* log = workspace.log();
    return log != nullptr && log->plan ? ofFile(log->paths.front()) : Source{};
}

} // namespace

ExportAsDialog::ExportAsDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_format(new QComboBox(this))
    , m_preview(makeText(this, QStringLiteral("exportPreview"), tr("The new file")))
    , m_omittedTitle(makeLabel({}, "strong", this))
    , m_omitted(makeText(this, QStringLiteral("exportOmitted"), tr("What the format can’t say")))
    , m_assumedTitle(makeLabel(tr("What the file means where the plan says nothing:"), "strong", this))
    , m_assumed(makeText(this, QStringLiteral("exportAssumed"), tr("What the file means where the plan says nothing")))
    , m_path(new QLineEdit(this))
    , m_note(makeLabel({}, "error", this))
    , m_save(new QPushButton(tr("&Export"), this))
{
    setObjectName(QStringLiteral("exportAsDialog"));
    setWindowTitle(tr("Export as"));
    for (const ConfigFormat* format : exportFormats(workspace.library().formats)) {
        m_format->addItem(toQString(format->title), toQString(format->id));
    }
    auto* formatLabel = new QLabel(tr("&Format:"), this);
    formatLabel->setBuddy(m_format);
    auto* formatLine = new QHBoxLayout;
    formatLine->addWidget(formatLabel);
    formatLine->addWidget(m_format);
    formatLine->addStretch(1);
    auto* pathLabel = new QLabel(tr("&Save to:"), this);
    pathLabel->setBuddy(m_path);
    auto* browseButton = new QPushButton(tr("&Browse…"), this);
    browseButton->setAutoDefault(false);
    auto* pathLine = new QHBoxLayout;
    pathLine->addWidget(pathLabel);
    pathLine->addWidget(m_path, 1);
    pathLine->addWidget(browseButton);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(m_save, QDialogButtonBox::AcceptRole);
    m_save->setDefault(true);
    m_note->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(formatLine);
    layout->addWidget(m_preview, 3);
    // One below the other: a translated title is as wide as a column.
    layout->addWidget(m_omittedTitle);
    layout->addWidget(m_omitted, 1);
    layout->addWidget(m_assumedTitle);
    layout->addWidget(m_assumed, 1);
    layout->addLayout(pathLine);
    layout->addWidget(m_note);
    layout->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 36);
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportAsDialog::write);
    connect(browseButton, &QPushButton::clicked, this, &ExportAsDialog::browse);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_save, &QPushButton::clicked, this, &ExportAsDialog::save);
    write();
}

void ExportAsDialog::write()
{
    const Source source = sourceOf(m_workspace);
    const Library& library = m_workspace.library();
    const auto formats = exportFormats(library.formats);
    const int chosen = m_format->currentIndex();
    if (source.name.empty() || chosen < 0) {
        showReason(tr("Nothing is open that describes a plan."));
        return;
    }
    const ConfigFormat& format = *formats[static_cast<std::size_t>(chosen)];
    const std::string name = source.stem + "." + format.id;
    auto exported = exportPlan(m_workspace.plan(), format, library.catalog, name, exportHeading(source.name));
    if (!exported) {
        m_export.reset();
        showReason(translated(exported.error()));
        return;
    }
    m_export = std::move(*exported);
    m_preview->setPlainText(toQString(m_export->bytes));
    QStringList omitted;
    for (const FieldDifference& field : m_export->omitted) {
        omitted << omissionText(field);
    }
    m_omittedTitle->setText(omitted.isEmpty() ? tr("The file says everything that the plan says.")
                                              : tr("What the format can’t say:"));
    m_omitted->setVisible(!omitted.isEmpty());
    m_omitted->setPlainText(omitted.join(QLatin1Char('\n')));
    QStringList assumed;
    for (const FieldDifference& field : m_export->assumed) {
        assumed << QStringLiteral("%1 = %2").arg(toQString(field.key), toQString(field.before));
    }
    m_assumedTitle->setVisible(!assumed.isEmpty());
    m_assumed->setVisible(!assumed.isEmpty());
    m_assumed->setPlainText(assumed.join(QLatin1Char('\n')));
    m_path->setText(pathText(source.folder / m_export->name));
    showReason({});
}

void ExportAsDialog::showReason(const QString& reason)
{
    m_note->setText(reason);
    m_note->setVisible(!reason.isEmpty());
    m_save->setEnabled(m_export.has_value());
}

void ExportAsDialog::browse()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("Export as"), m_path->text(), tr("All files (*)"),
                                                      nullptr, QFileDialog::DontConfirmOverwrite);
    if (!path.isEmpty()) {
        m_path->setText(path);
    }
}

void ExportAsDialog::save()
{
    const std::filesystem::path path = toPath(m_path->text().trimmed());
    std::error_code error;
    if (std::filesystem::exists(path, error)
        && QMessageBox::question(this, windowTitle(), tr("%1 exists already. Overwrite it?").arg(fileName(path)))
            != QMessageBox::Yes) {
        return;
    }
    const auto saved = ConfigDocument::parse(m_export->bytes, m_export->name).and_then([&](const auto& document) {
        return document.save(path);
    });
    if (!saved) {
        showReason(translated(saved.error()));
        return;
    }
    m_savedPath = path;
    accept();
}

} // namespace headroom
