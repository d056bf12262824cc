<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en">
<context>
    <name>CompareText</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::ChannelsPanel</name>
    <message numerus="yes">
        <source>%1 lines at most: %n left out</source>
        <translation>
            <numerusform>%1 lines at most: %n left out</numerusform>
            <numerusform>%1 lines at most: %n left out</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::DiffPanel</name>
    <message numerus="yes">
        <source>%1, %n changed line(s); everything else stays to the byte</source>
        <translation>
            <numerusform>%1, %n changed line; everything else stays to the byte</numerusform>
            <numerusform>%1, %n changed lines; everything else stays to the byte</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::HistoryPanel</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::LossChart</name>
    <message numerus="yes">
        <source>%n common steps</source>
        <translation>
            <numerusform>%n common step</numerusform>
            <numerusform>%n common steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::MainWindow</name>
    <message numerus="yes">
        <source>%n logs</source>
        <translation>
            <numerusform>%n log</numerusform>
            <numerusform>%n logs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) not understood · Problems</source>
        <translation>
            <numerusform>%n line not understood · Problems</numerusform>
            <numerusform>%n lines not understood · Problems</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::ModelDialog</name>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n layer</numerusform>
            <numerusform>%n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::ModelSection</name>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n layer</numerusform>
            <numerusform>%n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::PeaksChart</name>
    <message numerus="yes">
        <source>%n files</source>
        <translation>
            <numerusform>%n file</numerusform>
            <numerusform>%n files</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n ranks</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>maximum of %n ranks</source>
        <translation>
            <numerusform>maximum of %n rank</numerusform>
            <numerusform>maximum of %n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::PeaksPlot</name>
    <message numerus="yes">
        <source>A %1 → B %2 · %n step(s)</source>
        <translation>
            <numerusform>A %1 → B %2 · %n step</numerusform>
            <numerusform>A %1 → B %2 · %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::RanksChart</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::StagesChart</name>
    <message numerus="yes">
        <source>%n stages; the fullest is stage %1 with %2.</source>
        <translation>
            <numerusform>%n stage; the fullest is stage %1 with %2.</numerusform>
            <numerusform>%n stages; the fullest is stage %1 with %2.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::TextView</name>
    <message numerus="yes">
        <source>… %n more byte(s)</source>
        <translation>
            <numerusform>… %n more byte</numerusform>
            <numerusform>… %n more bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>headroom::TimelineChart</name>
    <message numerus="yes">
        <source>%n micro-batches</source>
        <translation>
            <numerusform>%n micro-batch</numerusform>
            <numerusform>%n micro-batches</numerusform>
        </translation>
    </message>
</context>
</TS>
