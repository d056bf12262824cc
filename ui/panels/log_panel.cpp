// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/log_panel.h"

#include "panels/styled.h"
#include "panels/text_view.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace headroom {
namespace {

constexpr int typingMs = 250;
constexpr int longestNeedle = 200;

QToolButton* makeButton(const QString& text, const QString& name)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(name);
    button->setAccessibleName(name);
    setStyled(button, "quiet", QStringLiteral("true"));
    return button;
}

QStringList openFilesOf(const Workspace& workspace)
{
    QStringList files;
    if (const LoadedLog* log = workspace.log()) {
        for (const std::string& file : log->run->files) {
            files.append(toQString(file));
        }
    }
    files.removeDuplicates(); // one that was written anew while it was followed
    if (const LoadedConfig* config = workspace.config()) {
        files.append(pathText(config->path));
    }
    if (const LoadedModel* model = workspace.model(); model != nullptr && !model->path.empty()) {
        files.append(pathText(model->path));
    }
    return files;
}

} // namespace

LogPanel::LogPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_files(new QComboBox)
    , m_status(makeLabel({}, "muted"))
    , m_line(new QLineEdit)
    , m_needle(new QLineEdit)
    , m_case(makeButton(QStringLiteral("Aa"), tr("Match case")))
    , m_previous(makeButton(QStringLiteral("↑"), tr("Previous match")))
    , m_next(makeButton(QStringLiteral("↓"), tr("Next match")))
    , m_empty(makeLabel({}, "muted"))
    , m_view(new TextView)
    , m_stack(new QStackedWidget)
{
    m_typing.setSingleShot(true);
    m_typing.setInterval(typingMs);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_view);
    m_view->setObjectName(QStringLiteral("logView"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(m_stack, 1);
    connectBar();
    connect(&workspace, &Workspace::documentsChanged, this, &LogPanel::refresh);
    refresh();
}

LogPanel::~LogPanel()
{
    m_view->setFile(nullptr);
}

QWidget* LogPanel::makeBar()
{
    m_files->setAccessibleName(tr("File"));
    m_files->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_files->setMaximumWidth(40 * fontMetrics().averageCharWidth());
    m_line->setPlaceholderText(tr("Line"));
    m_line->setAccessibleName(tr("Go to line"));
    m_line->setMaximumWidth(12 * fontMetrics().averageCharWidth());
    m_needle->setObjectName(QStringLiteral("logNeedle"));
    m_needle->setPlaceholderText(tr("Find in the text"));
    m_needle->setAccessibleName(tr("Find in the text"));
    m_needle->setMaxLength(longestNeedle);
    m_needle->setClearButtonEnabled(true);
    m_needle->setMaximumWidth(40 * fontMetrics().averageCharWidth());
    m_case->setCheckable(true);
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(10, 4, 10, 4);
    layout->setSpacing(6);
    layout->addWidget(m_files);
    layout->addWidget(m_line);
    layout->addWidget(m_status, 1);
    layout->addWidget(m_needle, 2);
    layout->addWidget(m_case);
    layout->addWidget(m_previous);
    layout->addWidget(m_next);
    return bar;
}

void LogPanel::connectBar()
{
    connect(m_files, &QComboBox::activated, this, &LogPanel::showFile);
    connect(m_line, &QLineEdit::returnPressed, this, [this] {
        bool isNumber = false;
        const qint64 line = m_line->text().simplified().toLongLong(&isNumber);
        if (isNumber && line > 0) {
            m_view->showLine(line);
            m_view->setFocus();
        }
    });
    connect(m_needle, &QLineEdit::textChanged, this, &LogPanel::queryChanged);
    connect(m_case, &QToolButton::toggled, this, &LogPanel::queryChanged);
    connect(m_needle, &QLineEdit::returnPressed, this, &LogPanel::findNext);
    connect(m_previous, &QToolButton::clicked, this, &LogPanel::findPrevious);
    connect(m_next, &QToolButton::clicked, this, &LogPanel::findNext);
    connect(&m_typing, &QTimer::timeout, this, [this] { find(false, m_view->caretLine() - 1); });
    connect(&m_finder, &TextFinder::found, this, [this](qint64 line) { m_view->showLine(line); });
    connect(&m_finder, &TextFinder::notFound, this, [this] { m_status->setText(tr("not found")); });
    connect(m_view, &TextView::lineMarked, this, &LogPanel::showState);
    connect(m_view, &TextView::copyWasCut, this,
            [this](qint64 lines) { m_status->setText(tr("copied the first %1 lines").arg(grouped(lines))); });
}

void LogPanel::refresh()
{
    const QStringList files = openFilesOf(m_workspace);
    const QString shown = m_file ? m_file->path() : QString();
    m_files->clear();
    for (const QString& file : files) {
        m_files->addItem(fileName(toPath(file)), file);
        m_files->setItemData(m_files->count() - 1, file, Qt::ToolTipRole);
    }
    m_files->setEnabled(files.size() > 1);
    if (files.contains(shown)) {
        m_files->setCurrentIndex(static_cast<int>(files.indexOf(shown)));
        m_file->refresh();
    } else {
        showFile(files.isEmpty() ? -1 : 0);
    }
    showState();
}

void LogPanel::showFile(int index)
{
    m_files->setCurrentIndex(index);
    const QString path = index >= 0 ? m_files->itemData(index).toString() : QString();
    if (m_file && m_file->path() == path) {
        return;
    }
    m_finder.cancel();
    m_view->setFile(nullptr);
    m_file = path.isEmpty() ? nullptr : std::make_unique<TextFile>(path);
    if (m_file) {
        connect(m_file.get(), &TextFile::grew, this, &LogPanel::showState);
        connect(m_file.get(), &TextFile::replaced, this, &LogPanel::showState);
    }
    m_view->setFile(m_file.get());
    showState();
}

bool LogPanel::showLine(const QString& file, qint64 line)
{
    const int index = m_files->findData(file);
    if (index < 0) {
        return false;
    }
    showFile(index);
    m_view->showLine(line);
    showState();
    return true;
}

void LogPanel::showState()
{
    const bool hasText = m_file && m_file->obstacle().isEmpty();
    m_empty->setText(m_file ? m_file->obstacle() : tr("Open a log to read it here, at the lines of its measurements."));
    m_stack->setCurrentWidget(hasText ? static_cast<QWidget*>(m_view) : m_empty);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_line, m_needle, m_case, m_previous, m_next}) {
        widget->setEnabled(hasText);
    }
    if (!hasText) {
        m_status->clear();
    } else if (m_view->isSeeking()) {
        m_status->setText(tr("reading on to the line…"));
    } else if (m_view->markedLine() > 0) {
        m_status->setText(tr("line %1 of %2").arg(grouped(m_view->markedLine()), grouped(m_file->lineCount())));
    } else {
        m_status->setText(tr("%1 lines").arg(grouped(m_file->lineCount())));
    }
}

TextQuery LogPanel::query() const
{
    return {m_needle->text(), m_case->isChecked()};
}

void LogPanel::queryChanged()
{
    m_view->setQuery(query());
    m_finder.cancel();
    showState();
    if (m_needle->text().isEmpty()) {
        m_typing.stop();
    } else {
        m_typing.start();
    }
}

void LogPanel::find(bool backwards, qint64 from)
{
    m_typing.stop();
    if (m_file && !m_needle->text().isEmpty()) {
        m_status->setText(tr("searching…"));
        m_finder.find(*m_file, query(), from, backwards);
    }
}

void LogPanel::findNext()
{
    find(false, m_view->caretLine());
}

void LogPanel::findPrevious()
{
    find(true, m_view->caretLine());
}

void LogPanel::startFind()
{
    const QString chosen = m_view->selectedText();
    if (!chosen.isEmpty() && !chosen.contains(u'\n') && chosen.size() <= longestNeedle) {
        m_needle->setText(chosen);
    }
    m_needle->setFocus(Qt::ShortcutFocusReason);
    m_needle->selectAll();
}

void LogPanel::startGoToLine()
{
    m_line->setFocus(Qt::ShortcutFocusReason);
    m_line->selectAll();
}

void LogPanel::keyPressEvent(QKeyEvent* event)
{
    const bool isInField = m_needle->hasFocus() || m_line->hasFocus();
    if (event->key() == Qt::Key_Escape && isInField) {
        m_finder.cancel();
        m_view->setFocus();
        return showState();
    }
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_needle->hasFocus()
        && event->modifiers().testFlag(Qt::ShiftModifier)) {
        return findPrevious();
    }
    QWidget::keyPressEvent(event);
}

} // namespace headroom
