// Internal to emit/: what a project for several workers has besides.
#pragma once

#include <string>

#include "emit/project.h"

namespace etch {

/// Whether its kernels are shared by workers.
inline bool has_workers(const Project& project) { return project.program->workers.are_several(); }

/// For NAME.h: the most workers, and the function that each of them calls.
std::string workers_header(const Project& project);
/// For NAME.c: what a worker does at each call.
std::string workers_table(const Project& project);
/// Statements of NAME_run_worker that run the program, and NAME_run, which is one worker.
std::string workers_run(const Project& project);
std::string workers_one(const Project& project);
/// Statements that make a frame one of a single worker.
std::string workers_alone(const Project& project);
/// For selftest.c: a function run_model(), which runs the model or, with NAME_THREADS, shares it among threads. `run_arguments`: those of
/// NAME_run.
std::string workers_selftest(const Project& project, const std::string& run_arguments);
/// What stands first in that file.
std::string workers_selftest_first(const Project& project);
/// For CMakeLists.txt: the program that does so.
std::string workers_build(const Project& project);
/// Figures for the report.
ReportWorkers workers_report(const Project& project);

}  // namespace etch
