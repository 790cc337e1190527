// In every test program: the tool that it starts keeps nothing in the user's folders and finds nothing there.
#include <cstdlib>

namespace {
const int kSet = setenv("ETCH_CACHE", "off", 1);
}
