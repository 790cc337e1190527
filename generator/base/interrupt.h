// Cleans up on SIGINT, SIGTERM and SIGHUP. A thread waits for these signals, stops the programs that were started, removes the
// registered folders, and then ends the process by that signal, as its caller expects.
#pragma once

#include <filesystem>
#include <mutex>

namespace etch {

/// Starts the thread. Call it once, at the top of main(): later threads inherit the blocked mask. A signal that the caller ignores (nohup)
/// stays ignored.
void clean_up_on_interrupt();

/// If a signal came, waits until the process ends. Call it before an error is reported: it may only be that a child process was
/// stopped by the clean-up.
void end_if_interrupted();

/// `path` is removed on an interrupt, until forget_temporary(path). TempDir calls both.
void register_temporary(const std::filesystem::path& path);
void forget_temporary(const std::filesystem::path& path);

/// While the lock is held no interrupt is acted on: for the few renames that must happen together.
[[nodiscard]] std::unique_lock<std::recursive_mutex> hold_interrupts();

}  // namespace etch
