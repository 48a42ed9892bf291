// SPDX-License-Identifier: Apache-2.0
// The colours and faces of the pictures.
#pragma once

#include <string_view>

namespace peal::draw {

inline constexpr std::string_view kSvgStyle = R"(<style>
text { font-family: ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; fill: #1e293b; }
.label { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12px; }
.place { font-size: 10.5px; fill: #64748b; }
.page { fill: #ffffff; }
.title { font-size: 19px; font-weight: 700; fill: #b91c1c; }
.message { font-size: 13.5px; fill: #475569; }
.idle { font-size: 12.5px; fill: #64748b; }
.header { fill: #334155; }
.rank { font-size: 13.5px; font-weight: 600; fill: #ffffff; }
.rail { stroke: #cbd5e1; stroke-width: 2; }
.call { fill: #f1f5f9; stroke: #cbd5e1; }
.call-text { font-size: 12px; font-weight: 600; fill: #475569; }
.caller { fill: #ffffff; stroke: #94a3b8; stroke-dasharray: 3 3; }
.data { fill: #f8fafc; stroke: #94a3b8; }
.notify { fill: #eff6ff; stroke: #60a5fa; }
.wait { fill: #ecfdf5; stroke: #34d399; }
.pipe { fill: #faf5ff; stroke: #c084fc; }
.clash { fill: #fef2f2; stroke: #dc2626; stroke-width: 2; }
.blocked { stroke-dasharray: 6 4; }
.clash-text { fill: #991b1b; font-weight: 700; }
.halo { fill: none; stroke: #ffffff; stroke-width: 6; }
.arrow { fill: none; stroke: #2563eb; stroke-width: 1.8; }
.head { fill: #2563eb; }
.bracket { fill: none; stroke: #dc2626; stroke-width: 2.5; }
.verdict { fill: #dc2626; }
.verdict-text { font-size: 13px; font-weight: 600; fill: #ffffff; }
</style>
)";

}  // namespace peal::draw
