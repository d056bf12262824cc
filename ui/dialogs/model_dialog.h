// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"

#include <QDialog>

class QLineEdit;
class QListWidget;
class QPushButton;

namespace headroom {

/// Chooses a model among the presets, by typing a part of its name.
class ModelDialog : public QDialog
{
    Q_OBJECT

public:
    explicit ModelDialog(const Catalog& catalog, QWidget* parent = nullptr);

    /// Null: none, or a file is wanted instead.
    [[nodiscard]] const ModelPreset* chosen() const;
    [[nodiscard]] bool wantsFile() const { return m_wantsFile; }
    [[nodiscard]] QLineEdit* search() const { return m_search; }
    [[nodiscard]] QListWidget* list() const { return m_list; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();

    const Catalog& m_catalog;
    QLineEdit* m_search;
    QListWidget* m_list;
    QPushButton* m_use;
    bool m_wantsFile = false;
};

} // namespace headroom
