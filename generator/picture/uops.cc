#include <fmt/format.h>

#include <unordered_map>

#include "picture/picture.h"
#include "picture/svg.h"

namespace etch {
namespace {

/// A colour, and a word for the legend.
enum class Kind : std::uint8_t { Argument, Const, Index, Loop, Load, Store, Alu, Accumulator, Product, Local };

constexpr SvgKind kKinds[] = {
    {"argument", "#fbe3c0"},
    {"constant", "#eceef1"},
    {"index of the grid", "#cfd6f6"},
    {"loop, if", "#dccbee"},
    {"load", "#f8c9c4"},
    {"store", "#c5e7c3"},
    {"arithmetic", "#fdf6c4"},
    {"accumulator", "#e0f0cb"},
    {"instruction", "#c3e4ec"},
    {"local memory, barrier", "#f5c6da"},
};

Kind kind_of(UOpKind uop) {
  switch (uop) {
    case UOpKind::DefineGlobal:
    case UOpKind::DefineVar:
      return Kind::Argument;
    case UOpKind::DefineLocal:
    case UOpKind::Barrier:
      return Kind::Local;
    case UOpKind::DefineAcc:
    case UOpKind::Phi:
      return Kind::Accumulator;
    case UOpKind::Special:
      return Kind::Index;
    case UOpKind::Loop:
    case UOpKind::If:
    case UOpKind::End:
      return Kind::Loop;
    case UOpKind::Const:
      return Kind::Const;
    case UOpKind::Load:
    case UOpKind::Prefetch:
      return Kind::Load;
    case UOpKind::Store:
    case UOpKind::StoreColumns:
      return Kind::Store;
    case UOpKind::Alu:
    case UOpKind::Cast:
    case UOpKind::Bitcast:
    case UOpKind::Gep:
    case UOpKind::Vectorize:
      return Kind::Alu;
    case UOpKind::Dot:
    case UOpKind::Wmma:
      return Kind::Product;
  }
  return Kind::Alu;
}

std::string_view color_of(UOpKind uop) { return kKinds[static_cast<std::size_t>(kind_of(uop))].color; }

// What it is besides its kind and type, see uops.def.
std::string detail_of(const UOp& u) {
  switch (u.uop) {
    case UOpKind::DefineGlobal:
    case UOpKind::Gep:
      return fmt::format(" {}", u.number);
    case UOpKind::DefineLocal:
      return fmt::format(" {} [{}]", u.name, u.size);
    case UOpKind::DefineAcc:
      return fmt::format(" {} = {}", u.name, u.value ? u.value->to_text() : "");
    case UOpKind::Special:
      return fmt::format(" {}{}", u.name, u.number);
    case UOpKind::Loop:
      return fmt::format(" {}", u.name);
    case UOpKind::DefineVar:
    case UOpKind::Dot:
    case UOpKind::Wmma:
      return " " + u.name;
    case UOpKind::Const:
      return " " + (u.value ? u.value->to_text() : "");
    case UOpKind::Alu:
      return " " + std::string(name_of(u.op));
    case UOpKind::Barrier:
    case UOpKind::Bitcast:
    case UOpKind::Cast:
    case UOpKind::End:
    case UOpKind::If:
    case UOpKind::Load:
    case UOpKind::Phi:
    case UOpKind::Prefetch:
    case UOpKind::Store:
    case UOpKind::StoreColumns:
    case UOpKind::Vectorize:
      return "";
  }
  return "";
}

constexpr std::size_t kMostUOpText = 30;

}  // namespace

std::string uops_picture(const UOpList& uops, std::string_view title) {
  SvgPicture picture;
  picture.title = fmt::format("{}: {} UOps", title, uops.order.size());
  picture.kinds.assign(std::begin(kKinds), std::end(kKinds));
  std::unordered_map<const UOp*, int> boxes;  // for look-up only
  std::unordered_map<const UOp*, std::size_t> frames;
  for (std::size_t n = 0; n < uops.order.size(); n++) {
    const UOp* u = uops.order[n];
    if (u->uop == UOpKind::End) {
      if (const auto opened = frames.find(u->src.at(0)); opened != frames.end())
        picture.frames[opened->second].end = static_cast<int>(picture.boxes.size());
      continue;
    }
    const int number = static_cast<int>(picture.boxes.size());
    boxes[u] = number;
    const std::string head = std::string(name_of(u->uop)) + detail_of(*u);
    const std::string type = std::string(name_of(u->dtype)) + (u->lanes > 1 ? fmt::format(" x {}", u->lanes) : "");
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      frames[u] = picture.frames.size();
      picture.frames.push_back({number, number + 1, shortened(head, kMostUOpText)});
    }
    picture.boxes.push_back(
        {.id = fmt::format("u{}", n),
         .tip = fmt::format("%{} {} {}\n{}", n, head, type, info(u->uop).meaning),
         .color = color_of(u->uop),
         .lines = {{shortened(head, kMostUOpText), SvgLine::Style::Title}, {fmt::format("%{} {}", n, type), SvgLine::Style::Grey}},
         .rows = {},
         .columns = {}});
    for (const UOp* s : u->src)
      if (const auto from = boxes.find(s); from != boxes.end())
        picture.edges.push_back({.from = from->second,
                                 .to = number,
                                 .tip = picture.boxes[static_cast<std::size_t>(from->second)].lines[1].text,
                                 .faint = kind_of(s->uop) == Kind::Const || kind_of(s->uop) == Kind::Argument});
  }
  return to_svg(std::move(picture));
}

}  // namespace etch
