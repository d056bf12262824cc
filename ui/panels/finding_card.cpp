// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/finding_card.h"

#include "panels/prose_label.h"
#include "panels/styled.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QTextLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>
#include <vector>

namespace headroom {
namespace {

constexpr int stripeWidth = 3;

/// A button whose words go on in further lines where one is too short.
class MendButton : public QPushButton
{
public:
    explicit MendButton(QWidget* parent)
        : QPushButton(parent)
    {
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    }

    void say(const QString& label, const QString& peak)
    {
        // Figure and unit stay together.
        m_words = peak.isEmpty() ? label : label + QLatin1Char(' ') + QString(peak).replace(u' ', QChar::Nbsp);
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
        QTextOption option;
        option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        layout.setTextOption(option);
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

void fillEvidence(const Evidence& evidence, QLabel& label)
{
    const QString text = translated(evidence.text);
    if (evidence.file.empty()) {
        label.setText(breakable(text));
        return;
    }
    const QString place = evidence.line > 0
        ? QStringLiteral("%1:%2").arg(fileName(evidence.file), QString::number(evidence.line))
        : fileName(evidence.file);
    label.setText(
        QStringLiteral("<a href=\"place\" style=\"color:%1; text-decoration:none\">%2</a>&nbsp; %3")
            .arg(Theme::current().accent.name(), breakable(place).toHtmlEscaped(), breakable(text).toHtmlEscaped()));
    label.setAccessibleName(QStringLiteral("%1 %2").arg(place, text));
}

void fillMend(const Mend& mend, MendButton& button)
{
    button.say(translated(mend),
               mend.predictedPeak ? QStringLiteral("(%1)").arg(gibText(*mend.predictedPeak)) : QString());
    const QString cost = mend.stepTime ? costText(*mend.stepTime) : QString();
    const QString purpose = FindingCard::tr("Makes this change to the plan; it can be undone");
    button.setToolTip(cost.isEmpty() ? purpose : purpose + QLatin1Char('\n') + cost);
    button.setAccessibleDescription(cost);
}

/// As many lines and buttons, so that one can stand in the other's card.
bool isAlike(const Finding& a, const Finding& b)
{
    const auto hasPlace = [](const Evidence& evidence) { return !evidence.file.empty(); };
    return a.explanation.isEmpty() == b.explanation.isEmpty()
        && std::ranges::equal(a.evidence, b.evidence, {}, hasPlace, hasPlace)
        && a.mend.has_value() == b.mend.has_value()
        && (!a.mend || a.mend->stepTime.has_value() == b.mend->stepTime.has_value())
        && a.alternatives.size() == b.alternatives.size();
}

} // namespace

/// What shows the finding, in the order of its lines.
struct FindingCard::Lines
{
    QLabel* title = nullptr;
    ProseLabel* explanation = nullptr;
    std::vector<QLabel*> evidence;
    std::vector<MendButton*> mends; ///< the first choice and its alternatives
    QLabel* cost = nullptr;
};

FindingCard::FindingCard(Finding finding, QWidget* parent)
    : QFrame(parent)
    , m_finding(std::move(finding))
    , m_lines(std::make_unique<Lines>())
{
    setProperty("card", true);
    setObjectName(QStringLiteral("finding.") + toQString(m_finding.id));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(13, 11, 12, 11);
    layout->setSpacing(5);
    m_lines->title = addLabel("strong");
    if (!m_finding.explanation.isEmpty()) {
        m_lines->explanation = new ProseLabel(this);
        m_lines->explanation->setProperty("role", QStringLiteral("muted"));
        layout->addWidget(m_lines->explanation);
    }
    for (std::size_t i = 0; i < m_finding.evidence.size(); ++i) {
        addEvidence(i);
    }
    if (m_finding.mend) {
        layout->addSpacing(3);
        addMend([this] { return *m_finding.mend; });
        if (m_finding.mend->stepTime) {
            m_lines->cost = addLabel("muted");
            m_lines->cost->setObjectName(QStringLiteral("mendCost"));
            m_lines->cost->setToolTip(tr("Estimated from operations and traffic; only the ratio means something"));
        }
    }
    for (std::size_t i = 0; i < m_finding.alternatives.size(); ++i) {
        addMend([this, i] { return m_finding.alternatives[i]; });
    }
    fill();
}

FindingCard::~FindingCard() = default;

bool FindingCard::take(const Finding& finding)
{
    if (!isAlike(m_finding, finding)) {
        return false;
    }
    m_finding = finding;
    fill();
    return true;
}

QPushButton* FindingCard::mendButton() const
{
    return m_finding.mend ? m_lines->mends.front() : nullptr;
}

QLabel* FindingCard::addLabel(const char* role)
{
    QLabel* label = makeLabel({}, role, this);
    label->setWordWrap(true);
    label->setMinimumWidth(1); // else that of its longest word: a panel may be as narrow as the user wants it
    layout()->addWidget(label);
    return label;
}

void FindingCard::addEvidence(std::size_t index)
{
    QLabel* label = addLabel("muted");
    m_lines->evidence.push_back(label);
    if (m_finding.evidence[index].file.empty()) {
        return;
    }
    label->setTextFormat(Qt::RichText);
    label->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    label->setFocusPolicy(Qt::StrongFocus);
    connect(label, &QLabel::linkActivated, this, [this, index] {
        const Evidence& evidence = m_finding.evidence[index];
        emit evidenceActivated(toQString(evidence.file), evidence.line);
    });
}

void FindingCard::addMend(std::function<Mend()> mend)
{
    auto* button = new MendButton(this);
    button->setObjectName(QStringLiteral("mendButton"));
    button->setProperty("role", QStringLiteral("mend"));
    // A copy: making the change may put another finding into this card.
    connect(button, &QPushButton::clicked, this, [this, mend = std::move(mend)] { emit mendRequested(mend()); });
    layout()->addWidget(button);
    m_lines->mends.push_back(button);
}

void FindingCard::fill()
{
    const QString title = translated(m_finding.title);
    m_lines->title->setText(breakable(title));
    m_lines->title->setToolTip(wordFor(m_finding.severity));
    // The stripe alone would be colour alone.
    setAccessibleName(QStringLiteral("%1: %2").arg(wordFor(m_finding.severity), title));
    if (m_lines->explanation != nullptr) {
        const QString words = translated(m_finding.explanation);
        m_lines->explanation->setWords(words);
        setAccessibleDescription(words);
    }
    for (std::size_t i = 0; i < m_finding.evidence.size(); ++i) {
        fillEvidence(m_finding.evidence[i], *m_lines->evidence[i]);
    }
    auto button = m_lines->mends.begin();
    if (m_finding.mend) {
        fillMend(*m_finding.mend, **button++);
    }
    for (const Mend& other : m_finding.alternatives) {
        fillMend(other, **button++);
    }
    if (m_lines->cost != nullptr) {
        m_lines->cost->setText(costText(*m_finding.mend->stepTime));
    }
    update(); // the stripe's colour
}

void FindingCard::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter(this).fillRect(0, 0, stripeWidth, height(), Theme::current().tone(m_finding.severity).mark);
}

} // namespace headroom
