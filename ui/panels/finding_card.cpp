// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/finding_card.h"

#include "panels/styled.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QTextLayout>
#include <QVBoxLayout>

namespace headroom {
namespace {

constexpr int stripeWidth = 3;

/// A button whose words go on in further lines where one is too short.
class MendButton : public QPushButton
{
public:
    MendButton(const QString& label, const QString& peak, QWidget* parent)
        : QPushButton(parent)
        // Figure and unit stay together.
        , m_words(peak.isEmpty() ? label : label + QLatin1Char(' ') + QString(peak).replace(u' ', QChar::Nbsp))
    {
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        setAccessibleName(m_words);
        wrap();
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QPushButton::resizeEvent(event);
        wrap();
    }

private:
    void wrap()
    {
        constexpr int padding = 28;
        const QString shown = inLines(m_words, fontMetrics().horizontalAdvance(m_words), width() - padding);
        if (shown != text()) {
            setText(shown);
        }
    }

    /// Broken between words, wherever the language has its breaks.
    [[nodiscard]] QString inLines(const QString& words, int needed, int width) const
    {
        if (needed <= width || width <= 0) {
            return words;
        }
        QTextLayout layout(words, font());
        QStringList lines;
        layout.beginLayout();
        for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
            line.setLineWidth(width);
            lines << words.mid(line.textStart(), line.textLength()).trimmed();
        }
        layout.endLayout();
        return lines.join(QLatin1Char('\n'));
    }

    QString m_words;
};

QString wordFor(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return FindingCard::tr("Error");
    case Severity::Warning:
        return FindingCard::tr("Warning");
    case Severity::Note:
        break;
    }
    return FindingCard::tr("Note");
}

/// What a mend costs in time: a ratio, since nobody measured a step.
QString costText(const RelativeStepTime& time)
{
    const QString ratio = time.isClear()
        ? FindingCard::tr("%1 × the time for the same samples").arg(QLocale().toString(time.ratio, 'f', 2))
        : FindingCard::tr("About the same time for the same samples");
    return time.gpus == 1 ? ratio
                          : FindingCard::tr("%1, on %2 × the GPUs").arg(ratio, QLocale().toString(time.gpus, 'g', 3));
}

} // namespace

FindingCard::FindingCard(Finding finding, QWidget* parent)
    : QFrame(parent)
    , m_finding(std::move(finding))
{
    setProperty("card", true);
    setObjectName(QStringLiteral("finding.") + toQString(m_finding.id));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(13, 11, 12, 11);
    layout->setSpacing(5);
    QLabel* title = makeLabel(translated(m_finding.title), "strong", this);
    title->setWordWrap(true);
    // The stripe alone would be colour alone.
    setAccessibleName(QStringLiteral("%1: %2").arg(wordFor(m_finding.severity), title->text()));
    title->setToolTip(wordFor(m_finding.severity));
    layout->addWidget(title);
    if (!m_finding.explanation.isEmpty()) {
        QLabel* explanation = makeLabel(translated(m_finding.explanation), "muted", this);
        explanation->setWordWrap(true);
        explanation->setTextInteractionFlags(Qt::TextSelectableByMouse);
        setAccessibleDescription(explanation->text());
        layout->addWidget(explanation);
    }
    for (const Evidence& evidence : m_finding.evidence) {
        addEvidence(evidence, layout);
    }
    if (m_finding.mend) {
        layout->addSpacing(3);
        m_mend = addMend(*m_finding.mend, layout);
        if (m_finding.mend->stepTime) {
            addCost(*m_finding.mend->stepTime, layout);
        }
    }
    for (const Mend& other : m_finding.alternatives) {
        addMend(other, layout);
    }
}

QPushButton* FindingCard::addMend(const Mend& mend, QVBoxLayout* layout)
{
    const QString peak = mend.predictedPeak ? QStringLiteral("(%1)").arg(gibText(*mend.predictedPeak)) : QString();
    auto* button = new MendButton(translated(mend.label), peak, this);
    button->setObjectName(QStringLiteral("mendButton"));
    button->setProperty("role", QStringLiteral("mend"));
    button->setToolTip(tr("Makes this change to the plan; it can be undone"));
    if (mend.stepTime) {
        button->setAccessibleDescription(costText(*mend.stepTime));
        button->setToolTip(button->toolTip() + QLatin1Char('\n') + costText(*mend.stepTime));
    }
    connect(button, &QPushButton::clicked, this, [this, mend] { emit mendRequested(mend); });
    layout->addWidget(button);
    return button;
}

void FindingCard::addCost(const RelativeStepTime& time, QVBoxLayout* layout)
{
    QLabel* cost = makeLabel(costText(time), "muted", this);
    cost->setObjectName(QStringLiteral("mendCost"));
    cost->setWordWrap(true);
    cost->setToolTip(tr("Estimated from operations and traffic; only the ratio means something"));
    layout->addWidget(cost);
}

void FindingCard::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter(this).fillRect(0, 0, stripeWidth, height(), Theme::current().tone(m_finding.severity).mark);
}

void FindingCard::addEvidence(const Evidence& evidence, QVBoxLayout* layout)
{
    const QString text = translated(evidence.text);
    if (evidence.file.empty()) {
        QLabel* label = makeLabel(text, "muted", this);
        label->setWordWrap(true);
        layout->addWidget(label);
        return;
    }
    const QString place = evidence.line > 0
        ? QStringLiteral("%1:%2").arg(fileName(evidence.file), QString::number(evidence.line))
        : fileName(evidence.file);
    auto* link = new QLabel(this);
    link->setProperty("role", QStringLiteral("muted"));
    link->setWordWrap(true);
    link->setTextFormat(Qt::RichText);
    link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    link->setFocusPolicy(Qt::StrongFocus);
    link->setText(QStringLiteral("<a href=\"place\" style=\"color:%1; text-decoration:none\">%2</a>&nbsp; %3")
                      .arg(Theme::current().accent.name(), place.toHtmlEscaped(), text.toHtmlEscaped()));
    link->setAccessibleName(QStringLiteral("%1 %2").arg(place, text));
    connect(link, &QLabel::linkActivated, this,
            [this, evidence] { emit evidenceActivated(toQString(evidence.file), evidence.line); });
    layout->addWidget(link);
}

} // namespace headroom
