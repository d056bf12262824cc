// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/recorder.h"

#include <algorithm>

namespace headroom {

/// The operations behind discarded outputs, once they have run again.
struct TapeRecorder::Discarded::Rebuilt
{
    std::vector<Node> nodes;
    std::vector<int> inputs, outputs;
};

RecordedStorage::RecordedStorage(TapeRecorder& recorder, std::size_t entry)
    : m_recorder(&recorder)
    , m_entry(entry)
{
    ++m_recorder->m_entries[m_entry].owners;
}

RecordedStorage::RecordedStorage(const RecordedStorage& other)
    : m_recorder(other.m_recorder)
    , m_entry(other.m_entry)
{
    if (m_recorder != nullptr) {
        ++m_recorder->m_entries[m_entry].owners;
    }
}

RecordedStorage::~RecordedStorage()
{
    if (m_recorder != nullptr) {
        m_recorder->release(m_entry);
    }
}

void TapeRecorder::release(std::size_t entry)
{
    Entry& storage = m_entries[entry];
    if (--storage.owners == 0 && !storage.isBorrowed) {
        m_writer.free(storage.slot);
        storage.slot = Tape::none;
    }
}

Tape::Slot TapeRecorder::handOut(const Tensor& tensor)
{
    Entry& entry = m_entries[tensor.storage.m_entry];
    entry.isBorrowed = true;
    return entry.slot;
}

TapeRecorder::Tensor TapeRecorder::borrowed(Tape::Slot slot, std::int64_t bytes)
{
    m_entries.push_back({slot, 0, true});
    return {Storage(*this, m_entries.size() - 1), bytes, m_nextId++};
}

TapeRecorder::Storage TapeRecorder::allocate(TensorKind kind, std::int64_t bytes)
{
    m_entries.push_back({m_writer.allocate(kind, bytes), 0, false});
    return Storage(*this, m_entries.size() - 1);
}

void TapeRecorder::record(const Tensors& inputs, const Tensors& outputs, Storages saved, Backward backward)
{
    if (!m_isRecording) {
        return;
    }
    Node node;
    for (const Tensor& input : inputs) {
        node.inputs.emplace_back(input.id, input.bytes);
    }
    for (const Tensor& output : outputs) {
        node.outputs.push_back(output.id);
    }
    node.saved = std::move(saved);
    node.backward = std::move(backward);
    m_nodes.push_back(std::move(node));
}

TapeRecorder::Tensor TapeRecorder::run(const Tensors& inputs, TensorKind kind, std::int64_t bytes, Storages saved,
                                       Backward backward)
{
    Tensor output{allocate(kind, bytes), bytes, m_nextId++};
    record(inputs, {output}, std::move(saved), std::move(backward));
    return output;
}

TapeRecorder::Tensor TapeRecorder::runKeepingOutput(const Tensors& inputs, TensorKind kind, std::int64_t bytes,
                                                    Storages saved, Backward backward)
{
    Tensor output{allocate(kind, bytes), bytes, m_nextId++};
    saved.push_back(output.storage);
    record(inputs, {output}, std::move(saved), std::move(backward));
    return output;
}

TapeRecorder::Tensor TapeRecorder::runIntoBuffer(const Tensors& inputs, std::int64_t bytes)
{
    Tensor output = borrowed(Tape::none, bytes);
    record(inputs, {output}, {}, {});
    return output;
}

TapeRecorder::Tensors TapeRecorder::split(const Tensor& input, std::size_t parts)
{
    Tensors views(parts, input);
    for (Tensor& view : views) {
        view.bytes /= static_cast<std::int64_t>(parts);
        view.id = m_nextId++;
    }
    record({input}, views, {}, {});
    return views;
}

TapeRecorder::Backward TapeRecorder::passed(std::size_t inputs)
{
    return [inputs](const Storages& outputs) { return Storages(inputs, outputs.front()); };
}

TapeRecorder::Tensors TapeRecorder::renamed(const Tensors& tensors)
{
    Tensors result = tensors;
    for (Tensor& tensor : result) {
        tensor.id = m_nextId++;
    }
    return result;
}

TapeRecorder::Storages TapeRecorder::gradientsOf(const std::vector<int>& tensors, const GradientMap& gradients)
{
    Storages result;
    for (const int tensor : tensors) {
        const auto found = std::find_if(gradients.begin(), gradients.end(),
                                        [tensor](const auto& gradient) { return gradient.first == tensor; });
        result.push_back(found == gradients.end() ? Storage{} : found->second);
    }
    return result;
}

TapeRecorder::Tensor TapeRecorder::checkpoint(const Function& function, const Tensors& inputs)
{
    if (!m_isRecording) {
        return function(inputs).front();
    }
    m_isRecording = false;
    Tensor output = function(inputs).front();
    m_isRecording = true;
    output.id = m_nextId++;
    record(inputs, {output}, {}, [this, function, inputs](Storages gradients) {
        std::vector<Node> outer;
        m_nodes.swap(outer);
        const Tensors again = renamed(inputs);
        const int id = function(again).front().id;
        const GradientMap leaves = walk({{id, std::move(gradients.front())}});
        m_nodes.swap(outer);
        std::vector<int> ids;
        for (const Tensor& input : again) {
            ids.push_back(input.id);
        }
        return gradientsOf(ids, leaves);
    });
    return output;
}

TapeRecorder::Discarded TapeRecorder::runDiscarding(const Function& function, const Tensors& inputs)
{
    if (!m_isRecording) {
        return {function(inputs), {}, {}, nullptr};
    }
    m_isRecording = false;
    Discarded result{renamed(function(inputs)), function, inputs, std::make_shared<Discarded::Rebuilt>()};
    m_isRecording = true;
    record(inputs, result.outputs, {}, [this, rebuilt = result.rebuilt](Storages gradients) {
        GradientMap known;
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            if (gradients[i]) {
                known.emplace_back(rebuilt->outputs[i], std::move(gradients[i]));
            }
        }
        m_nodes.swap(rebuilt->nodes);
        const GradientMap leaves = walk(std::move(known));
        m_nodes.swap(rebuilt->nodes);
        return gradientsOf(rebuilt->inputs, leaves);
    });
    return result;
}

void TapeRecorder::discard(const Discarded& discarded, const Tensor& consumed)
{
    if (!discarded.rebuilt) {
        return;
    }
    Storages emptied;
    for (const Tensor& output : discarded.outputs) {
        Entry& entry = m_entries[output.storage.m_entry];
        m_writer.free(entry.slot);
        entry.slot = Tape::none;
        emptied.push_back(output.storage);
    }
    record({consumed}, {consumed}, {},
           [this, function = discarded.function, inputs = discarded.inputs, rebuilt = discarded.rebuilt,
            emptied](const Storages& gradients) {
               std::vector<Node> outer;
               m_nodes.swap(outer);
               const Tensors again = renamed(inputs);
               const Tensors outputs = function(again);
               m_nodes.swap(rebuilt->nodes);
               m_nodes.swap(outer);
               for (std::size_t i = 0; i < outputs.size(); ++i) {
                   // The tensors that were saved get their contents back.
                   std::swap(m_entries[emptied[i].m_entry].slot, m_entries[outputs[i].storage.m_entry].slot);
                   rebuilt->outputs.push_back(outputs[i].id);
               }
               for (const Tensor& input : again) {
                   rebuilt->inputs.push_back(input.id);
               }
               return gradients;
           });
}

TapeRecorder::Storages TapeRecorder::defaultBackward(const Node& node)
{
    Storages gradients;
    for (const auto& [id, bytes] : node.inputs) {
        gradients.push_back(allocate(TensorKind::ActivationGradient, bytes));
    }
    return gradients;
}

TapeRecorder::GradientMap TapeRecorder::walk(GradientMap gradients)
{
    const auto find = [&gradients](int id) {
        return std::find_if(gradients.begin(), gradients.end(), [id](const auto& known) { return known.first == id; });
    };
    while (!m_nodes.empty()) {
        Node node = std::move(m_nodes.back());
        m_nodes.pop_back();
        Storages outputs;
        for (const int id : node.outputs) {
            const auto found = find(id);
            outputs.push_back(found == gradients.end() ? Storage{} : std::move(found->second));
            if (found != gradients.end()) {
                gradients.erase(found);
            }
        }
        if (std::none_of(outputs.begin(), outputs.end(), [](const Storage& gradient) { return bool{gradient}; })) {
            continue;
        }
        Storages inputs = node.backward ? node.backward(outputs) : defaultBackward(node);
        outputs.clear();
        node.saved.clear();
        node.backward = nullptr;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            // A second gradient of the same tensor is added to the first one in place.
            if (inputs[i] && find(node.inputs[i].first) == gradients.end()) {
                gradients.emplace_back(node.inputs[i].first, std::move(inputs[i]));
            }
        }
    }
    return gradients;
}

void TapeRecorder::backward(const Tensor& output, Storage gradient)
{
    backward(output.id, std::move(gradient));
}

void TapeRecorder::backward(int output, Storage gradient)
{
    walk({{output, std::move(gradient)}});
}

} // namespace headroom
