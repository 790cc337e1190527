// What INT, TERM and HUP leave behind: nothing. A thread waits for them, stops the programs that were started, removes the
// registered folders, and then ends the process by that signal, as its caller expects.
#pragma once

#include <filesystem>
#include <mutex>

namespace etch {

/// Starts the thread. Call it once, at the top of main(): later threads inherit the blocked mask. A signal that the caller ignores (nohup)
/// stays ignored.
void clean_up_on_interrupt();

/// Waits for the end if a signal came; a program that was stopped by it is no error to report.
void end_if_interrupted();

/// `path` goes with an interrupt, until forget_temporary. TempDir does both.
void register_temporary(const std::filesystem::path& path);
void forget_temporary(const std::filesystem::path& path);

/// While it is held no interrupt is acted on: for the few renames that only make sense together.
[[nodiscard]] std::unique_lock<std::recursive_mutex> hold_interrupts();

}  // namespace etch
