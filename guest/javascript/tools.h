// The namespaces of a run as globals, and the calls that are on their way.
#ifndef HOTCELL_TOOLS_H
#define HOTCELL_TOOLS_H

#include <stdbool.h>

#include "guest.h"
#include "quickjs.h"

// Registers the class of namespace objects; once, before the snapshot. `error_class` makes an error class from a name.
void tools_prepare(JSContext *ctx, JSValue error_class);

// Makes every namespace a global. False with an exception pending.
bool tools_bind(JSContext *ctx, JSValueConst global, const guest_list_namespace_t *namespaces);

// Gives a settled call's promise its value or error. Takes the settlement over.
void tools_settle(JSContext *ctx, hotcell_guest_host_settlement_t *settlement);

#endif
