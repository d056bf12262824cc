// SPDX-License-Identifier: GPL-3.0-or-later
// Part of the body of forEachField: MixerPlan. Include fields.h instead.
#pragma once

namespace headroom {

template <class Group, class Visitor> void visitMixer(Group& group, Visitor&& visit)
{
    visit("mixer.kind", group.kind);
    visit("mixer.layer_types", group.layerTypes);
    visit("mixer.attention_layers", group.attentionLayers);
    visit("mixer.attention_every", group.attentionEvery);
    visit("mixer.attention_offset", group.attentionOffset);
    visit("mixer.heads", group.heads);
    visit("mixer.head_dim", group.headDim);
    visit("mixer.key_heads", group.keyHeads);
    visit("mixer.key_dim", group.keyDim);
    visit("mixer.state_dim", group.stateDim);
    visit("mixer.groups", group.groups);
    visit("mixer.expand", group.expand);
    visit("mixer.time_rank", group.timeRank);
    visit("mixer.conv", group.conv);
    visit("mixer.conv_bias", group.convBias);
    visit("mixer.chunk", group.chunk);
}

} // namespace headroom
