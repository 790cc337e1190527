// Names are base/naming.h, for everybody.
#pragma once
#include "base/naming.h"
