// The globals of `web.js`, and what they build on.
#ifndef HOTCELL_WEB_H
#define HOTCELL_WEB_H

#include "quickjs.h"

void web_bind(JSContext *ctx);

#endif
