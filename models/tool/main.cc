// etch-zoo: writes the bundled models as ONNX files.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/densify.h"
#include "models/quantise.h"
#include "models/zoo.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw UserError(path.string(), "can't be written", "check the folder and the disk");
}

// "light_resnet50" of light_resnet50/model.onnx and of light_resnet50.onnx.
std::string model_name(const fs::path& path) {
  return path.filename() == "model.onnx" ? fs::absolute(path).parent_path().filename().string() : path.stem().string();
}

int run(const std::vector<std::string>& args) {
  if (args.size() == 1 && args[0] == "list") {
    for (const ZooModel& model : zoo()) fmt::print("{:<20} {}\n", model.name, model.what);
  } else if (args.size() == 2 && args[0] == "all") {
    fs::create_directories(args[1]);
    for (const fs::path& path : write_zoo(args[1])) fmt::print("{}\n", path.string());
  } else if (args.size() == 3 && args[0] == "densify") {
    std::ifstream in(args[1], std::ios::binary);
    if (!in) throw UserError(args[1], "can't be read", "check the path");
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    write(args[2], densify(bytes, model_name(args[1])));
  } else if (args.size() == 3 && args[0] == "quantised") {
    write(args[2], quantised(zoo_bytes(zoo_model(args[1]))));
  } else if (args.size() == 2) {
    write(args[1], zoo_bytes(zoo_model(args[0])));
  } else {
    fmt::print(stderr,
               "etch-zoo list                      the bundled models\n"
               "etch-zoo NAME OUT.onnx             writes one\n"
               "etch-zoo quantised NAME OUT.onnx   writes one in int8\n"
               "etch-zoo all DIR                   writes all\n"
               "etch-zoo densify IN.onnx OUT.onnx  gives a 'light' model of ONNX pseudo-random weights\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace etch

int main(int argc, char** argv) {
  try {
    return etch::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "etch-zoo: error: {}\n", error.what());
    return 1;
  }
}
