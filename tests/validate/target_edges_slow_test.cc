// Descriptions of targets with one thing changed: every attribute and text at the edges of what it may be, elements left out, doubled,
// renamed, and bytes damaged. Each is refused by a UserError that names the file, or a network compiles for it.
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tempdir.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "support/files.h"
#include "support/rounds.h"

namespace etch::target_edges_slow_test {
namespace {

namespace fs = std::filesystem;
const fs::path kTargets = fs::path(ETCH_SOURCE_DIR) / "targets";

const char* const kTexts[] = {"",
                              " ",
                              "0",
                              "1",
                              "2",
                              "3",
                              "8",
                              "16",
                              "48",
                              "64",
                              "1024",
                              "-1",
                              "1.5",
                              "0x10",
                              "64K",
                              "9G",
                              "1T",
                              "true",
                              "false",
                              "none",
                              "single",
                              "double",
                              "c",
                              "opencl",
                              "native",
                              "ram",
                              "flash",
                              "9223372036854775807",
                              "9223372036854775808",
                              "no such word",
                              "{ram.size}",
                              "{no.thing}",
                              "a\"b",
                              "../x",
                              "\xC3\xA4",
                              "-O0",
                              "expf tanhf"};

std::string network() {
  GraphBuilder g("edges", 13);
  auto x = g.input("x", DType::Float32, {"batch", 2, 6, 6});
  x = g.relu(g.conv(x, "conv", 2, 5, {3, 3}, {2, 1}, {1, 1, 1, 1}));
  x = g.node("Sigmoid", {g.node("GlobalAveragePool", {x})});
  x = g.node("Softmax", {g.dense(g.node("Flatten", {x}), "fc", 5, 7)}, {{"axis", 1}});
  g.output(x, DType::Float32, {"batch", 7});
  return g.bytes();
}

/// Does everything that `etch compile` does with the description in `file`. Returns whether it is accepted; passes on all exceptions
/// except UserError.
bool accepted(const fs::path& file) {
  static const std::string model = network();
  const TempDir work("etch-target");
  CompileOptions options;
  options.import = {.bytes = model, .dims = {{"batch", 1, 3}}, .name = "edges"};
  try {
    options.target = read_target(file);
  } catch (const UserError& error) {
    EXPECT_NE(error.where().find(file.filename().string()), std::string::npos) << error.what();
    return false;
  }
  try {
    write_audited(work.path() / "out", compile_project(read_model(options), options), options);
    return true;
  } catch (const UserError&) {  // the network does not fit
    return false;
  }
}

/// Tries the description as `file`, for what was changed in it.
void try_text(const fs::path& file, const std::string& text, const std::string& what, int& good, int& bad) {
  std::ofstream(file, std::ios::binary) << text;
  try {
    (accepted(file) ? good : bad)++;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

class TargetEdges : public testing::TestWithParam<const char*> {
 protected:
  fs::path file() const { return work_.path() / (std::string(GetParam()) + ".xml"); }
  std::string text() const { return test::content(kTargets / (std::string(GetParam()) + ".xml")); }
  /// Calls `change` on a fresh copy's `number`th element (in the order of the file) and tries it; false: there is none.
  bool change(int number, const std::function<std::string(tinyxml2::XMLElement*)>& change) {
    tinyxml2::XMLDocument document;
    document.Parse(text().c_str());
    tinyxml2::XMLElement* e = document.RootElement();
    for (int i = 0; i < number && e != nullptr; i++) e = next(e);
    if (e == nullptr) return false;
    const bool is_memory = std::string_view(e->Name()) == "memory";
    if (e->PreviousSiblingElement(e->Name()) != nullptr && !is_memory) return true;  // a compiler, flag or argument more
    const std::string where = "<" + std::string(e->Name()) + "> in line " + std::to_string(e->GetLineNum()) + ": ";
    const std::string what = change(e);
    if (what.empty()) return true;
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    try_text(file(), printer.CStr(), where + what, good_, bad_);
    return true;
  }
  static tinyxml2::XMLElement* next(tinyxml2::XMLElement* e) {
    if (e->FirstChildElement() != nullptr) return e->FirstChildElement();
    while (e != nullptr && e->NextSiblingElement() == nullptr) {
      tinyxml2::XMLNode* parent = e->Parent();
      e = parent == nullptr ? nullptr : parent->ToElement();
    }
    return e == nullptr ? nullptr : e->NextSiblingElement();
  }
  static const tinyxml2::XMLAttribute* attribute(const tinyxml2::XMLElement* e, int number) {
    const tinyxml2::XMLAttribute* a = e->FirstAttribute();
    for (int i = 0; i < number && a != nullptr; i++) a = a->Next();
    return a;
  }
  int good_ = 0, bad_ = 0;

 private:
  TempDir work_;
};

TEST_P(TargetEdges, Values) {
  for (int number = 0;; number++) {
    bool there = true;
    // Outside of ./dev test --full each element gets every fourth value, its neighbours the others.
    const std::size_t step = test::rounds(4) == 4 ? 1 : 4;
    for (std::size_t at = static_cast<std::size_t>(number) % step; at < std::size(kTexts); at += step) {
      const char* value = kTexts[at];
      for (int i = 0; i < 8 && there; i++)
        there = change(number, [&](tinyxml2::XMLElement* e) {
          const auto* a = attribute(e, i);
          if (a == nullptr) return std::string();
          const std::string name = a->Name();
          e->SetAttribute(name.c_str(), value);
          return name + " is '" + value + "'";
        });
      there = there && change(number, [&](tinyxml2::XMLElement* e) {
                if (e->GetText() == nullptr) return std::string();
                e->SetText(value);
                return "its text is '" + std::string(value) + "'";
              });
    }
    if (!there) break;
  }
  EXPECT_GT(good_, test::rounds(50));
  EXPECT_GT(bad_, test::rounds(100));
}

TEST_P(TargetEdges, Elements) {
  for (int number = 1;; number++) {
    bool there = true;
    for (int i = 0; i < 8 && there; i++)
      there = change(number, [&](tinyxml2::XMLElement* e) {
        const auto* a = attribute(e, i);
        if (a == nullptr) return std::string();
        const std::string name = a->Name();
        e->DeleteAttribute(name.c_str());
        return name + " left out";
      });
    there = there && change(number, [](tinyxml2::XMLElement* e) {
              e->GetDocument()->DeleteNode(e);
              return std::string("left out");
            });
    there = there && change(number, [](tinyxml2::XMLElement* e) {
              e->Parent()->InsertEndChild(e->DeepClone(e->GetDocument()));
              return std::string("said twice");
            });
    there = there && change(number, [](tinyxml2::XMLElement* e) {
              e->SetName("memory");
              return std::string("called memory");
            });
    there = there && change(number, [](tinyxml2::XMLElement* e) {
              e->InsertNewText("stray");
              e->InsertNewChildElement("flag");
              return std::string("with a text and an element");
            });
    if (!there) break;
  }
  EXPECT_GT(good_, 3);
  EXPECT_GT(bad_, 10);
}

TEST_P(TargetEdges, DamagedBytes) {
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
  };
  for (int round = 0; round < test::rounds(200); round++) {
    std::string changed = text();
    const std::size_t at = below(changed.size());
    if (round % 3 == 0)
      changed[at] = static_cast<char>(below(256));
    else if (round % 3 == 1)
      changed.erase(at, 1 + below(5));
    else
      changed.insert(at, changed.substr(at, 1 + below(5)));
    try_text(file(), changed, "round " + std::to_string(round), good_, bad_);
  }
  EXPECT_GT(bad_, test::rounds(20));
}

INSTANTIATE_TEST_SUITE_P(Bundled, TargetEdges, testing::Values("c99", "cortex-m4f", "host", "opencl", "x86-64-v4"), [](const auto& row) {
  std::string name = row.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace etch::target_edges_slow_test
