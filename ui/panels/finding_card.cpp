// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/finding_card.h"

#include "panels/styled.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace headroom {
namespace {

constexpr int stripeWidth = 3;

/// A button whose predicted peak moves to a second line where one is too short.
class MendButton : public QPushButton
{
public:
    MendButton(QString label, QString peak, QWidget* parent)
        : QPushButton(parent)
        , m_label(std::move(label))
        , m_peak(std::move(peak))
    {
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        setAccessibleName(joined(QLatin1Char(' ')));
        wrap();
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QPushButton::resizeEvent(event);
        wrap();
    }

private:
    [[nodiscard]] QString joined(QChar between) const
    {
        return m_peak.isEmpty() ? m_label : m_label + between + m_peak;
    }

    void wrap()
    {
        constexpr int padding = 28;
        const bool fits = fontMetrics().horizontalAdvance(joined(QLatin1Char(' '))) + padding <= width();
        const QString label = fits ? m_label : fontMetrics().elidedText(m_label, Qt::ElideRight, width() - padding);
        const QString shown
            = fits || m_peak.isEmpty() ? (fits ? joined(QLatin1Char(' ')) : label) : label + QLatin1Char('\n') + m_peak;
        if (shown != text()) {
            setText(shown);
        }
    }

    QString m_label;
    QString m_peak;
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
        const QString peak = m_finding.mend->predictedPeak
            ? QStringLiteral("(%1)").arg(gibText(*m_finding.mend->predictedPeak))
            : QString();
        m_mend = new MendButton(translated(m_finding.mend->label), peak, this);
        m_mend->setObjectName(QStringLiteral("mendButton"));
        m_mend->setProperty("role", QStringLiteral("mend"));
        m_mend->setToolTip(tr("Makes this change to the plan; it can be undone"));
        connect(m_mend, &QPushButton::clicked, this, &FindingCard::mendRequested);
        layout->addSpacing(3);
        layout->addWidget(m_mend);
        if (m_finding.mend->stepTime) {
            QLabel* cost = makeLabel(costText(*m_finding.mend->stepTime), "muted", this);
            cost->setObjectName(QStringLiteral("mendCost"));
            cost->setWordWrap(true);
            cost->setToolTip(tr("Estimated from operations and traffic; only the ratio means something"));
            m_mend->setAccessibleDescription(cost->text());
            layout->addWidget(cost);
        }
    }
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
