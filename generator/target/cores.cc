#include "target/cores.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VersionTuple.h>
#include <llvm/TargetParser/AArch64TargetParser.h>
#include <llvm/TargetParser/ARMTargetParser.h>
#include <llvm/TargetParser/RISCVTargetParser.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>

namespace etch {

std::vector<std::string> known_cores(const std::string& triple) {
  const llvm::Triple parsed(triple);
  llvm::SmallVector<llvm::StringRef, 256> names;
  if (parsed.isX86()) llvm::X86::fillValidCPUArchList(names);
  if (parsed.isARM() || parsed.isThumb()) llvm::ARM::fillValidCPUArchList(names);
  if (parsed.isAArch64()) llvm::AArch64::fillValidCPUArchList(names);
  if (parsed.isRISCV32()) llvm::RISCV::fillValidCPUArchList(names, false);
  if (parsed.isRISCV64()) llvm::RISCV::fillValidCPUArchList(names, true);
  return {names.begin(), names.end()};
}

bool is_known_triple(const std::string& triple) {
  static const bool ready = (llvm::InitializeAllTargetInfos(), true);
  const llvm::Triple parsed(llvm::Triple::normalize(triple));
  // What follows the name of an environment is its version: "eabihfx" would be eabihf of version x.
  const bool has_version = parsed.getEnvironment() != llvm::Triple::UnknownEnvironment && !parsed.getEnvironmentVersionString().empty();
  std::string error;
  return ready && !(has_version && llvm::VersionTuple().tryParse(parsed.getEnvironmentVersionString())) &&
         llvm::TargetRegistry::lookupTarget(triple, error) != nullptr;
}

}  // namespace etch
