// structuredClone, over the interpreter's own serializer.
#ifndef HOTCELL_CLONE_H
#define HOTCELL_CLONE_H

#include "quickjs.h"

void clone_bind(JSContext *ctx, JSValueConst global);

#endif
