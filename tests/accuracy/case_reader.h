// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "accuracy/case_fields.h"

namespace headroom::accuracy {

/// What a case says in its framework's words, and what its scripts and version imply: one function a framework.
class CaseReader : public CaseFields
{
public:
    CaseReader(const YAML::Node& node, FrameworkCase& result)
        : CaseFields(node, result)
    {
    }

    void read();

private:
    void readTorchtitan();
    void readTorchtitanPipeline();
    void readPrimeRl();
    void readLitGpt();
    void readInternEvo();
    void readVocabularyParallelism();
    void readKwai();
    void readGalvatron();
    void readTorchtune();
    void readQwen();
    void readArgonne();
    void readGptPipeline();
    void readPeft();
    void readSwift();
};

} // namespace headroom::accuracy
