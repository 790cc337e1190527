#include "driver/pictures.h"

#include "picture/picture.h"
#include "program/generate.h"

namespace etch {

std::vector<EmittedFile> pictures_of(const Program& program, const std::string& name) {
  std::vector<EmittedFile> files{{"schedule.svg", schedule_picture(program, name)}};
  if (program.language == nullptr) return files;
  for (const ProgramKernel& kernel : program.kernels)
    if (!kernel.uops.empty()) files.push_back({kernel.name + ".svg", uops_picture(kernel.code, kernel.name + " = " + kernel.shape_name)});
  return files;
}

}  // namespace etch
